// RUN: tiletwin-exec %s --backend=interp
// math.ceil: the smallest whole number not below; -0 stays, and small negative numbers become -0.

tt.func public @ceil_f32() {
  %x = arith.constant dense<[1.5, -1.5, -0.0, 0.25, -0.25, 0x7F800000, 0xFF800000, 0x7FC00000, 8388609.0, -8388609.0, 0.99999994, -3.0, 4.0, 1.0e+30, -1.0e-30, 2.5]> : tensor<16xf32>
  %r = math.ceil %x : tensor<16xf32>
  check.eq %r, dense<[2.0, -1.0, -0.0, 1.0, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 8388609.0, -8388609.0, 1.0, -3.0, 4.0, 1.0e+30, -0.0, 3.0]> : tensor<16xf32>
  tt.return
}

tt.func public @ceil_f64() {
  %x = arith.constant dense<[1.5, -1.5, -0.0, 0.25, -0.25, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 8388609.0, -8388609.0, 0.99999994, -3.0, 4.0, 1.0e+30, -1.0e-30, 2.5]> : tensor<16xf64>
  %r = math.ceil %x : tensor<16xf64>
  check.eq %r, dense<[2.0, -1.0, -0.0, 1.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 8388609.0, -8388609.0, 1.0, -3.0, 4.0, 1.0e+30, -0.0, 3.0]> : tensor<16xf64>
  tt.return
}

tt.func public @ceil_scalar(%x: f32 {check.value = 1.5 : f32}) {
  %r = math.ceil %x : f32
  check.eq %r, 2.0 : f32
  tt.return
}
