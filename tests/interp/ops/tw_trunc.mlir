// RUN: tiletwin-exec %s --backend=interp
// tw.trunc: the integer next to x, toward zero.

tt.func public @trunc() {
  %x = arith.constant dense<[1.5, -1.5, -0.5, 0.99999994, 8388609.0, 0x7F800000, 0x7FC00000, 1.0e-45]> : tensor<8xf32>
  %r = tw.trunc %x : tensor<8xf32>
  check.eq %r, dense<[1.0, -1.0, -0.0, 0.0, 8388609.0, 0x7F800000, 0x7FC00000, 0.0]> : tensor<8xf32>
  tt.return
}

tt.func public @trunc_f64(%x: f64 {check.value = -2.75 : f64}) {
  %r = tw.trunc %x : f64
  check.eq %r, -2.0 : f64
  tt.return
}
