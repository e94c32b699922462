// RUN: tiletwin-exec %s --backend=interp
// arith.cmpf: ordered predicates are false and unordered ones true if an operand is NaN. Here: equal and greater.

tt.func public @oeq_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf oeq, %x, %y : tensor<8xf16>
  check.eq %r, dense<[true, false, false, false, false, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @oeq_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf oeq, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[true, false, false, false, false, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @oeq_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf oeq, %x, %y : tensor<8xf32>
  check.eq %r, dense<[true, false, false, false, false, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @oeq_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf oeq, %x, %y : tensor<8xf64>
  check.eq %r, dense<[true, false, false, false, false, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @oeq_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf oeq, %x, %y : f32
  %q = arith.cmpf oeq, %x, %x : f32
  check.eq %r, false
  check.eq %q, true
  tt.return
}

tt.func public @ueq_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf ueq, %x, %y : tensor<8xf16>
  check.eq %r, dense<[true, false, false, true, true, true, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ueq_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf ueq, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[true, false, false, true, true, true, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ueq_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf ueq, %x, %y : tensor<8xf32>
  check.eq %r, dense<[true, false, false, true, true, true, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ueq_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf ueq, %x, %y : tensor<8xf64>
  check.eq %r, dense<[true, false, false, true, true, true, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ueq_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf ueq, %x, %y : f32
  %q = arith.cmpf ueq, %x, %x : f32
  check.eq %r, true
  check.eq %q, true
  tt.return
}

tt.func public @ogt_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf ogt, %x, %y : tensor<8xf16>
  check.eq %r, dense<[false, false, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ogt_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf ogt, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[false, false, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ogt_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf ogt, %x, %y : tensor<8xf32>
  check.eq %r, dense<[false, false, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ogt_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf ogt, %x, %y : tensor<8xf64>
  check.eq %r, dense<[false, false, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ogt_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf ogt, %x, %y : f32
  %q = arith.cmpf ogt, %x, %x : f32
  check.eq %r, false
  check.eq %q, false
  tt.return
}

tt.func public @ugt_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf ugt, %x, %y : tensor<8xf16>
  check.eq %r, dense<[false, false, true, true, true, true, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf ugt, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[false, false, true, true, true, true, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf ugt, %x, %y : tensor<8xf32>
  check.eq %r, dense<[false, false, true, true, true, true, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf ugt, %x, %y : tensor<8xf64>
  check.eq %r, dense<[false, false, true, true, true, true, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf ugt, %x, %y : f32
  %q = arith.cmpf ugt, %x, %x : f32
  check.eq %r, true
  check.eq %q, false
  tt.return
}

tt.func public @oge_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf oge, %x, %y : tensor<8xf16>
  check.eq %r, dense<[true, false, true, false, false, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @oge_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf oge, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[true, false, true, false, false, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @oge_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf oge, %x, %y : tensor<8xf32>
  check.eq %r, dense<[true, false, true, false, false, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @oge_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf oge, %x, %y : tensor<8xf64>
  check.eq %r, dense<[true, false, true, false, false, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @oge_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf oge, %x, %y : f32
  %q = arith.cmpf oge, %x, %x : f32
  check.eq %r, false
  check.eq %q, true
  tt.return
}

tt.func public @uge_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf uge, %x, %y : tensor<8xf16>
  check.eq %r, dense<[true, false, true, true, true, true, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf uge, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[true, false, true, true, true, true, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf uge, %x, %y : tensor<8xf32>
  check.eq %r, dense<[true, false, true, true, true, true, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf uge, %x, %y : tensor<8xf64>
  check.eq %r, dense<[true, false, true, true, true, true, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf uge, %x, %y : f32
  %q = arith.cmpf uge, %x, %x : f32
  check.eq %r, true
  check.eq %q, true
  tt.return
}
