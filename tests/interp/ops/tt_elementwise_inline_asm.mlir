// RUN: tiletwin-exec %s --backend=interp
// tt.elementwise_inline_asm: PTX over the elements of tiles.

tt.func public @add() {
  %x = arith.constant dense<[1, -1, 2147483647, 7]> : tensor<4xi32>
  %y = arith.constant dense<[1, -1, 1, -7]> : tensor<4xi32>
  %r = tt.elementwise_inline_asm "add.s32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %x, %y : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  check.eq %r, dense<[2, -2, -2147483648, 0]> : tensor<4xi32>
  tt.return
}

tt.func public @two_results() {
  %x = arith.constant dense<[65535, 65536, -1, 305419896]> : tensor<4xi32>
  %r:2 = tt.elementwise_inline_asm "and.b32 $0, $2, 0xffff; shr.u32 $1, $2, 16;" {constraints = "=r,=r,r", packed_element = 1 : i32, pure = true} %x : tensor<4xi32> -> tensor<4xi32>, tensor<4xi32>
  check.eq %r#0, dense<[65535, 0, 65535, 22136]> : tensor<4xi32>
  check.eq %r#1, dense<[0, 1, 65535, 4660]> : tensor<4xi32>
  tt.return
}

// Four bytes in a register; a pack that is half empty.
tt.func public @pack_of_four() {
  %x = arith.constant dense<[-128, 5]> : tensor<2xi8>
  %r = tt.elementwise_inline_asm "not.b32 $0, $1;" {constraints = "=r,r", packed_element = 4 : i32, pure = false} %x : tensor<2xi8> -> tensor<2xi8>
  check.eq %r, dense<[127, -6]> : tensor<2xi8>
  tt.return
}

// The first operand of a packed conversion is the upper half.
tt.func public @convert_pairs() {
  %x = arith.constant dense<[1.0, 65520.0, -0.0, 1.0e-08]> : tensor<4xf32>
  %r = tt.elementwise_inline_asm "cvt.rn.f16x2.f32 $0, $2, $1;" {constraints = "=r,f,f", packed_element = 2 : i32, pure = true} %x : tensor<4xf32> -> tensor<4xf16>
  check.eq %r, dense<[1.0, 0x7C00, -0.0, 0.0]> : tensor<4xf16>
  tt.return
}

tt.func public @predicates() {
  %x = arith.constant dense<[-5, 0, 5, 100]> : tensor<4xi32>
  %r = tt.elementwise_inline_asm "{ .reg .pred p, q; setp.gt.s32 p|q, $1, 0; @p mul.lo.s32 $0, $1, 2; @q neg.s32 $0, $1; }" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<4xi32> -> tensor<4xi32>
  check.eq %r, dense<[5, 0, 10, 200]> : tensor<4xi32>
  tt.return
}

tt.func public @scalar(%x: f32 {check.value = 3.0 : f32}) {
  %r = tt.elementwise_inline_asm "fma.rn.f32 $0, $1, $1, 0f3F000000;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : f32 -> f32
  check.eq %r, 9.5 : f32
  tt.return
}

tt.func public @unknown(%x: i32 {check.value = 1 : i32}) attributes {check.error = "line 2 of the text (`mma.sync;`): `mma.sync` is not an instruction that runs on the CPU"} {
  %r = tt.elementwise_inline_asm "mov.b32 $0, $1;\0A  mma.sync;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : i32 -> i32
  check.eq %r, 1 : i32
  tt.return
}
