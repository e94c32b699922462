// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.broadcast: repeats along dimensions of extent 1.

tt.func public @broadcast_4x1_to_4x8_i32() {
  %x = arith.constant dense<[[1], [2], [3], [4]]> : tensor<4x1xi32>
  %r = tt.broadcast %x : tensor<4x1xi32> -> tensor<4x8xi32>
  check.eq %r, dense<[[1, 1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2], [3, 3, 3, 3, 3, 3, 3, 3], [4, 4, 4, 4, 4, 4, 4, 4]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @broadcast_4x1_to_4x8_f16() {
  %x = arith.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf16>
  %r = tt.broadcast %x : tensor<4x1xf16> -> tensor<4x8xf16>
  check.eq %r, dense<[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0], [4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]]> : tensor<4x8xf16>
  tt.return
}

tt.func public @broadcast_4x1_to_4x8_i1() {
  %x = arith.constant dense<[[false], [true], [false], [true]]> : tensor<4x1xi1>
  %r = tt.broadcast %x : tensor<4x1xi1> -> tensor<4x8xi1>
  check.eq %r, dense<[[false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true], [false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true]]> : tensor<4x8xi1>
  tt.return
}

tt.func public @broadcast_1x4_to_8x4_i32() {
  %x = arith.constant dense<[[1, 2, 3, 4]]> : tensor<1x4xi32>
  %r = tt.broadcast %x : tensor<1x4xi32> -> tensor<8x4xi32>
  check.eq %r, dense<[[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]> : tensor<8x4xi32>
  tt.return
}

tt.func public @broadcast_1x4_to_8x4_f16() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf16>
  %r = tt.broadcast %x : tensor<1x4xf16> -> tensor<8x4xf16>
  check.eq %r, dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<8x4xf16>
  tt.return
}

tt.func public @broadcast_1x4_to_8x4_i1() {
  %x = arith.constant dense<[[false, true, false, true]]> : tensor<1x4xi1>
  %r = tt.broadcast %x : tensor<1x4xi1> -> tensor<8x4xi1>
  check.eq %r, dense<[[false, true, false, true], [false, true, false, true], [false, true, false, true], [false, true, false, true], [false, true, false, true], [false, true, false, true], [false, true, false, true], [false, true, false, true]]> : tensor<8x4xi1>
  tt.return
}

tt.func public @broadcast_1x1_to_2x2_i32() {
  %x = arith.constant dense<1> : tensor<1x1xi32>
  %r = tt.broadcast %x : tensor<1x1xi32> -> tensor<2x2xi32>
  check.eq %r, dense<1> : tensor<2x2xi32>
  tt.return
}

tt.func public @broadcast_1x1_to_2x2_f16() {
  %x = arith.constant dense<1.0> : tensor<1x1xf16>
  %r = tt.broadcast %x : tensor<1x1xf16> -> tensor<2x2xf16>
  check.eq %r, dense<1.0> : tensor<2x2xf16>
  tt.return
}

tt.func public @broadcast_1x1_to_2x2_i1() {
  %x = arith.constant dense<false> : tensor<1x1xi1>
  %r = tt.broadcast %x : tensor<1x1xi1> -> tensor<2x2xi1>
  check.eq %r, dense<false> : tensor<2x2xi1>
  tt.return
}

tt.func public @broadcast_2x1x4_to_2x2x4_i32() {
  %x = arith.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xi32>
  %r = tt.broadcast %x : tensor<2x1x4xi32> -> tensor<2x2x4xi32>
  check.eq %r, dense<[[[1, 2, 3, 4], [1, 2, 3, 4]], [[5, 6, 7, 8], [5, 6, 7, 8]]]> : tensor<2x2x4xi32>
  tt.return
}

tt.func public @broadcast_2x1x4_to_2x2x4_f16() {
  %x = arith.constant dense<[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]> : tensor<2x1x4xf16>
  %r = tt.broadcast %x : tensor<2x1x4xf16> -> tensor<2x2x4xf16>
  check.eq %r, dense<[[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<2x2x4xf16>
  tt.return
}

tt.func public @broadcast_2x1x4_to_2x2x4_i1() {
  %x = arith.constant dense<[[[false, true, false, true]], [[false, true, false, true]]]> : tensor<2x1x4xi1>
  %r = tt.broadcast %x : tensor<2x1x4xi1> -> tensor<2x2x4xi1>
  check.eq %r, dense<[[[false, true, false, true], [false, true, false, true]], [[false, true, false, true], [false, true, false, true]]]> : tensor<2x2x4xi1>
  tt.return
}

tt.func public @broadcast_1_to_4_i32() {
  %x = arith.constant dense<1> : tensor<1xi32>
  %r = tt.broadcast %x : tensor<1xi32> -> tensor<4xi32>
  check.eq %r, dense<1> : tensor<4xi32>
  tt.return
}

tt.func public @broadcast_1_to_4_f16() {
  %x = arith.constant dense<1.0> : tensor<1xf16>
  %r = tt.broadcast %x : tensor<1xf16> -> tensor<4xf16>
  check.eq %r, dense<1.0> : tensor<4xf16>
  tt.return
}

tt.func public @broadcast_1_to_4_i1() {
  %x = arith.constant dense<false> : tensor<1xi1>
  %r = tt.broadcast %x : tensor<1xi1> -> tensor<4xi1>
  check.eq %r, dense<false> : tensor<4xi1>
  tt.return
}

tt.func public @broadcast_1x2x1_to_4x2x2_i32() {
  %x = arith.constant dense<[[[1], [2]]]> : tensor<1x2x1xi32>
  %r = tt.broadcast %x : tensor<1x2x1xi32> -> tensor<4x2x2xi32>
  check.eq %r, dense<[[[1, 1], [2, 2]], [[1, 1], [2, 2]], [[1, 1], [2, 2]], [[1, 1], [2, 2]]]> : tensor<4x2x2xi32>
  tt.return
}

tt.func public @broadcast_1x2x1_to_4x2x2_f16() {
  %x = arith.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf16>
  %r = tt.broadcast %x : tensor<1x2x1xf16> -> tensor<4x2x2xf16>
  check.eq %r, dense<[[[1.0, 1.0], [2.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]]]> : tensor<4x2x2xf16>
  tt.return
}

tt.func public @broadcast_1x2x1_to_4x2x2_i1() {
  %x = arith.constant dense<[[[false], [true]]]> : tensor<1x2x1xi1>
  %r = tt.broadcast %x : tensor<1x2x1xi1> -> tensor<4x2x2xi1>
  check.eq %r, dense<[[[false, false], [true, true]], [[false, false], [true, true]], [[false, false], [true, true]], [[false, false], [true, true]]]> : tensor<4x2x2xi1>
  tt.return
}

tt.func public @broadcast_and_add() {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %r = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %c = tt.expand_dims %i {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %rr = tt.broadcast %r : tensor<4x1xi32> -> tensor<4x4xi32>
  %cc = tt.broadcast %c : tensor<1x4xi32> -> tensor<4x4xi32>
  %m = arith.muli %rr, %cc : tensor<4x4xi32>
  %s = arith.addi %rr, %cc : tensor<4x4xi32>
  %l = arith.cmpi slt, %rr, %cc : tensor<4x4xi32>
  check.eq %m, dense<[[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 4, 6], [0, 3, 6, 9]]> : tensor<4x4xi32>
  check.eq %s, dense<[[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]> : tensor<4x4xi32>
  check.eq %l, dense<[[false, true, true, true], [false, false, true, true], [false, false, false, true], [false, false, false, false]]> : tensor<4x4xi1>
  tt.return
}
