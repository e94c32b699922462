// RUN: tiletwin-exec %s --backend=interp
// math.sin: sine, also of large arguments.

tt.func public @sin_f32() {
  %x = arith.constant dense<[0.5, 0.0, -0.0, 1.0, -1.0, 3.1415927, 1.5707964, 100.0, 10000.0, 1000000.0, 1.0e-10, 0x7F800000, 0xFF800000, 0x7FC00000, 6.2831855, -2.5]> : tensor<16xf32>
  %r = math.sin %x : tensor<16xf32>
  check.close %r, dense<[0.47942555, 0.0, -0.0, 0.84147096, -0.84147096, -8.742278e-08, 1.0, -0.50636566, -0.30561438, -0.3499935, 1.0e-10, 0x7FC00000, 0x7FC00000, 0x7FC00000, 1.7484555e-07, -0.5984721]> : tensor<16xf32>, ulp = 2
  tt.return
}

tt.func public @sin_f64() {
  %x = arith.constant dense<[0.5, 0.0, -0.0, 1.0, -1.0, 3.1415927, 1.5707964, 100.0, 10000.0, 1000000.0, 1.0e-10, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 6.2831855, -2.5]> : tensor<16xf64>
  %r = math.sin %x : tensor<16xf64>
  check.close %r, dense<[0.479425538604203, 0.0, -0.0, 0.8414709848078965, -0.8414709848078965, -4.641020666628482e-08, 0.9999999999999973, -0.5063656411097588, -0.30561438888825215, -0.34999350217129294, 1.0e-10, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 1.928204136129998e-07, -0.5984721441039565]> : tensor<16xf64>, ulp = 2
  tt.return
}

tt.func public @sin_scalar(%x: f32 {check.value = 0.5 : f32}) {
  %r = math.sin %x : f32
  check.close %r, 0.47942555 : f32, ulp = 2
  tt.return
}
