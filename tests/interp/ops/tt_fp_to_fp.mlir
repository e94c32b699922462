// RUN: tiletwin-exec %s --backend=interp
// tt.fp_to_fp: between float formats. Narrowing to f8 saturates, infinities too; NaN stays NaN. Widening is exact.

tt.func public @fp_to_fp_f16_to_f8E5M2() {
  %x = arith.constant dense<[1.0, -0.0, 0.1, -3.3, 448.0, 464.0, 465.0, 57340.0, 61440.0, 0x7C00, 0xFC00, 0x7E00, 0.001953, 0.000977, 7.6e-06, 1.1875]> : tensor<16xf16>
  %r = tt.fp_to_fp %x, rounding = rtne : tensor<16xf16> -> tensor<16xf8E5M2>
  check.eq %r, dense<[1.0, -0.0, 0.094, -3.5, 450.0, 450.0, 450.0, 57000.0, 57000.0, 57000.0, -57000.0, 0x7E, 0.002, 0.00098, 0.0, 1.2]> : tensor<16xf8E5M2>
  tt.return
}

tt.func public @fp_to_fp_bf16_to_f8E5M2() {
  %x = arith.constant dense<[1.0, -0.0, 0.1, -3.3, 448.0, 464.0, 464.0, 57300.0, 61400.0, 0x7F80, 0xFF80, 0x7FC0, 0.00195, 0.00098, 7.63e-06, 1.19]> : tensor<16xbf16>
  %r = tt.fp_to_fp %x, rounding = rtne : tensor<16xbf16> -> tensor<16xf8E5M2>
  check.eq %r, dense<[1.0, -0.0, 0.094, -3.5, 450.0, 450.0, 450.0, 57000.0, 57000.0, 57000.0, -57000.0, 0x7E, 0.002, 0.00098, 0.0, 1.2]> : tensor<16xf8E5M2>
  tt.return
}

tt.func public @fp_to_fp_f32_to_f8E5M2() {
  %x = arith.constant dense<[1.0, -0.0, 0.1, -3.3, 448.0, 464.0, 465.0, 57344.0, 61440.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.001953125, 0.0009765625, 7.6293945e-06, 1.1875]> : tensor<16xf32>
  %r = tt.fp_to_fp %x, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>
  check.eq %r, dense<[1.0, -0.0, 0.094, -3.5, 450.0, 450.0, 450.0, 57000.0, 57000.0, 57000.0, -57000.0, 0x7E, 0.002, 0.00098, 0.0, 1.2]> : tensor<16xf8E5M2>
  tt.return
}

tt.func public @fp_to_fp_f8E5M2_to_f16() {
  %x = arith.constant dense<[0.0, -0.0, 1.5e-05, 1.0, 0.5, -2.5, 57000.0, 0x7E]> : tensor<8xf8E5M2>
  %r = tt.fp_to_fp %x : tensor<8xf8E5M2> -> tensor<8xf16>
  check.eq %r, dense<[0.0, -0.0, 1.526e-05, 1.0, 0.5, -2.5, 57340.0, 0x7E00]> : tensor<8xf16>
  tt.return
}

tt.func public @fp_to_fp_f8E5M2_to_bf16() {
  %x = arith.constant dense<[0.0, -0.0, 1.5e-05, 1.0, 0.5, -2.5, 57000.0, 0x7E]> : tensor<8xf8E5M2>
  %r = tt.fp_to_fp %x : tensor<8xf8E5M2> -> tensor<8xbf16>
  check.eq %r, dense<[0.0, -0.0, 1.53e-05, 1.0, 0.5, -2.5, 57300.0, 0x7FC0]> : tensor<8xbf16>
  tt.return
}

tt.func public @fp_to_fp_f8E5M2_to_f32() {
  %x = arith.constant dense<[0.0, -0.0, 1.5e-05, 1.0, 0.5, -2.5, 57000.0, 0x7E]> : tensor<8xf8E5M2>
  %r = tt.fp_to_fp %x : tensor<8xf8E5M2> -> tensor<8xf32>
  check.eq %r, dense<[0.0, -0.0, 1.5258789e-05, 1.0, 0.5, -2.5, 57344.0, 0x7FC00000]> : tensor<8xf32>
  tt.return
}

tt.func public @fp_to_fp_f16_to_f8E4M3FN() {
  %x = arith.constant dense<[1.0, -0.0, 0.1, -3.3, 448.0, 464.0, 465.0, 57340.0, 61440.0, 0x7C00, 0xFC00, 0x7E00, 0.001953, 0.000977, 7.6e-06, 1.1875]> : tensor<16xf16>
  %r = tt.fp_to_fp %x, rounding = rtne : tensor<16xf16> -> tensor<16xf8E4M3FN>
  check.eq %r, dense<[1.0, -0.0, 0.1, -3.2, 450.0, 450.0, 450.0, 450.0, 450.0, 450.0, -450.0, 0x7F, 0.002, 0.0, 0.0, 1.2]> : tensor<16xf8E4M3FN>
  tt.return
}

tt.func public @fp_to_fp_bf16_to_f8E4M3FN() {
  %x = arith.constant dense<[1.0, -0.0, 0.1, -3.3, 448.0, 464.0, 464.0, 57300.0, 61400.0, 0x7F80, 0xFF80, 0x7FC0, 0.00195, 0.00098, 7.63e-06, 1.19]> : tensor<16xbf16>
  %r = tt.fp_to_fp %x, rounding = rtne : tensor<16xbf16> -> tensor<16xf8E4M3FN>
  check.eq %r, dense<[1.0, -0.0, 0.1, -3.2, 450.0, 450.0, 450.0, 450.0, 450.0, 450.0, -450.0, 0x7F, 0.002, 0.0, 0.0, 1.2]> : tensor<16xf8E4M3FN>
  tt.return
}

tt.func public @fp_to_fp_f32_to_f8E4M3FN() {
  %x = arith.constant dense<[1.0, -0.0, 0.1, -3.3, 448.0, 464.0, 465.0, 57344.0, 61440.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.001953125, 0.0009765625, 7.6293945e-06, 1.1875]> : tensor<16xf32>
  %r = tt.fp_to_fp %x, rounding = rtne : tensor<16xf32> -> tensor<16xf8E4M3FN>
  check.eq %r, dense<[1.0, -0.0, 0.1, -3.2, 450.0, 450.0, 450.0, 450.0, 450.0, 450.0, -450.0, 0x7F, 0.002, 0.0, 0.0, 1.2]> : tensor<16xf8E4M3FN>
  tt.return
}

tt.func public @fp_to_fp_f8E4M3FN_to_f16() {
  %x = arith.constant dense<[0.0, -0.0, 0.002, 1.5, 1.0, -2.2, 450.0, 0x7F]> : tensor<8xf8E4M3FN>
  %r = tt.fp_to_fp %x : tensor<8xf8E4M3FN> -> tensor<8xf16>
  check.eq %r, dense<[0.0, -0.0, 0.001953, 1.5, 1.0, -2.25, 448.0, 0x7E00]> : tensor<8xf16>
  tt.return
}

tt.func public @fp_to_fp_f8E4M3FN_to_bf16() {
  %x = arith.constant dense<[0.0, -0.0, 0.002, 1.5, 1.0, -2.2, 450.0, 0x7F]> : tensor<8xf8E4M3FN>
  %r = tt.fp_to_fp %x : tensor<8xf8E4M3FN> -> tensor<8xbf16>
  check.eq %r, dense<[0.0, -0.0, 0.00195, 1.5, 1.0, -2.25, 448.0, 0x7FC0]> : tensor<8xbf16>
  tt.return
}

tt.func public @fp_to_fp_f8E4M3FN_to_f32() {
  %x = arith.constant dense<[0.0, -0.0, 0.002, 1.5, 1.0, -2.2, 450.0, 0x7F]> : tensor<8xf8E4M3FN>
  %r = tt.fp_to_fp %x : tensor<8xf8E4M3FN> -> tensor<8xf32>
  check.eq %r, dense<[0.0, -0.0, 0.001953125, 1.5, 1.0, -2.25, 448.0, 0x7FC00000]> : tensor<8xf32>
  tt.return
}

tt.func public @fp_to_fp_f32_to_f16_rtz() {
  %x = arith.constant dense<[1.0078125, 0.1, -0.1, 1000000.0, -3.4e+38, 0x7F800000, 0x7FC00000, 7.17e-43]> : tensor<8xf32>
  %r = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xf16>
  check.eq %r, dense<[1.008, 0.1, -0.1, 65500.0, -65500.0, 0x7C00, 0x7E00, 0.0]> : tensor<8xf16>
  tt.return
}

tt.func public @fp_to_fp_f32_to_bf16_rtz() {
  %x = arith.constant dense<[1.0078125, 0.1, -0.1, 1000000.0, -3.4e+38, 0x7F800000, 0x7FC00000, 7.17e-43]> : tensor<8xf32>
  %r = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xbf16>
  check.eq %r, dense<[1.01, 0.0996, -0.0996, 1000000.0, -3.39e+38, 0x7F80, 0x7FC0, 0.0]> : tensor<8xbf16>
  tt.return
}

tt.func public @fp_to_fp_f16_to_bf16() {
  %x = arith.constant dense<[1.001, -0.0, 65500.0, 0x7C00, 0x7E00, 0.1, 0x7C00, -9.5e-07]> : tensor<8xf16>
  %r = tt.fp_to_fp %x, rounding = rtne : tensor<8xf16> -> tensor<8xbf16>
  check.eq %r, dense<[1.0, -0.0, 65500.0, 0x7F80, 0x7FC0, 0.1, 0x7F80, -9.54e-07]> : tensor<8xbf16>
  tt.return
}

tt.func public @fp_to_fp_bf16_to_f16() {
  %x = arith.constant dense<[1.0, -0.0, 65500.0, 0x7F80, 0x7FC0, 0.1, 1.0e+30, -9.54e-07]> : tensor<8xbf16>
  %r = tt.fp_to_fp %x, rounding = rtne : tensor<8xbf16> -> tensor<8xf16>
  check.eq %r, dense<[1.0, -0.0, 0x7C00, 0x7C00, 0x7E00, 0.1001, 0x7C00, -9.5e-07]> : tensor<8xf16>
  tt.return
}
