// RUN: tiletwin-exec %s --backend=interp
// arith.extf: wider floats, exact.

tt.func public @extf_f16_to_f32() {
  %x = arith.constant dense<[1.5, -0.0, 0x7C00, 0xFC00, 0x7E00, 0.1, 6.0e-08, -65500.0]> : tensor<8xf16>
  %r = arith.extf %x : tensor<8xf16> to tensor<8xf32>
  check.eq %r, dense<[1.5, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.099975586, 5.9604645e-08, -65504.0]> : tensor<8xf32>
  tt.return
}

tt.func public @extf_bf16_to_f32() {
  %x = arith.constant dense<[1.5, -0.0, 0x7F80, 0xFF80, 0x7FC0, 0.1, 9.2e-41, -3.39e+38]> : tensor<8xbf16>
  %r = arith.extf %x : tensor<8xbf16> to tensor<8xf32>
  check.eq %r, dense<[1.5, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.100097656, 9.1835e-41, -3.3895314e+38]> : tensor<8xf32>
  tt.return
}

tt.func public @extf_f16_to_f64() {
  %x = arith.constant dense<[1.5, -0.0, 0x7C00, 0xFC00, 0x7E00, 0.1, 6.0e-08, -65500.0]> : tensor<8xf16>
  %r = arith.extf %x : tensor<8xf16> to tensor<8xf64>
  check.eq %r, dense<[1.5, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.0999755859375, 5.960464477539063e-08, -65504.0]> : tensor<8xf64>
  tt.return
}

tt.func public @extf_bf16_to_f64() {
  %x = arith.constant dense<[1.5, -0.0, 0x7F80, 0xFF80, 0x7FC0, 0.1, 9.2e-41, -3.39e+38]> : tensor<8xbf16>
  %r = arith.extf %x : tensor<8xbf16> to tensor<8xf64>
  check.eq %r, dense<[1.5, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.10009765625, 9.183549615799121e-41, -3.3895313892515355e+38]> : tensor<8xf64>
  tt.return
}

tt.func public @extf_f32_to_f64() {
  %x = arith.constant dense<[1.5, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.1, 1.4e-45, -3.4028235e+38]> : tensor<8xf32>
  %r = arith.extf %x : tensor<8xf32> to tensor<8xf64>
  check.eq %r, dense<[1.5, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.10000000149011612, 1.401298464324817e-45, -3.4028234663852886e+38]> : tensor<8xf64>
  tt.return
}

tt.func public @extf_scalar(%x: bf16 {check.value = -1.5 : bf16}) {
  %r = arith.extf %x : bf16 to f32
  check.eq %r, -1.5 : f32
  tt.return
}
