// RUN: tiletwin-exec %s --backend=interp
// math.sqrt: square root; sqrt(-0) = -0, NaN below zero.

tt.func public @sqrt_f32() {
  %x = arith.constant dense<[4.0, 0.0, -0.0, -1.0, 2.0, 0.5, 10.0, 1.0e+30, 1.0e-30, 0x7F800000, 0xFF800000, 0x7FC00000, 1.4e-45, 0.99999994, 3.0, 1.0]> : tensor<16xf32>
  %r = math.sqrt %x : tensor<16xf32>
  check.eq %r, dense<[2.0, 0.0, -0.0, 0x7FC00000, 1.4142135, 0.70710677, 3.1622777, 1000000000000000.0, 1.0e-15, 0x7F800000, 0x7FC00000, 0x7FC00000, 3.743392e-23, 0.99999994, 1.7320508, 1.0]> : tensor<16xf32>
  tt.return
}

tt.func public @sqrt_f64() {
  %x = arith.constant dense<[4.0, 0.0, -0.0, -1.0, 2.0, 0.5, 10.0, 1.0e+30, 1.0e-30, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 5.0e-324, 0.99999994, 3.0, 1.0]> : tensor<16xf64>
  %r = math.sqrt %x : tensor<16xf64>
  check.eq %r, dense<[2.0, 0.0, -0.0, 0x7FF8000000000000, 1.4142135623730951, 0.7071067811865476, 3.1622776601683795, 1000000000000000.0, 1.0e-15, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 2.2227587494850775e-162, 0.9999999699999995, 1.7320508075688772, 1.0]> : tensor<16xf64>
  tt.return
}

tt.func public @sqrt_scalar(%x: f32 {check.value = 4.0 : f32}) {
  %r = math.sqrt %x : f32
  check.eq %r, 2.0 : f32
  tt.return
}
