// RUN: tiletwin-exec %s --backend=interp
// math.log2: logarithm to base 2; -infinity at zero, NaN below.

tt.func public @log2_f32() {
  %x = arith.constant dense<[1.0, 0.0, -0.0, -1.0, 2.0, 0.5, 10.0, 1.0e+30, 1.0e-30, 0x7F800000, 0xFF800000, 0x7FC00000, 1.4e-45, 0.99999994, 1.0000001, 3.0]> : tensor<16xf32>
  %r = math.log2 %x : tensor<16xf32>
  check.close %r, dense<[0.0, 0xFF800000, 0xFF800000, 0x7FC00000, 1.0, -1.0, 3.321928, 99.657845, -99.657845, 0x7F800000, 0x7FC00000, 0x7FC00000, -149.0, -8.599133e-08, 1.7198263e-07, 1.5849625]> : tensor<16xf32>, ulp = 2
  tt.return
}

tt.func public @log2_f64() {
  %x = arith.constant dense<[1.0, 0.0, -0.0, -1.0, 2.0, 0.5, 10.0, 1.0e+30, 1.0e-30, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 5.0e-324, 0.99999994, 1.0000001, 3.0]> : tensor<16xf64>
  %r = math.log2 %x : tensor<16xf64>
  check.close %r, dense<[0.0, 0xFFF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0, -1.0, 3.321928094887362, 99.65784284662087, -99.65784284662087, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF8000000000000, -1074.0, -8.656170500462673e-08, 1.4426949695965583e-07, 1.584962500721156]> : tensor<16xf64>, ulp = 2
  tt.return
}

tt.func public @log2_scalar(%x: f32 {check.value = 1.0 : f32}) {
  %r = math.log2 %x : f32
  check.close %r, 0.0 : f32, ulp = 2
  tt.return
}
