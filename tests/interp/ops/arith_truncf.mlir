// RUN: tiletwin-exec %s --backend=interp
// arith.truncf: narrower floats, rounded once to nearest even, with denormals and overflow to infinity.

tt.func public @truncf_f32_to_f16() {
  %x = arith.constant dense<[1.5, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.1, -2.5, -1.0e-10, 65504.0, 65519.0, 65520.0, 65536.0, 5.9604645e-08, 2.9802322e-08, 4.4703484e-08, 1.0004883]> : tensor<16xf32>
  %r = arith.truncf %x : tensor<16xf32> to tensor<16xf16>
  check.eq %r, dense<[1.5, -0.0, 0x7C00, 0xFC00, 0x7E00, 0.1, -2.5, -0.0, 65500.0, 65500.0, 0x7C00, 0x7C00, 6.0e-08, 0.0, 6.0e-08, 1.0]> : tensor<16xf16>
  tt.return
}

tt.func public @truncf_f32_to_bf16() {
  %x = arith.constant dense<[1.5, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.1, -2.5, -1.0e-10, 3.3895314e+38, 3.4e+38, 9.1835e-41, 4.5918e-41, 6.8877e-41, 1.0039062, 1.0117188, 0.1]> : tensor<16xf32>
  %r = arith.truncf %x : tensor<16xf32> to tensor<16xbf16>
  check.eq %r, dense<[1.5, -0.0, 0x7F80, 0xFF80, 0x7FC0, 0.1, -2.5, -1.0e-10, 3.39e+38, 0x7F80, 9.2e-41, 0.0, 9.2e-41, 1.0, 1.016, 0.1]> : tensor<16xbf16>
  tt.return
}

tt.func public @truncf_f64_to_f32() {
  %x = arith.constant dense<[1.5, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.1, -2.5, -1.0e-10, 3.4028235e+38, 3.5e+38, 1.401298464324817e-45, 7.006492321624085e-46, 1.0509738482436128e-45, 1.0000000596046448, 1.0000001788139343, 0.1]> : tensor<16xf64>
  %r = arith.truncf %x : tensor<16xf64> to tensor<16xf32>
  check.eq %r, dense<[1.5, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.1, -2.5, -1.0e-10, 3.4028235e+38, 0x7F800000, 1.4e-45, 0.0, 1.4e-45, 1.0, 1.0000002, 0.1]> : tensor<16xf32>
  tt.return
}

tt.func public @truncf_f64_to_f16() {
  %x = arith.constant dense<[1.5, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.1, -2.5, -1.0e-10, 65504.0, 65519.0, 65520.0, 65536.0, 5.960464477539063e-08, 2.9802322387695312e-08, 4.470348358154297e-08, 1.00048828125, 1.0004882812509095, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<32xf64>
  %r = arith.truncf %x : tensor<32xf64> to tensor<32xf16>
  check.eq %r, dense<[1.5, -0.0, 0x7C00, 0xFC00, 0x7E00, 0.1, -2.5, -0.0, 65500.0, 65500.0, 0x7C00, 0x7C00, 6.0e-08, 0.0, 6.0e-08, 1.0, 1.001, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<32xf16>
  tt.return
}

tt.func public @truncf_f64_to_bf16() {
  %x = arith.constant dense<[1.5, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.1, -2.5, -1.0e-10, 3.3895314e+38, 3.4e+38, 9.183549615799121e-41, 4.591774807899561e-41, 6.887662211849341e-41, 1.00390625, 1.01171875, 0.1, 1.0039062500009095, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<32xf64>
  %r = arith.truncf %x : tensor<32xf64> to tensor<32xbf16>
  check.eq %r, dense<[1.5, -0.0, 0x7F80, 0xFF80, 0x7FC0, 0.1, -2.5, -1.0e-10, 3.39e+38, 0x7F80, 9.2e-41, 0.0, 9.2e-41, 1.0, 1.016, 0.1, 1.01, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<32xbf16>
  tt.return
}

tt.func public @truncf_scalar(%x: f32 {check.value = 65520.0 : f32}) {
  %r = arith.truncf %x : f32 to f16
  check.eq %r, 0x7C00 : f16
  tt.return
}
