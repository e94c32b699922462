// RUN: tiletwin-exec %s --backend=interp
// math.log: natural logarithm; -infinity at zero, NaN below.

tt.func public @log_f32() {
  %x = arith.constant dense<[1.0, 0.0, -0.0, -1.0, 2.0, 0.5, 10.0, 1.0e+30, 1.0e-30, 0x7F800000, 0xFF800000, 0x7FC00000, 1.4e-45, 0.99999994, 1.0000001, 3.0]> : tensor<16xf32>
  %r = math.log %x : tensor<16xf32>
  check.close %r, dense<[0.0, 0xFF800000, 0xFF800000, 0x7FC00000, 0.6931472, -0.6931472, 2.3025851, 69.07755, -69.07755, 0x7F800000, 0x7FC00000, 0x7FC00000, -103.27893, -5.9604645e-08, 1.1920928e-07, 1.0986123]> : tensor<16xf32>, ulp = 2
  tt.return
}

tt.func public @log_f64() {
  %x = arith.constant dense<[1.0, 0.0, -0.0, -1.0, 2.0, 0.5, 10.0, 1.0e+30, 1.0e-30, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 5.0e-324, 0.99999994, 1.0000001, 3.0]> : tensor<16xf64>
  %r = math.log %x : tensor<16xf64>
  check.close %r, dense<[0.0, 0xFFF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.6931471805599453, -0.6931471805599453, 2.302585092994046, 69.07755278982137, -69.07755278982137, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF8000000000000, -744.4400719213812, -6.000000176841872e-08, 9.999999505838704e-08, 1.0986122886681098]> : tensor<16xf64>, ulp = 2
  tt.return
}

tt.func public @log_scalar(%x: f32 {check.value = 1.0 : f32}) {
  %r = math.log %x : f32
  check.close %r, 0.0 : f32, ulp = 2
  tt.return
}
