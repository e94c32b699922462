// RUN: tiletwin-exec %s --backend=interp
// tw.sqrt_rn: square root, correctly rounded.

tt.func public @sqrt_rn() {
  %x = arith.constant dense<[4.0, -0.0, -1.0, 2.0, 0x7F800000, 0x7FC00000, 1.4e-45, 0.99999994]> : tensor<8xf32>
  %r = tw.sqrt_rn %x : tensor<8xf32>
  check.eq %r, dense<[2.0, -0.0, 0x7FC00000, 1.4142135, 0x7F800000, 0x7FC00000, 3.743392e-23, 0.99999994]> : tensor<8xf32>
  tt.return
}

tt.func public @sqrt_rn_f64(%x: f64 {check.value = 2.0 : f64}) {
  %r = tw.sqrt_rn %x : f64
  check.eq %r, 1.4142135623730951 : f64
  tt.return
}
