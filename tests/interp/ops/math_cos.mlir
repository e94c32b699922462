// RUN: tiletwin-exec %s --backend=interp
// math.cos: cosine, also of large arguments.

tt.func public @cos_f32() {
  %x = arith.constant dense<[0.5, 0.0, -0.0, 1.0, -1.0, 3.1415927, 1.5707964, 100.0, 10000.0, 1000000.0, 1.0e-10, 0x7F800000, 0xFF800000, 0x7FC00000, 6.2831855, -2.5]> : tensor<16xf32>
  %r = math.cos %x : tensor<16xf32>
  check.close %r, dense<[0.87758255, 1.0, 1.0, 0.5403023, 0.5403023, -1.0, -4.371139e-08, 0.8623189, -0.95215535, 0.93675214, 1.0, 0x7FC00000, 0x7FC00000, 0x7FC00000, 1.0, -0.8011436]> : tensor<16xf32>, ulp = 2
  tt.return
}

tt.func public @cos_f64() {
  %x = arith.constant dense<[0.5, 0.0, -0.0, 1.0, -1.0, 3.1415927, 1.5707964, 100.0, 10000.0, 1000000.0, 1.0e-10, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 6.2831855, -2.5]> : tensor<16xf64>
  %r = math.cos %x : tensor<16xf64>
  check.close %r, dense<[0.8775825618903728, 1.0, 1.0, 0.5403023058681398, 0.5403023058681398, -0.9999999999999989, -7.320510347335801e-08, 0.8623188722876839, -0.9521553682590148, 0.9367521275331447, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 0.9999999999999815, -0.8011436155469337]> : tensor<16xf64>, ulp = 2
  tt.return
}

tt.func public @cos_scalar(%x: f32 {check.value = 0.5 : f32}) {
  %r = math.cos %x : f32
  check.close %r, 0.87758255 : f32, ulp = 2
  tt.return
}
