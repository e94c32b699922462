// RUN: tiletwin-exec %s --backend=interp
// arith.negf: the sign is flipped, of zeros too.

tt.func public @negf_f16() {
  %x = arith.constant dense<[1.5, -2.5, 0.0, -0.0, 0x7C00, 0xFC00, 0x7E00, 6.0e-08]> : tensor<8xf16>
  %r = arith.negf %x : tensor<8xf16>
  check.eq %r, dense<[-1.5, 2.5, -0.0, 0.0, 0xFC00, 0x7C00, 0x7E00, -6.0e-08]> : tensor<8xf16>
  tt.return
}

tt.func public @negf_bf16() {
  %x = arith.constant dense<[1.5, -2.5, 0.0, -0.0, 0x7F80, 0xFF80, 0x7FC0, 9.2e-41]> : tensor<8xbf16>
  %r = arith.negf %x : tensor<8xbf16>
  check.eq %r, dense<[-1.5, 2.5, -0.0, 0.0, 0xFF80, 0x7F80, 0x7FC0, -9.2e-41]> : tensor<8xbf16>
  tt.return
}

tt.func public @negf_f32() {
  %x = arith.constant dense<[1.5, -2.5, 0.0, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.4e-45]> : tensor<8xf32>
  %r = arith.negf %x : tensor<8xf32>
  check.eq %r, dense<[-1.5, 2.5, -0.0, 0.0, 0xFF800000, 0x7F800000, 0x7FC00000, -1.4e-45]> : tensor<8xf32>
  tt.return
}

tt.func public @negf_f64() {
  %x = arith.constant dense<[1.5, -2.5, 0.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.negf %x : tensor<8xf64>
  check.eq %r, dense<[-1.5, 2.5, -0.0, 0.0, 0xFFF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000, -5.0e-324]> : tensor<8xf64>
  tt.return
}

tt.func public @negf_scalar(%x: f32 {check.value = 1.5 : f32}) {
  %r = arith.negf %x : f32
  check.eq %r, -1.5 : f32
  tt.return
}
