// RUN: tiletwin-exec %s --backend=interp
// tt.precise_divf: f32 division; correctly rounded.

tt.func public @precise_divf() {
  %x = arith.constant dense<[1.0, 2.0, 0.0, -0.0, 1.0, 0x7FC00000, 10.0, 1.0e+30]> : tensor<8xf32>
  %y = arith.constant dense<[3.0, -7.0, 5.0, 5.0, 0x7F800000, 1.0, 0.1, 1.0e-05]> : tensor<8xf32>
  %r = tt.precise_divf %x, %y : tensor<8xf32>
  check.eq %r, dense<[0.33333334, -0.2857143, 0.0, -0.0, 0.0, 0x7FC00000, 100.0, 1.0e+35]> : tensor<8xf32>
  tt.return
}

tt.func public @precise_divf_scalar(%x: f32 {check.value = 3.0 : f32}, %y: f32 {check.value = 4.0 : f32}) {
  %r = tt.precise_divf %x, %y : f32
  check.eq %r, 0.75 : f32
  tt.return
}
