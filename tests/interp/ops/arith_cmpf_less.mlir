// RUN: tiletwin-exec %s --backend=interp
// arith.cmpf: the predicates for less, not equal, ordered and unordered (arith_cmpf.mlir has the others).

tt.func public @olt_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf olt, %x, %y : tensor<8xf16>
  check.eq %r, dense<[false, true, false, false, false, false, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @olt_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf olt, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[false, true, false, false, false, false, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @olt_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf olt, %x, %y : tensor<8xf32>
  check.eq %r, dense<[false, true, false, false, false, false, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @olt_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf olt, %x, %y : tensor<8xf64>
  check.eq %r, dense<[false, true, false, false, false, false, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @olt_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf olt, %x, %y : f32
  %q = arith.cmpf olt, %x, %x : f32
  check.eq %r, false
  check.eq %q, false
  tt.return
}

tt.func public @ult_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf ult, %x, %y : tensor<8xf16>
  check.eq %r, dense<[false, true, false, true, true, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf ult, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[false, true, false, true, true, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf ult, %x, %y : tensor<8xf32>
  check.eq %r, dense<[false, true, false, true, true, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf ult, %x, %y : tensor<8xf64>
  check.eq %r, dense<[false, true, false, true, true, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf ult, %x, %y : f32
  %q = arith.cmpf ult, %x, %x : f32
  check.eq %r, true
  check.eq %q, false
  tt.return
}

tt.func public @ole_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf ole, %x, %y : tensor<8xf16>
  check.eq %r, dense<[true, true, false, false, false, false, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ole_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf ole, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[true, true, false, false, false, false, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ole_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf ole, %x, %y : tensor<8xf32>
  check.eq %r, dense<[true, true, false, false, false, false, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ole_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf ole, %x, %y : tensor<8xf64>
  check.eq %r, dense<[true, true, false, false, false, false, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ole_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf ole, %x, %y : f32
  %q = arith.cmpf ole, %x, %x : f32
  check.eq %r, false
  check.eq %q, true
  tt.return
}

tt.func public @ule_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf ule, %x, %y : tensor<8xf16>
  check.eq %r, dense<[true, true, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf ule, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[true, true, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf ule, %x, %y : tensor<8xf32>
  check.eq %r, dense<[true, true, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf ule, %x, %y : tensor<8xf64>
  check.eq %r, dense<[true, true, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf ule, %x, %y : f32
  %q = arith.cmpf ule, %x, %x : f32
  check.eq %r, true
  check.eq %q, true
  tt.return
}

tt.func public @one_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf one, %x, %y : tensor<8xf16>
  check.eq %r, dense<[false, true, true, false, false, false, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @one_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf one, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[false, true, true, false, false, false, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @one_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf one, %x, %y : tensor<8xf32>
  check.eq %r, dense<[false, true, true, false, false, false, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @one_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf one, %x, %y : tensor<8xf64>
  check.eq %r, dense<[false, true, true, false, false, false, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @one_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf one, %x, %y : f32
  %q = arith.cmpf one, %x, %x : f32
  check.eq %r, false
  check.eq %q, false
  tt.return
}

tt.func public @une_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf une, %x, %y : tensor<8xf16>
  check.eq %r, dense<[false, true, true, true, true, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @une_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf une, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[false, true, true, true, true, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @une_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf une, %x, %y : tensor<8xf32>
  check.eq %r, dense<[false, true, true, true, true, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @une_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf une, %x, %y : tensor<8xf64>
  check.eq %r, dense<[false, true, true, true, true, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @une_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf une, %x, %y : f32
  %q = arith.cmpf une, %x, %x : f32
  check.eq %r, true
  check.eq %q, false
  tt.return
}

tt.func public @ord_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf ord, %x, %y : tensor<8xf16>
  check.eq %r, dense<[true, true, true, false, false, false, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ord_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf ord, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[true, true, true, false, false, false, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ord_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf ord, %x, %y : tensor<8xf32>
  check.eq %r, dense<[true, true, true, false, false, false, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ord_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf ord, %x, %y : tensor<8xf64>
  check.eq %r, dense<[true, true, true, false, false, false, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ord_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf ord, %x, %y : f32
  %q = arith.cmpf ord, %x, %x : f32
  check.eq %r, false
  check.eq %q, true
  tt.return
}

tt.func public @uno_f16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7E00, 1.0, 0x7E00, 0x7C00, 0xFC00]> : tensor<8xf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7E00, 0x7E00, 0x7C00, 6.0e-08]> : tensor<8xf16>
  %r = arith.cmpf uno, %x, %y : tensor<8xf16>
  check.eq %r, dense<[false, false, false, true, true, true, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uno_bf16() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC0, 1.0, 0x7FC0, 0x7F80, 0xFF80]> : tensor<8xbf16>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC0, 0x7FC0, 0x7F80, 9.2e-41]> : tensor<8xbf16>
  %r = arith.cmpf uno, %x, %y : tensor<8xbf16>
  check.eq %r, dense<[false, false, false, true, true, true, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uno_f32() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<8xf32>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.4e-45]> : tensor<8xf32>
  %r = arith.cmpf uno, %x, %y : tensor<8xf32>
  check.eq %r, dense<[false, false, false, true, true, true, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uno_f64() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 0x7FF8000000000000, 1.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<8xf64>
  %y = arith.constant dense<[-0.0, 2.0, 1.0, 1.0, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 5.0e-324]> : tensor<8xf64>
  %r = arith.cmpf uno, %x, %y : tensor<8xf64>
  check.eq %r, dense<[false, false, false, true, true, true, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uno_scalar(%x: f32 {check.value = 1.0 : f32}, %y: f32 {check.value = 0x7FC00000 : f32}) {
  %r = arith.cmpf uno, %x, %y : f32
  %q = arith.cmpf uno, %x, %x : f32
  check.eq %r, true
  check.eq %q, false
  tt.return
}
