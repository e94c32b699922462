// RUN: tiletwin-exec %s --backend=interp
// tt.clampf: minimum(maximum(x, min), max); propagateNan says what a NaN in x gives.

tt.func public @clampf_none_f16() {
  %x = arith.constant dense<[-2.0, 0.5, 2.0, 0x7E00, 0x7C00, 0xFC00, 1.0, -1.0]> : tensor<8xf16>
  %lo = arith.constant dense<-1.0> : tensor<8xf16>
  %hi = arith.constant dense<1.0> : tensor<8xf16>
  %r = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<8xf16>
  check.eq %r, dense<[-1.0, 0.5, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]> : tensor<8xf16>
  tt.return
}

tt.func public @clampf_all_f16() {
  %x = arith.constant dense<[-2.0, 0.5, 2.0, 0x7E00, 0x7C00, 0xFC00, 1.0, -1.0]> : tensor<8xf16>
  %lo = arith.constant dense<-1.0> : tensor<8xf16>
  %hi = arith.constant dense<1.0> : tensor<8xf16>
  %r = tt.clampf %x, %lo, %hi, propagateNan = all : tensor<8xf16>
  check.eq %r, dense<[-1.0, 0.5, 1.0, 0x7E00, 1.0, -1.0, 1.0, -1.0]> : tensor<8xf16>
  tt.return
}

tt.func public @clampf_none_bf16() {
  %x = arith.constant dense<[-2.0, 0.5, 2.0, 0x7FC0, 0x7F80, 0xFF80, 1.0, -1.0]> : tensor<8xbf16>
  %lo = arith.constant dense<-1.0> : tensor<8xbf16>
  %hi = arith.constant dense<1.0> : tensor<8xbf16>
  %r = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<8xbf16>
  check.eq %r, dense<[-1.0, 0.5, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]> : tensor<8xbf16>
  tt.return
}

tt.func public @clampf_all_bf16() {
  %x = arith.constant dense<[-2.0, 0.5, 2.0, 0x7FC0, 0x7F80, 0xFF80, 1.0, -1.0]> : tensor<8xbf16>
  %lo = arith.constant dense<-1.0> : tensor<8xbf16>
  %hi = arith.constant dense<1.0> : tensor<8xbf16>
  %r = tt.clampf %x, %lo, %hi, propagateNan = all : tensor<8xbf16>
  check.eq %r, dense<[-1.0, 0.5, 1.0, 0x7FC0, 1.0, -1.0, 1.0, -1.0]> : tensor<8xbf16>
  tt.return
}

tt.func public @clampf_none_f32() {
  %x = arith.constant dense<[-2.0, 0.5, 2.0, 0x7FC00000, 0x7F800000, 0xFF800000, 1.0, -1.0]> : tensor<8xf32>
  %lo = arith.constant dense<-1.0> : tensor<8xf32>
  %hi = arith.constant dense<1.0> : tensor<8xf32>
  %r = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<8xf32>
  check.eq %r, dense<[-1.0, 0.5, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]> : tensor<8xf32>
  tt.return
}

tt.func public @clampf_all_f32() {
  %x = arith.constant dense<[-2.0, 0.5, 2.0, 0x7FC00000, 0x7F800000, 0xFF800000, 1.0, -1.0]> : tensor<8xf32>
  %lo = arith.constant dense<-1.0> : tensor<8xf32>
  %hi = arith.constant dense<1.0> : tensor<8xf32>
  %r = tt.clampf %x, %lo, %hi, propagateNan = all : tensor<8xf32>
  check.eq %r, dense<[-1.0, 0.5, 1.0, 0x7FC00000, 1.0, -1.0, 1.0, -1.0]> : tensor<8xf32>
  tt.return
}

tt.func public @clampf_none_f64() {
  %x = arith.constant dense<[-2.0, 0.5, 2.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 1.0, -1.0]> : tensor<8xf64>
  %lo = arith.constant dense<-1.0> : tensor<8xf64>
  %hi = arith.constant dense<1.0> : tensor<8xf64>
  %r = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<8xf64>
  check.eq %r, dense<[-1.0, 0.5, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]> : tensor<8xf64>
  tt.return
}

tt.func public @clampf_all_f64() {
  %x = arith.constant dense<[-2.0, 0.5, 2.0, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 1.0, -1.0]> : tensor<8xf64>
  %lo = arith.constant dense<-1.0> : tensor<8xf64>
  %hi = arith.constant dense<1.0> : tensor<8xf64>
  %r = tt.clampf %x, %lo, %hi, propagateNan = all : tensor<8xf64>
  check.eq %r, dense<[-1.0, 0.5, 1.0, 0x7FF8000000000000, 1.0, -1.0, 1.0, -1.0]> : tensor<8xf64>
  tt.return
}

tt.func public @clampf_scalar(%x: f32 {check.value = 3.0 : f32}, %lo: f32 {check.value = -1.0 : f32}) {
  %r = tt.clampf %x, %lo, %x, propagateNan = none : f32
  check.eq %r, 3.0 : f32
  tt.return
}
