// RUN: tiletwin-exec %s --backend=interp
// arith.remf: remainder with the sign of the dividend, correctly rounded in the type of the operands.

tt.func public @remf_f16() {
  %x = arith.constant dense<[1.5, -0.0, -0.0, 0x7C00, 0x7C00, 0x7E00, 1.0, 65500.0, 6.0e-08, -6.0e-08, 1.0, 7.0, -7.0, 0.1, 65500.0, 0.0]> : tensor<16xf16>
  %y = arith.constant dense<[2.25, 0.0, -0.0, 1.0, 0xFC00, 1.0, 0x7E00, 65500.0, 6.0e-08, 3.0, 3.0, -2.0, 2.0, 0.2, -65500.0, 1.0]> : tensor<16xf16>
  %r = arith.remf %x, %y : tensor<16xf16>
  check.eq %r, dense<[1.5, 0x7E00, 0x7E00, 0x7E00, 0x7E00, 0x7E00, 0x7E00, 0.0, 0.0, -6.0e-08, 1.0, 1.0, -1.0, 0.1, 0.0, 0.0]> : tensor<16xf16>
  tt.return
}

tt.func public @remf_bf16() {
  %x = arith.constant dense<[1.5, -0.0, -0.0, 0x7F80, 0x7F80, 0x7FC0, 1.0, 3.39e+38, 9.2e-41, -9.2e-41, 1.0, 7.0, -7.0, 0.1, 3.39e+38, 0.0]> : tensor<16xbf16>
  %y = arith.constant dense<[2.25, 0.0, -0.0, 1.0, 0xFF80, 1.0, 0x7FC0, 3.39e+38, 9.2e-41, 3.0, 3.0, -2.0, 2.0, 0.2, -3.39e+38, 1.0]> : tensor<16xbf16>
  %r = arith.remf %x, %y : tensor<16xbf16>
  check.eq %r, dense<[1.5, 0x7FC0, 0x7FC0, 0x7FC0, 0x7FC0, 0x7FC0, 0x7FC0, 0.0, 0.0, -9.2e-41, 1.0, 1.0, -1.0, 0.1, 0.0, 0.0]> : tensor<16xbf16>
  tt.return
}

tt.func public @remf_f32() {
  %x = arith.constant dense<[1.5, -0.0, -0.0, 0x7F800000, 0x7F800000, 0x7FC00000, 1.0, 3.4028235e+38, 1.4e-45, -1.4e-45, 1.0, 7.0, -7.0, 0.1, 3.4028235e+38, 0.0]> : tensor<16xf32>
  %y = arith.constant dense<[2.25, 0.0, -0.0, 1.0, 0xFF800000, 1.0, 0x7FC00000, 3.4028235e+38, 1.4e-45, 3.0, 3.0, -2.0, 2.0, 0.2, -3.4028235e+38, 1.0]> : tensor<16xf32>
  %r = arith.remf %x, %y : tensor<16xf32>
  check.eq %r, dense<[1.5, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0.0, 0.0, -1.4e-45, 1.0, 1.0, -1.0, 0.1, 0.0, 0.0]> : tensor<16xf32>
  tt.return
}

tt.func public @remf_f64() {
  %x = arith.constant dense<[1.5, -0.0, -0.0, 0x7FF0000000000000, 0x7FF0000000000000, 0x7FF8000000000000, 1.0, 1.7976931348623157e+308, 5.0e-324, -5.0e-324, 1.0, 7.0, -7.0, 0.1, 1.7976931348623157e+308, 0.0]> : tensor<16xf64>
  %y = arith.constant dense<[2.25, 0.0, -0.0, 1.0, 0xFFF0000000000000, 1.0, 0x7FF8000000000000, 1.7976931348623157e+308, 5.0e-324, 3.0, 3.0, -2.0, 2.0, 0.2, -1.7976931348623157e+308, 1.0]> : tensor<16xf64>
  %r = arith.remf %x, %y : tensor<16xf64>
  check.eq %r, dense<[1.5, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 0.0, 0.0, -5.0e-324, 1.0, 1.0, -1.0, 0.1, 0.0, 0.0]> : tensor<16xf64>
  tt.return
}

tt.func public @remf_scalar(%x: f32 {check.value = 7.5 : f32}, %y: f32 {check.value = -2.0 : f32}) {
  %r = arith.remf %x, %y : f32
  check.eq %r, 1.5 : f32
  tt.return
}

tt.func public @remf_one_element() {
  %x = arith.constant dense<7.5> : tensor<1xf32>
  %y = arith.constant dense<-2.0> : tensor<1xf32>
  %r = arith.remf %x, %y : tensor<1xf32>
  check.eq %r, dense<1.5> : tensor<1xf32>
  tt.return
}
