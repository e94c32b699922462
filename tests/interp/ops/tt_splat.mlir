// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.splat: one value everywhere; tt.unsplat: the only element.

tt.func public @splat_i1(%x: i1 {check.value = true}) {
  %r = tt.splat %x : i1 -> tensor<2x4xi1>
  check.eq %r, dense<true> : tensor<2x4xi1>
  tt.return
}

tt.func public @splat_i8(%x: i8 {check.value = -5 : i8}) {
  %r = tt.splat %x : i8 -> tensor<2x4xi8>
  check.eq %r, dense<-5> : tensor<2x4xi8>
  tt.return
}

tt.func public @splat_i16(%x: i16 {check.value = 300 : i16}) {
  %r = tt.splat %x : i16 -> tensor<2x4xi16>
  check.eq %r, dense<300> : tensor<2x4xi16>
  tt.return
}

tt.func public @splat_i32(%x: i32 {check.value = -1 : i32}) {
  %r = tt.splat %x : i32 -> tensor<2x4xi32>
  check.eq %r, dense<-1> : tensor<2x4xi32>
  tt.return
}

tt.func public @splat_i64(%x: i64 {check.value = 1099511627776 : i64}) {
  %r = tt.splat %x : i64 -> tensor<2x4xi64>
  check.eq %r, dense<1099511627776> : tensor<2x4xi64>
  tt.return
}

tt.func public @splat_f16(%x: f16 {check.value = 1.5 : f16}) {
  %r = tt.splat %x : f16 -> tensor<2x4xf16>
  check.eq %r, dense<1.5> : tensor<2x4xf16>
  tt.return
}

tt.func public @splat_bf16(%x: bf16 {check.value = -2.0 : bf16}) {
  %r = tt.splat %x : bf16 -> tensor<2x4xbf16>
  check.eq %r, dense<-2.0> : tensor<2x4xbf16>
  tt.return
}

tt.func public @splat_f32(%x: f32 {check.value = 0.1 : f32}) {
  %r = tt.splat %x : f32 -> tensor<2x4xf32>
  check.eq %r, dense<0.1> : tensor<2x4xf32>
  tt.return
}

tt.func public @splat_f64(%x: f64 {check.value = 0x7FF8000000000000 : f64}) {
  %r = tt.splat %x : f64 -> tensor<2x4xf64>
  check.eq %r, dense<0x7FF8000000000000> : tensor<2x4xf64>
  tt.return
}

tt.func public @splat_f8E5M2(%x: f8E5M2 {check.value = 1.5 : f8E5M2}) {
  %r = tt.splat %x : f8E5M2 -> tensor<2x4xf8E5M2>
  check.eq %r, dense<1.5> : tensor<2x4xf8E5M2>
  tt.return
}

tt.func public @unsplat() {
  %x = arith.constant dense<7> : tensor<1x1xi32>
  %r = tt.unsplat %x : tensor<1x1xi32>
  check.eq %r, 7 : i32
  tt.return
}

tt.func public @unsplat_of_i1(%x: i1 {check.value = true}) {
  %t = tt.splat %x : i1 -> tensor<1xi1>
  %r = tt.unsplat %t : tensor<1xi1>
  check.eq %r, true
  tt.return
}

tt.func public @unsplat_of_f16() {
  %x = arith.constant dense<1.5> : tensor<1xf16>
  %r = tt.unsplat %x : tensor<1xf16>
  check.eq %r, 1.5 : f16
  tt.return
}
