// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// arith.bitcast: the same bits under another type.

tt.func public @bitcast_tile() {
  %x = arith.constant dense<[1.0, -0.0, 0x7F800000, -2.5]> : tensor<4xf32>
  %r = arith.bitcast %x : tensor<4xf32> to tensor<4xi32>
  check.eq %r, dense<[1065353216, -2147483648, 2139095040, -1071644672]> : tensor<4xi32>
  tt.return
}

tt.func public @bitcast_scalar(%x: i16 {check.value = 15360 : i16}) {
  %r = arith.bitcast %x : i16 to f16
  %i = arith.bitcast %x : i16 to i16
  check.eq %r, 1.0 : f16
  check.eq %i, 15360 : i16
  tt.return
}
