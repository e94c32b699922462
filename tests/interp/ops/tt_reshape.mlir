// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reshape: row-major order stays, with allow_reorder too.

tt.func public @reshape_4x8_to_32() {
  %x = arith.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]]> : tensor<4x8xi32>
  %r = tt.reshape %x : tensor<4x8xi32> -> tensor<32xi32>
  check.eq %r, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  tt.return
}

tt.func public @reshape_32_to_2x4x4() {
  %x = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %r = tt.reshape %x : tensor<32xi32> -> tensor<2x4x4xi32>
  check.eq %r, dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]], [[16, 17, 18, 19], [20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]]> : tensor<2x4x4xi32>
  tt.return
}

tt.func public @reshape_2x4x4_to_8x4() {
  %x = arith.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]], [[16, 17, 18, 19], [20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]]> : tensor<2x4x4xi32>
  %r = tt.reshape %x : tensor<2x4x4xi32> -> tensor<8x4xi32>
  check.eq %r, dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<8x4xi32>
  tt.return
}

tt.func public @reshape_1_to_1x1() {
  %x = arith.constant dense<0> : tensor<1xi32>
  %r = tt.reshape %x : tensor<1xi32> -> tensor<1x1xi32>
  check.eq %r, dense<0> : tensor<1x1xi32>
  tt.return
}

tt.func public @reshape_16_to_16x1() {
  %x = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi32>
  %r = tt.reshape %x : tensor<16xi32> -> tensor<16x1xi32>
  check.eq %r, dense<[[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11], [12], [13], [14], [15]]> : tensor<16x1xi32>
  tt.return
}

tt.func public @reshape_allow_reorder() {
  %x = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0], [24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0]]> : tensor<4x8xf16>
  %r = tt.reshape %x allow_reorder : tensor<4x8xf16> -> tensor<32xf16>
  check.eq %r, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0]> : tensor<32xf16>
  tt.return
}

tt.func public @reshape_of_a_range() {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %r = tt.reshape %i : tensor<8xi32> -> tensor<2x4xi32>
  check.eq %r, dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi32>
  tt.return
}

tt.func public @reshape_of_a_transposed_tile() {
  %x = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi32>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>
  %r = tt.reshape %t : tensor<4x2xi32> -> tensor<8xi32>
  check.eq %r, dense<[0, 4, 1, 5, 2, 6, 3, 7]> : tensor<8xi32>
  tt.return
}

tt.func public @reshape_of_a_broadcast_tile() {
  %x = arith.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %t = tt.broadcast %x : tensor<2x1xi32> -> tensor<2x4xi32>
  %r = tt.reshape %t : tensor<2x4xi32> -> tensor<8xi32>
  check.eq %r, dense<[0, 0, 0, 0, 1, 1, 1, 1]> : tensor<8xi32>
  tt.return
}
