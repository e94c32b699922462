// RUN: tiletwin-exec %s --backend=interp
// tw.div_rn: division, correctly rounded.

tt.func public @div_rn() {
  %x = arith.constant dense<[1.0, 2.0, 0.0, -0.0, 1.0, 0x7FC00000, 10.0, 1.0e+30, 1.0, 0.0, -1.0, 0x00000001, 3.0, 1.0e-38, 1.0e+38, 0x7F800000]> : tensor<16xf32>
  %y = arith.constant dense<[3.0, -7.0, 5.0, 5.0, 0x7F800000, 1.0, 0.1, 1.0e-05, 0.0, 0.0, 0.0, 2.0, 0x7F000000, 4.0, 0.1, 0x7F800000]> : tensor<16xf32>
  %r = tw.div_rn %x, %y : tensor<16xf32>
  check.eq %r, dense<[0.33333334, -0.2857143, 0.0, -0.0, 0.0, 0x7FC00000, 100.0, 1.0e+35, 0x7F800000, 0x7FC00000, 0xFF800000, 0.0, 0x00C00000, 0x001B38FC, 0x7F800000, 0x7FC00000]> : tensor<16xf32>
  tt.return
}

tt.func public @div_rn_f64(%x: f64 {check.value = 1.0 : f64}, %y: f64 {check.value = 3.0 : f64}) {
  %r = tw.div_rn %x, %y : f64
  check.eq %r, 0.33333333333333331 : f64
  tt.return
}
