// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.maxui and arith.minui.

tt.func public @maxui_i8() {
  %x = arith.constant dense<[[1, -1, 5, 0], [-128, 127, 3, 3]]> : tensor<2x4xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.maxui %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<2x4xi8>) -> tensor<2xi8>
  check.eq %r, dense<[-1, -128]> : tensor<2xi8>
  tt.return
}

tt.func public @maxui_i16() {
  %x = arith.constant dense<[[1, -1, 5, 0], [-128, 127, 3, 3]]> : tensor<2x4xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.maxui %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<2x4xi16>) -> tensor<2xi16>
  check.eq %r, dense<[-1, -128]> : tensor<2xi16>
  tt.return
}

tt.func public @maxui_i32() {
  %x = arith.constant dense<[[1, -1, 5, 0], [-128, 127, 3, 3]]> : tensor<2x4xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxui %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4xi32>) -> tensor<2xi32>
  check.eq %r, dense<[-1, -128]> : tensor<2xi32>
  tt.return
}

tt.func public @maxui_i64() {
  %x = arith.constant dense<[[1, -1, 5, 0], [-128, 127, 3, 3]]> : tensor<2x4xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.maxui %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<2x4xi64>) -> tensor<2xi64>
  check.eq %r, dense<[-1, -128]> : tensor<2xi64>
  tt.return
}

tt.func public @minui_i8() {
  %x = arith.constant dense<[[1, -1, 5, 0], [-128, 127, 3, 3]]> : tensor<2x4xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.minui %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<2x4xi8>) -> tensor<2xi8>
  check.eq %r, dense<[0, 3]> : tensor<2xi8>
  tt.return
}

tt.func public @minui_i16() {
  %x = arith.constant dense<[[1, -1, 5, 0], [-128, 127, 3, 3]]> : tensor<2x4xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.minui %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<2x4xi16>) -> tensor<2xi16>
  check.eq %r, dense<[0, 3]> : tensor<2xi16>
  tt.return
}

tt.func public @minui_i32() {
  %x = arith.constant dense<[[1, -1, 5, 0], [-128, 127, 3, 3]]> : tensor<2x4xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.minui %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4xi32>) -> tensor<2xi32>
  check.eq %r, dense<[0, 3]> : tensor<2xi32>
  tt.return
}

tt.func public @minui_i64() {
  %x = arith.constant dense<[[1, -1, 5, 0], [-128, 127, 3, 3]]> : tensor<2x4xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.minui %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<2x4xi64>) -> tensor<2xi64>
  check.eq %r, dense<[0, 3]> : tensor<2xi64>
  tt.return
}
