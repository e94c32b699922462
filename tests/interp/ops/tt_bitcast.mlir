// RUN: tiletwin-exec %s --backend=interp
// tt.bitcast: the same bits under another type; pointers change what they point to.

tt.func public @bitcast_f32_to_i32() {
  %x = arith.constant dense<[1.0, -0.0, 0x7F800000, -2.5]> : tensor<4xf32>
  %r = tt.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  %s = tt.bitcast %r : tensor<4xi32> -> tensor<4xf32>
  check.eq %r, dense<[1065353216, -2147483648, 2139095040, -1071644672]> : tensor<4xi32>
  check.eq %s, dense<[1.0, -0.0, 0x7F800000, -2.5]> : tensor<4xf32>
  tt.return
}

tt.func public @bitcast_f16_to_i16() {
  %x = arith.constant dense<[1.0, -0.0, 0x7C00, -2.5]> : tensor<4xf16>
  %r = tt.bitcast %x : tensor<4xf16> -> tensor<4xi16>
  %s = tt.bitcast %r : tensor<4xi16> -> tensor<4xf16>
  check.eq %r, dense<[15360, -32768, 31744, -16128]> : tensor<4xi16>
  check.eq %s, dense<[1.0, -0.0, 0x7C00, -2.5]> : tensor<4xf16>
  tt.return
}

tt.func public @bitcast_bf16_to_i16() {
  %x = arith.constant dense<[1.0, -0.0, 0x7F80, -2.5]> : tensor<4xbf16>
  %r = tt.bitcast %x : tensor<4xbf16> -> tensor<4xi16>
  %s = tt.bitcast %r : tensor<4xi16> -> tensor<4xbf16>
  check.eq %r, dense<[16256, -32768, 32640, -16352]> : tensor<4xi16>
  check.eq %s, dense<[1.0, -0.0, 0x7F80, -2.5]> : tensor<4xbf16>
  tt.return
}

tt.func public @bitcast_f64_to_i64() {
  %x = arith.constant dense<[1.0, -0.0, 0x7FF0000000000000, -2.5]> : tensor<4xf64>
  %r = tt.bitcast %x : tensor<4xf64> -> tensor<4xi64>
  %s = tt.bitcast %r : tensor<4xi64> -> tensor<4xf64>
  check.eq %r, dense<[4607182418800017408, -9223372036854775808, 9218868437227405312, -4610560118520545280]> : tensor<4xi64>
  check.eq %s, dense<[1.0, -0.0, 0x7FF0000000000000, -2.5]> : tensor<4xf64>
  tt.return
}

tt.func public @bitcast_f16_to_bf16() {
  %x = arith.constant dense<[1.0, -0.0, 0x7C00, -2.5]> : tensor<4xf16>
  %r = tt.bitcast %x : tensor<4xf16> -> tensor<4xbf16>
  %s = tt.bitcast %r : tensor<4xbf16> -> tensor<4xf16>
  check.eq %r, dense<[0.0078, -0.0, 2.66e+36, -8.0]> : tensor<4xbf16>
  check.eq %s, dense<[1.0, -0.0, 0x7C00, -2.5]> : tensor<4xf16>
  tt.return
}

tt.func public @bitcast_f8E5M2_to_i8() {
  %x = arith.constant dense<[1.0, -0.0, 0x7C, -2.5]> : tensor<4xf8E5M2>
  %r = tt.bitcast %x : tensor<4xf8E5M2> -> tensor<4xi8>
  %s = tt.bitcast %r : tensor<4xi8> -> tensor<4xf8E5M2>
  check.eq %r, dense<[60, -128, 124, -63]> : tensor<4xi8>
  check.eq %s, dense<[1.0, -0.0, 0x7C, -2.5]> : tensor<4xf8E5M2>
  tt.return
}

tt.func public @bitcast_scalar(%x: f32 {check.value = 1.0 : f32}) {
  %r = tt.bitcast %x : f32 -> i32
  check.eq %r, 1065353216 : i32
  tt.return
}

tt.func public @bitcast_of_a_pointer(%p: !tt.ptr<f32> {check.data = dense<1.0> : tensor<1xf32>}) {
  %q = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
  %r = tt.load %q : !tt.ptr<i32>
  check.eq %r, 1065353216 : i32
  tt.return
}
