// RUN: tiletwin-exec %s --backend=interp
// math.exp: e to the power of x.

tt.func public @exp_f32() {
  %x = arith.constant dense<[0.0, -0.0, 1.0, -1.0, 0.1, 10.0, -10.0, 88.0, 89.0, -87.0, -100.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-08, 0.6931472]> : tensor<16xf32>
  %r = math.exp %x : tensor<16xf32>
  check.close %r, dense<[1.0, 1.0, 2.7182817, 0.36787945, 1.105171, 22026.465, 4.539993e-05, 1.6516363e+38, 0x7F800000, 1.6458115e-38, 3.8e-44, 0x7F800000, 0.0, 0x7FC00000, 1.0, 2.0]> : tensor<16xf32>, ulp = 2
  tt.return
}

tt.func public @exp_f64() {
  %x = arith.constant dense<[0.0, -0.0, 1.0, -1.0, 0.1, 10.0, -10.0, 88.0, 89.0, -87.0, -100.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0e-08, 0.6931472]> : tensor<16xf64>
  %r = math.exp %x : tensor<16xf64>
  check.close %r, dense<[1.0, 1.0, 2.718281828459045, 0.36787944117144233, 1.1051709180756477, 22026.465794806718, 4.5399929762484854e-05, 1.6516362549940018e+38, 4.4896128191743455e+38, 1.6458114310822737e-38, 3.720075976020836e-44, 0x7FF0000000000000, 0.0, 0x7FF8000000000000, 1.00000001, 2.00000003888011]> : tensor<16xf64>, ulp = 2
  tt.return
}

tt.func public @exp_scalar(%x: f32 {check.value = 0.0 : f32}) {
  %r = math.exp %x : f32
  check.close %r, 1.0 : f32, ulp = 2
  tt.return
}
