// RUN: tiletwin-exec %s --backend=interp
// math.floor: the largest whole number not above; -0 stays.

tt.func public @floor_f32() {
  %x = arith.constant dense<[1.5, -1.5, -0.0, 0.25, -0.25, 0x7F800000, 0xFF800000, 0x7FC00000, 8388609.0, -8388609.0, 0.99999994, -3.0, 4.0, 1.0e+30, -1.0e-30, 2.5]> : tensor<16xf32>
  %r = math.floor %x : tensor<16xf32>
  check.eq %r, dense<[1.0, -2.0, -0.0, 0.0, -1.0, 0x7F800000, 0xFF800000, 0x7FC00000, 8388609.0, -8388609.0, 0.0, -3.0, 4.0, 1.0e+30, -1.0, 2.0]> : tensor<16xf32>
  tt.return
}

tt.func public @floor_f64() {
  %x = arith.constant dense<[1.5, -1.5, -0.0, 0.25, -0.25, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 8388609.0, -8388609.0, 0.99999994, -3.0, 4.0, 1.0e+30, -1.0e-30, 2.5]> : tensor<16xf64>
  %r = math.floor %x : tensor<16xf64>
  check.eq %r, dense<[1.0, -2.0, -0.0, 0.0, -1.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 8388609.0, -8388609.0, 0.0, -3.0, 4.0, 1.0e+30, -1.0, 2.0]> : tensor<16xf64>
  tt.return
}

tt.func public @floor_scalar(%x: f32 {check.value = 1.5 : f32}) {
  %r = math.floor %x : f32
  check.eq %r, 1.0 : f32
  tt.return
}
