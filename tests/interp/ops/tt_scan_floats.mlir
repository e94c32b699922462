// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.scan of floats, of two values at once, and of one element.

tt.func public @addf_f16() {
  %x = arith.constant dense<[[-1.0, -4.0, 3.0, 2.0, 4.0, -3.0, -1.0, -2.0], [-4.0, 1.0, 2.0, 1.0, 4.0, 3.0, -4.0, -1.0]]> : tensor<2x8xf16>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: f16, %b0: f16):
    %o0 = arith.addf %a0, %b0 : f16
    tt.scan.return %o0 : f16
  }) : (tensor<2x8xf16>) -> tensor<2x8xf16>
  check.eq %r, dense<[[-1.0, -5.0, -2.0, 0.0, 4.0, 1.0, 0.0, -2.0], [-4.0, -3.0, -1.0, 0.0, 4.0, 7.0, 3.0, 2.0]]> : tensor<2x8xf16>
  tt.return
}

tt.func public @addf_f16_reverse() {
  %x = arith.constant dense<[[-1.0, -4.0, 3.0, 2.0, 4.0, -3.0, -1.0, -2.0], [-4.0, 1.0, 2.0, 1.0, 4.0, 3.0, -4.0, -1.0]]> : tensor<2x8xf16>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: f16, %b0: f16):
    %o0 = arith.addf %a0, %b0 : f16
    tt.scan.return %o0 : f16
  }) : (tensor<2x8xf16>) -> tensor<2x8xf16>
  check.eq %r, dense<[[-2.0, -1.0, 3.0, 0.0, -2.0, -6.0, -3.0, -2.0], [2.0, 6.0, 5.0, 3.0, 2.0, -2.0, -5.0, -1.0]]> : tensor<2x8xf16>
  tt.return
}

tt.func public @addf_bf16() {
  %x = arith.constant dense<[[4.0, -3.0, -2.0, 3.0, -4.0, 1.0, 0.0, 2.0], [2.0, -3.0, 3.0, 0.0, -1.0, -1.0, 3.0, 1.0]]> : tensor<2x8xbf16>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: bf16, %b0: bf16):
    %o0 = arith.addf %a0, %b0 : bf16
    tt.scan.return %o0 : bf16
  }) : (tensor<2x8xbf16>) -> tensor<2x8xbf16>
  check.eq %r, dense<[[4.0, 1.0, -1.0, 2.0, -2.0, -1.0, -1.0, 1.0], [2.0, -1.0, 2.0, 2.0, 1.0, 0.0, 3.0, 4.0]]> : tensor<2x8xbf16>
  tt.return
}

tt.func public @addf_bf16_reverse() {
  %x = arith.constant dense<[[4.0, -3.0, -2.0, 3.0, -4.0, 1.0, 0.0, 2.0], [2.0, -3.0, 3.0, 0.0, -1.0, -1.0, 3.0, 1.0]]> : tensor<2x8xbf16>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: bf16, %b0: bf16):
    %o0 = arith.addf %a0, %b0 : bf16
    tt.scan.return %o0 : bf16
  }) : (tensor<2x8xbf16>) -> tensor<2x8xbf16>
  check.eq %r, dense<[[1.0, -3.0, 0.0, 2.0, -1.0, 3.0, 2.0, 2.0], [4.0, 2.0, 5.0, 2.0, 2.0, 3.0, 4.0, 1.0]]> : tensor<2x8xbf16>
  tt.return
}

tt.func public @addf_f32() {
  %x = arith.constant dense<[[-1.0, 2.0, -2.0, -2.0, -4.0, 0.0, 0.0, 4.0], [1.0, 0.0, -3.0, 1.0, -3.0, 3.0, -1.0, 3.0]]> : tensor<2x8xf32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.addf %a0, %b0 : f32
    tt.scan.return %o0 : f32
  }) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  check.eq %r, dense<[[-1.0, 1.0, -1.0, -3.0, -7.0, -7.0, -7.0, -3.0], [1.0, 1.0, -2.0, -1.0, -4.0, -1.0, -2.0, 1.0]]> : tensor<2x8xf32>
  tt.return
}

tt.func public @addf_f32_reverse() {
  %x = arith.constant dense<[[-1.0, 2.0, -2.0, -2.0, -4.0, 0.0, 0.0, 4.0], [1.0, 0.0, -3.0, 1.0, -3.0, 3.0, -1.0, 3.0]]> : tensor<2x8xf32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.addf %a0, %b0 : f32
    tt.scan.return %o0 : f32
  }) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  check.eq %r, dense<[[-3.0, -2.0, -4.0, -2.0, 0.0, 4.0, 4.0, 4.0], [1.0, 0.0, 0.0, 3.0, 2.0, 5.0, 2.0, 3.0]]> : tensor<2x8xf32>
  tt.return
}

tt.func public @addf_f64() {
  %x = arith.constant dense<[[-3.0, 4.0, 4.0, -4.0, -4.0, -4.0, 0.0, -3.0], [-3.0, 1.0, -2.0, -2.0, 1.0, -1.0, -3.0, 1.0]]> : tensor<2x8xf64>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: f64, %b0: f64):
    %o0 = arith.addf %a0, %b0 : f64
    tt.scan.return %o0 : f64
  }) : (tensor<2x8xf64>) -> tensor<2x8xf64>
  check.eq %r, dense<[[-3.0, 1.0, 5.0, 1.0, -3.0, -7.0, -7.0, -10.0], [-3.0, -2.0, -4.0, -6.0, -5.0, -6.0, -9.0, -8.0]]> : tensor<2x8xf64>
  tt.return
}

tt.func public @addf_f64_reverse() {
  %x = arith.constant dense<[[-3.0, 4.0, 4.0, -4.0, -4.0, -4.0, 0.0, -3.0], [-3.0, 1.0, -2.0, -2.0, 1.0, -1.0, -3.0, 1.0]]> : tensor<2x8xf64>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: f64, %b0: f64):
    %o0 = arith.addf %a0, %b0 : f64
    tt.scan.return %o0 : f64
  }) : (tensor<2x8xf64>) -> tensor<2x8xf64>
  check.eq %r, dense<[[-10.0, -7.0, -11.0, -15.0, -11.0, -7.0, -3.0, -3.0], [-8.0, -5.0, -6.0, -4.0, -2.0, -3.0, -2.0, 1.0]]> : tensor<2x8xf64>
  tt.return
}

tt.func public @recurrence() {
  %x = arith.constant dense<[-2, -2, 1, -1, 1, -2, 2, 1]> : tensor<8xi32>
  %y = arith.constant dense<[-3, -2, 3, -2, 4, 2, 4, -3]> : tensor<8xi32>
  %r:2 = "tt.scan"(%x, %y) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %o0 = arith.muli %a0, %b0 : i32
    %p = arith.muli %a1, %b0 : i32
    %o1 = arith.addi %p, %b1 : i32
    tt.scan.return %o0, %o1 : i32, i32
  }) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  check.eq %r#0, dense<[-2, 4, 4, -4, -4, 8, 16, 16]> : tensor<8xi32>
  check.eq %r#1, dense<[-3, 4, 7, -9, -5, 12, 28, 25]> : tensor<8xi32>
  tt.return
}

tt.func public @recurrence_reverse() {
  %x = arith.constant dense<[-2, -2, 1, -1, 1, -2, 2, 1]> : tensor<8xi32>
  %y = arith.constant dense<[-3, -2, 3, -2, 4, 2, 4, -3]> : tensor<8xi32>
  %r:2 = "tt.scan"(%x, %y) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %o0 = arith.muli %a0, %b0 : i32
    %p = arith.muli %a1, %b0 : i32
    %o1 = arith.addi %p, %b1 : i32
    tt.scan.return %o0, %o1 : i32, i32
  }) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  check.eq %r#0, dense<[16, -8, 4, 4, -4, -4, 2, 1]> : tensor<8xi32>
  check.eq %r#1, dense<[-35, 16, -9, -12, 10, 6, -2, -3]> : tensor<8xi32>
  tt.return
}

tt.func public @scan_of_one_element() {
  %x = arith.constant dense<5> : tensor<1xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<1xi32>) -> tensor<1xi32>
  check.eq %r, dense<5> : tensor<1xi32>
  tt.return
}
