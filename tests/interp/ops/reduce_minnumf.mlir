// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.minnumf.

tt.func public @minnumf_f16_16_axis_0() {
  %x = arith.constant dense<[-1.0, 0.0, -1.0, 2.0, -2.0, -1.0, -4.0, 3.0, -2.0, 4.0, 1.0, 1.0, -1.0, 2.0, 0.0, -2.0]> : tensor<16xf16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: f16, %b0: f16):
    %o0 = arith.minnumf %a0, %b0 : f16
    tt.reduce.return %o0 : f16
  }) : (tensor<16xf16>) -> f16
  check.eq %r, -4.0 : f16
  tt.return
}

tt.func public @minnumf_f16_4x8_axis_1() {
  %x = arith.constant dense<[[0.0, 0.0, 1.0, 1.0, 4.0, 3.0, 3.0, 1.0], [-4.0, -2.0, 0.0, -3.0, 0.0, -2.0, 4.0, 0.0], [0.0, 3.0, -3.0, -1.0, 4.0, 0.0, -1.0, -4.0], [3.0, -1.0, 4.0, 3.0, -1.0, 2.0, 0.0, 0.0]]> : tensor<4x8xf16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: f16, %b0: f16):
    %o0 = arith.minnumf %a0, %b0 : f16
    tt.reduce.return %o0 : f16
  }) : (tensor<4x8xf16>) -> tensor<4xf16>
  check.eq %r, dense<[0.0, -4.0, -4.0, -1.0]> : tensor<4xf16>
  tt.return
}

tt.func public @minnumf_bf16_16_axis_0() {
  %x = arith.constant dense<[3.0, 1.0, -3.0, 1.0, -4.0, 2.0, 2.0, -1.0, -4.0, -1.0, -3.0, -1.0, 4.0, 0.0, 1.0, 4.0]> : tensor<16xbf16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: bf16, %b0: bf16):
    %o0 = arith.minnumf %a0, %b0 : bf16
    tt.reduce.return %o0 : bf16
  }) : (tensor<16xbf16>) -> bf16
  check.eq %r, -4.0 : bf16
  tt.return
}

tt.func public @minnumf_bf16_4x8_axis_1() {
  %x = arith.constant dense<[[2.0, -3.0, 3.0, 3.0, 3.0, -2.0, 2.0, 1.0], [2.0, -2.0, -3.0, -2.0, 3.0, -4.0, 1.0, -3.0], [1.0, -1.0, 1.0, -3.0, -2.0, -3.0, 2.0, -1.0], [-2.0, 3.0, -3.0, 4.0, 2.0, -1.0, -3.0, -4.0]]> : tensor<4x8xbf16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: bf16, %b0: bf16):
    %o0 = arith.minnumf %a0, %b0 : bf16
    tt.reduce.return %o0 : bf16
  }) : (tensor<4x8xbf16>) -> tensor<4xbf16>
  check.eq %r, dense<[-3.0, -4.0, -3.0, -4.0]> : tensor<4xbf16>
  tt.return
}

tt.func public @minnumf_f32_16_axis_0() {
  %x = arith.constant dense<[-1.0, -4.0, -2.0, -1.0, -1.0, 1.0, -1.0, 0.0, -3.0, 0.0, 1.0, 4.0, 2.0, -3.0, 2.0, 4.0]> : tensor<16xf32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.minnumf %a0, %b0 : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<16xf32>) -> f32
  check.eq %r, -4.0 : f32
  tt.return
}

tt.func public @minnumf_f32_4x8_axis_0() {
  %x = arith.constant dense<[[-4.0, 3.0, 1.0, 3.0, 2.0, -1.0, -1.0, -3.0], [1.0, 3.0, -4.0, -4.0, -2.0, 0.0, -3.0, -1.0], [0.0, 1.0, 2.0, 1.0, 2.0, 0.0, 2.0, -3.0], [2.0, -3.0, -4.0, -3.0, 4.0, 3.0, -3.0, -4.0]]> : tensor<4x8xf32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.minnumf %a0, %b0 : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<4x8xf32>) -> tensor<8xf32>
  check.eq %r, dense<[-4.0, -3.0, -4.0, -4.0, -2.0, -1.0, -3.0, -4.0]> : tensor<8xf32>
  tt.return
}

tt.func public @minnumf_f32_4x8_axis_1() {
  %x = arith.constant dense<[[-2.0, -1.0, 3.0, -3.0, 4.0, 1.0, 3.0, -4.0], [-1.0, -3.0, -1.0, 4.0, 1.0, -2.0, -2.0, -3.0], [3.0, -2.0, 1.0, -1.0, -4.0, 1.0, -4.0, -2.0], [3.0, 1.0, -4.0, -3.0, 2.0, -1.0, 1.0, -3.0]]> : tensor<4x8xf32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.minnumf %a0, %b0 : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  check.eq %r, dense<[-4.0, -3.0, -4.0, -4.0]> : tensor<4xf32>
  tt.return
}

tt.func public @minnumf_f32_2x4x8_axis_0() {
  %x = arith.constant dense<[[[0.0, -3.0, -2.0, -1.0, 0.0, -2.0, 4.0, -1.0], [3.0, 0.0, 2.0, 2.0, 4.0, 2.0, -1.0, -3.0], [-2.0, 1.0, -1.0, -2.0, -3.0, -2.0, 3.0, 3.0], [-1.0, -4.0, 2.0, 0.0, 0.0, -2.0, -4.0, 3.0]], [[-1.0, -2.0, -4.0, 3.0, -3.0, -4.0, -4.0, 1.0], [-1.0, 1.0, 1.0, -4.0, -3.0, 4.0, 1.0, 4.0], [-2.0, 0.0, 3.0, -3.0, -2.0, -2.0, -2.0, 0.0], [-3.0, -1.0, -2.0, -4.0, -3.0, -4.0, 4.0, -2.0]]]> : tensor<2x4x8xf32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.minnumf %a0, %b0 : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<2x4x8xf32>) -> tensor<4x8xf32>
  check.eq %r, dense<[[-1.0, -3.0, -4.0, -1.0, -3.0, -4.0, -4.0, -1.0], [-1.0, 0.0, 1.0, -4.0, -3.0, 2.0, -1.0, -3.0], [-2.0, 0.0, -1.0, -3.0, -3.0, -2.0, -2.0, 0.0], [-3.0, -4.0, -2.0, -4.0, -3.0, -4.0, -4.0, -2.0]]> : tensor<4x8xf32>
  tt.return
}

tt.func public @minnumf_f32_2x4x8_axis_1() {
  %x = arith.constant dense<[[[4.0, 4.0, -1.0, 4.0, -4.0, -4.0, 1.0, 1.0], [-1.0, 1.0, -1.0, 4.0, 0.0, 2.0, 2.0, -2.0], [-2.0, -4.0, -4.0, -2.0, 0.0, 4.0, -1.0, -3.0], [0.0, 0.0, -1.0, 4.0, 1.0, -4.0, -1.0, 0.0]], [[2.0, 2.0, -1.0, 2.0, 2.0, 1.0, -2.0, -2.0], [0.0, -4.0, 4.0, 4.0, -2.0, -4.0, 0.0, -3.0], [4.0, -2.0, -4.0, -1.0, 3.0, 3.0, -4.0, 0.0], [4.0, 4.0, 0.0, 0.0, 2.0, -4.0, -1.0, -2.0]]]> : tensor<2x4x8xf32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.minnumf %a0, %b0 : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<2x4x8xf32>) -> tensor<2x8xf32>
  check.eq %r, dense<[[-2.0, -4.0, -4.0, -2.0, -4.0, -4.0, -1.0, -3.0], [0.0, -4.0, -4.0, -1.0, -2.0, -4.0, -4.0, -3.0]]> : tensor<2x8xf32>
  tt.return
}

tt.func public @minnumf_f32_2x4x8_axis_2() {
  %x = arith.constant dense<[[[0.0, 2.0, 0.0, 2.0, -2.0, 4.0, -2.0, -4.0], [-3.0, -3.0, 0.0, 0.0, 2.0, -4.0, 3.0, 2.0], [-4.0, -3.0, -4.0, 1.0, 0.0, 1.0, -2.0, -4.0], [-2.0, 4.0, 2.0, 3.0, 4.0, -4.0, 1.0, -3.0]], [[-2.0, 1.0, 3.0, -4.0, 0.0, -2.0, -4.0, -2.0], [-3.0, 0.0, 3.0, -1.0, -2.0, -1.0, 0.0, -2.0], [1.0, 0.0, 3.0, 1.0, 4.0, 1.0, 4.0, 2.0], [-1.0, 1.0, 0.0, -2.0, -4.0, -4.0, 1.0, 0.0]]]> : tensor<2x4x8xf32>
  %r = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.minnumf %a0, %b0 : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  check.eq %r, dense<[[-4.0, -4.0, -4.0, -4.0], [-4.0, -3.0, 0.0, -4.0]]> : tensor<2x4xf32>
  tt.return
}

tt.func public @minnumf_f64_16_axis_0() {
  %x = arith.constant dense<[-2.0, -1.0, 3.0, 4.0, -3.0, 0.0, 1.0, -4.0, 0.0, 3.0, 3.0, 3.0, -1.0, 4.0, 4.0, 3.0]> : tensor<16xf64>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: f64, %b0: f64):
    %o0 = arith.minnumf %a0, %b0 : f64
    tt.reduce.return %o0 : f64
  }) : (tensor<16xf64>) -> f64
  check.eq %r, -4.0 : f64
  tt.return
}

tt.func public @minnumf_f64_4x8_axis_1() {
  %x = arith.constant dense<[[0.0, -1.0, -1.0, 4.0, 1.0, -2.0, -3.0, -3.0], [2.0, 2.0, -3.0, 2.0, -3.0, -2.0, 2.0, 3.0], [-3.0, 0.0, -4.0, -1.0, 4.0, 0.0, 3.0, -3.0], [-2.0, -3.0, 4.0, -2.0, 2.0, -1.0, -3.0, -2.0]]> : tensor<4x8xf64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: f64, %b0: f64):
    %o0 = arith.minnumf %a0, %b0 : f64
    tt.reduce.return %o0 : f64
  }) : (tensor<4x8xf64>) -> tensor<4xf64>
  check.eq %r, dense<[-3.0, -3.0, -4.0, -3.0]> : tensor<4xf64>
  tt.return
}

tt.func public @minnumf_of_nan() {
  %x = arith.constant dense<[[1.0, 0x7FC00000, 3.0, -2.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7F800000, 0xFF800000, 0.5, 1.0], [0x7FC00000, 1.0, 2.0, 3.0]]> : tensor<4x4xf32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.minnumf %a0, %b0 : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<4x4xf32>) -> tensor<4xf32>
  check.eq %r, dense<[-2.0, 0x7FC00000, 0xFF800000, 1.0]> : tensor<4xf32>
  tt.return
}

tt.func public @minnumf_of_one_element() {
  %x = arith.constant dense<-0.0> : tensor<1xf32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %o0 = arith.minnumf %a0, %b0 : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<1xf32>) -> f32
  check.eq %r, -0.0 : f32
  tt.return
}
