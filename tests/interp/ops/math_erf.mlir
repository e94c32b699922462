// RUN: tiletwin-exec %s --backend=interp
// math.erf: error function.

tt.func public @erf_f32() {
  %x = arith.constant dense<[0.5, 0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 4.5, -6.0, 1.0e-05, 0.1, 0x7F800000, 0xFF800000, 0x7FC00000, 0.84375, 1.25]> : tensor<16xf32>
  %r = math.erf %x : tensor<16xf32>
  check.close %r, dense<[0.5204999, 0.0, -0.0, 0.8427008, -0.8427008, 0.9953223, -0.9999779, 1.0, -1.0, 1.12837915e-05, 0.112462915, 1.0, -1.0, 0x7FC00000, 0.7672257, 0.92290014]> : tensor<16xf32>, ulp = 4
  tt.return
}

tt.func public @erf_f64() {
  %x = arith.constant dense<[0.5, 0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 4.5, -6.0, 1.0e-05, 0.1, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.84375, 1.25]> : tensor<16xf64>
  %r = math.erf %x : tensor<16xf64>
  check.close %r, dense<[0.5204998778130465, 0.0, -0.0, 0.8427007929497149, -0.8427007929497149, 0.9953222650189527, -0.9999779095030014, 0.9999999998033839, -1.0, 1.1283791670579e-05, 0.1124629160182849, 1.0, -1.0, 0x7FF8000000000000, 0.7672256612323416, 0.9229001282564583]> : tensor<16xf64>, ulp = 4
  tt.return
}

tt.func public @erf_scalar(%x: f32 {check.value = 0.5 : f32}) {
  %r = math.erf %x : f32
  check.close %r, 0.5204999 : f32, ulp = 4
  tt.return
}
