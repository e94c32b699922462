// RUN: tiletwin-exec %s --backend=interp
// math.rsqrt: 1 / sqrt(x); an infinity of the sign of x at zero, NaN below.

tt.func public @rsqrt_f32() {
  %x = arith.constant dense<[4.0, 0.0, -0.0, -1.0, 2.0, 0.5, 10.0, 1.0e+30, 1.0e-30, 0x7F800000, 0xFF800000, 0x7FC00000, 0.25, 0.99999994, 3.0, 1.0]> : tensor<16xf32>
  %r = math.rsqrt %x : tensor<16xf32>
  check.close %r, dense<[0.5, 0x7F800000, 0xFF800000, 0x7FC00000, 0.70710677, 1.4142135, 0.31622776, 1.0e-15, 1000000000000000.0, 0.0, 0x7FC00000, 0x7FC00000, 2.0, 1.0, 0.57735026, 1.0]> : tensor<16xf32>, ulp = 2
  tt.return
}

tt.func public @rsqrt_f64() {
  %x = arith.constant dense<[4.0, 0.0, -0.0, -1.0, 2.0, 0.5, 10.0, 1.0e+30, 1.0e-30, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.25, 0.99999994, 3.0, 1.0]> : tensor<16xf64>
  %r = math.rsqrt %x : tensor<16xf64>
  check.close %r, dense<[0.5, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.7071067811865476, 1.4142135623730951, 0.31622776601683794, 1.0e-15, 1000000000000000.0, 0.0, 0x7FF8000000000000, 0x7FF8000000000000, 2.0, 1.0000000300000014, 0.5773502691896257, 1.0]> : tensor<16xf64>, ulp = 2
  tt.return
}

tt.func public @rsqrt_scalar(%x: f32 {check.value = 4.0 : f32}) {
  %r = math.rsqrt %x : f32
  check.close %r, 0.5 : f32, ulp = 2
  tt.return
}
