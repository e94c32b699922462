// RUN: tiletwin-exec %s --backend=interp
// math.exp2: 2 to the power of x, with denormal results.

tt.func public @exp2_f32() {
  %x = arith.constant dense<[0.0, -0.0, 1.0, -1.0, 0.1, 10.0, -10.5, 127.0, 128.0, -126.0, -149.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-08, 0.5]> : tensor<16xf32>
  %r = math.exp2 %x : tensor<16xf32>
  check.close %r, dense<[1.0, 1.0, 2.0, 0.5, 1.0717734, 1024.0, 0.00069053395, 1.7014118e+38, 0x7F800000, 1.1754944e-38, 1.4e-45, 0x7F800000, 0.0, 0x7FC00000, 1.0, 1.4142135]> : tensor<16xf32>, ulp = 2
  tt.return
}

tt.func public @exp2_f64() {
  %x = arith.constant dense<[0.0, -0.0, 1.0, -1.0, 0.1, 10.0, -10.5, 127.0, 128.0, -126.0, -149.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0e-08, 0.5]> : tensor<16xf64>
  %r = math.exp2 %x : tensor<16xf64>
  check.close %r, dense<[1.0, 1.0, 2.0, 0.5, 1.0717734625362931, 1024.0, 0.0006905339660024879, 1.7014118346046923e+38, 3.402823669209385e+38, 1.1754943508222875e-38, 1.401298464324817e-45, 0x7FF0000000000000, 0.0, 0x7FF8000000000000, 1.0000000069314718, 1.4142135623730951]> : tensor<16xf64>, ulp = 2
  tt.return
}

tt.func public @exp2_scalar(%x: f32 {check.value = 0.0 : f32}) {
  %r = math.exp2 %x : f32
  check.close %r, 1.0 : f32, ulp = 2
  tt.return
}
