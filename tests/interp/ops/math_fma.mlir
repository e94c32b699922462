// RUN: tiletwin-exec %s --backend=interp
// math.fma: a * b + c, rounded once.

tt.func public @fma_f16() {
  %a = arith.constant dense<[1.001, 1.5, 0x7C00, 0x7C00, 0x7E00, -0.0, 65500.0, 0.0]> : tensor<8xf16>
  %b = arith.constant dense<[1.001, 2.0, 0.0, 1.0, 1.0, 1.0, 2.0, 5.0]> : tensor<8xf16>
  %c = arith.constant dense<[-1.002, 0.25, 1.0, 0xFC00, 1.0, 0.0, -65500.0, -0.0]> : tensor<8xf16>
  %r = math.fma %a, %b, %c : tensor<8xf16>
  check.eq %r, dense<[9.5e-07, 3.25, 0x7E00, 0x7E00, 0x7E00, 0.0, 65500.0, 0.0]> : tensor<8xf16>
  tt.return
}

tt.func public @fma_bf16() {
  %a = arith.constant dense<[1.01, 1.5, 0x7F80, 0x7F80, 0x7FC0, -0.0, 3.39e+38, 0.0]> : tensor<8xbf16>
  %b = arith.constant dense<[1.01, 2.0, 0.0, 1.0, 1.0, 1.0, 2.0, 5.0]> : tensor<8xbf16>
  %c = arith.constant dense<[-1.016, 0.25, 1.0, 0xFF80, 1.0, 0.0, -3.39e+38, -0.0]> : tensor<8xbf16>
  %r = math.fma %a, %b, %c : tensor<8xbf16>
  check.eq %r, dense<[6.1e-05, 3.25, 0x7FC0, 0x7FC0, 0x7FC0, 0.0, 3.39e+38, 0.0]> : tensor<8xbf16>
  tt.return
}

tt.func public @fma_f32() {
  %a = arith.constant dense<[1.0000001, 1.5, 0x7F800000, 0x7F800000, 0x7FC00000, -0.0, 3.4028235e+38, 0.0]> : tensor<8xf32>
  %b = arith.constant dense<[1.0000001, 2.0, 0.0, 1.0, 1.0, 1.0, 2.0, 5.0]> : tensor<8xf32>
  %c = arith.constant dense<[-1.0000002, 0.25, 1.0, 0xFF800000, 1.0, 0.0, -3.4028235e+38, -0.0]> : tensor<8xf32>
  %r = math.fma %a, %b, %c : tensor<8xf32>
  check.eq %r, dense<[1.4210855e-14, 3.25, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0.0, 3.4028235e+38, 0.0]> : tensor<8xf32>
  tt.return
}

tt.func public @fma_f64() {
  %a = arith.constant dense<[1.0000000000000002, 1.5, 0x7FF0000000000000, 0x7FF0000000000000, 0x7FF8000000000000, -0.0, 1.7976931348623157e+308, 0.0]> : tensor<8xf64>
  %b = arith.constant dense<[1.0000000000000002, 2.0, 0.0, 1.0, 1.0, 1.0, 2.0, 5.0]> : tensor<8xf64>
  %c = arith.constant dense<[-1.0000000000000004, 0.25, 1.0, 0xFFF0000000000000, 1.0, 0.0, -1.7976931348623157e+308, -0.0]> : tensor<8xf64>
  %r = math.fma %a, %b, %c : tensor<8xf64>
  check.eq %r, dense<[4.930380657631324e-32, 3.25, 0xFFF8000000000000, 0xFFF8000000000000, 0x7FF8000000000000, 0.0, 1.7976931348623157e+308, 0.0]> : tensor<8xf64>
  tt.return
}

tt.func public @fma_scalar(%a: f32 {check.value = 3.0 : f32}, %b: f32 {check.value = 2.0 : f32}) {
  %r = math.fma %a, %b, %b : f32
  check.eq %r, 8.0 : f32
  tt.return
}
