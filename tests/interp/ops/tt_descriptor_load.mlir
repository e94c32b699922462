// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.descriptor_load: one block; elements outside the tensor are the descriptor's padding.

tt.func public @load_inside_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 0 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[1.0, 2.0, 3.0, 4.0], [9.0, 10.0, 11.0, 12.0], [17.0, 18.0, 19.0, 20.0], [25.0, 26.0, 27.0, 28.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_inside_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 0 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[1.0, 2.0, 3.0, 4.0], [9.0, 10.0, 11.0, 12.0], [17.0, 18.0, 19.0, 20.0], [25.0, 26.0, 27.0, 28.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_border_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 3 : i32
  %i1 = arith.constant 4 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[29.0, 30.0, 31.0, 32.0], [37.0, 38.0, 39.0, 40.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_border_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 3 : i32
  %i1 = arith.constant 4 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[29.0, 30.0, 31.0, 32.0], [37.0, 38.0, 39.0, 40.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_negative_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant -1 : i32
  %i1 = arith.constant -2 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 9.0, 10.0], [0.0, 0.0, 17.0, 18.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_negative_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant -1 : i32
  %i1 = arith.constant -2 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 1.0, 2.0], [0x7FC00000, 0x7FC00000, 9.0, 10.0], [0x7FC00000, 0x7FC00000, 17.0, 18.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_far_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 1000000000 : i32
  %i1 = arith.constant 0 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_far_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 1000000000 : i32
  %i1 = arith.constant 0 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_lowest_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant -2147483648 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_lowest_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant -2147483648 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @load_without_leading_dimension_first(%p: !tt.ptr<i32> {check.data = dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23]], [[24, 25, 26, 27, 28, 29, 30, 31], [32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47]]]> : tensor<2x3x8xi32>}) {
  %s0 = arith.constant 2 : i32
  %s1 = arith.constant 3 : i32
  %s2 = arith.constant 8 : i32
  %t0 = arith.constant 24 : i64
  %t1 = arith.constant 8 : i64
  %t2 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1, %s2], [%t0, %t1, %t2] : !tt.ptr<i32>, !tt.tensordesc<1x2x8xsi32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 0 : i32
  %i2 = arith.constant 0 : i32
  %r = tt.descriptor_load %d[%i0, %i1, %i2] : !tt.tensordesc<1x2x8xsi32> -> tensor<2x8xi32>
  check.eq %r, dense<[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @load_without_leading_dimension_second(%p: !tt.ptr<i32> {check.data = dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23]], [[24, 25, 26, 27, 28, 29, 30, 31], [32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47]]]> : tensor<2x3x8xi32>}) {
  %s0 = arith.constant 2 : i32
  %s1 = arith.constant 3 : i32
  %s2 = arith.constant 8 : i32
  %t0 = arith.constant 24 : i64
  %t1 = arith.constant 8 : i64
  %t2 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1, %s2], [%t0, %t1, %t2] : !tt.ptr<i32>, !tt.tensordesc<1x2x8xsi32>
  %i0 = arith.constant 1 : i32
  %i1 = arith.constant 2 : i32
  %i2 = arith.constant 4 : i32
  %r = tt.descriptor_load %d[%i0, %i1, %i2] : !tt.tensordesc<1x2x8xsi32> -> tensor<2x8xi32>
  check.eq %r, dense<[[44, 45, 46, 47, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @load_without_leading_dimension_outside_in_the_absent_dimension(%p: !tt.ptr<i32> {check.data = dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23]], [[24, 25, 26, 27, 28, 29, 30, 31], [32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47]]]> : tensor<2x3x8xi32>}) {
  %s0 = arith.constant 2 : i32
  %s1 = arith.constant 3 : i32
  %s2 = arith.constant 8 : i32
  %t0 = arith.constant 24 : i64
  %t1 = arith.constant 8 : i64
  %t2 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1, %s2], [%t0, %t1, %t2] : !tt.ptr<i32>, !tt.tensordesc<1x2x8xsi32>
  %i0 = arith.constant 2 : i32
  %i1 = arith.constant 0 : i32
  %i2 = arith.constant 0 : i32
  %r = tt.descriptor_load %d[%i0, %i1, %i2] : !tt.tensordesc<1x2x8xsi32> -> tensor<2x8xi32>
  check.eq %r, dense<[[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @load_without_leading_dimension_before_in_the_absent_dimension(%p: !tt.ptr<i32> {check.data = dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23]], [[24, 25, 26, 27, 28, 29, 30, 31], [32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47]]]> : tensor<2x3x8xi32>}) {
  %s0 = arith.constant 2 : i32
  %s1 = arith.constant 3 : i32
  %s2 = arith.constant 8 : i32
  %t0 = arith.constant 24 : i64
  %t1 = arith.constant 8 : i64
  %t2 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1, %s2], [%t0, %t1, %t2] : !tt.ptr<i32>, !tt.tensordesc<1x2x8xsi32>
  %i0 = arith.constant -1 : i32
  %i1 = arith.constant 0 : i32
  %i2 = arith.constant 0 : i32
  %r = tt.descriptor_load %d[%i0, %i1, %i2] : !tt.tensordesc<1x2x8xsi32> -> tensor<2x8xi32>
  check.eq %r, dense<[[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @load_rank_1(%p: !tt.ptr<i16> {check.data = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]> : tensor<11xi16>}) {
  %s0 = arith.constant 11 : i32
  %t0 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0], [%t0] : !tt.ptr<i16>, !tt.tensordesc<8xui16>
  %i0 = arith.constant 5 : i32
  %r = tt.descriptor_load %d[%i0] : !tt.tensordesc<8xui16> -> tensor<8xi16>
  check.eq %r, dense<[5, 6, 7, 8, 9, 10, 0, 0]> : tensor<8xi16>
  tt.return
}

tt.func public @load_rank_4(%p: !tt.ptr<i16> {check.data = dense<[[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]], [[16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]]], [[[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47]], [[48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]]> : tensor<2x2x2x8xi16>}) {
  %s0 = arith.constant 2 : i32
  %s1 = arith.constant 2 : i32
  %s2 = arith.constant 2 : i32
  %s3 = arith.constant 8 : i32
  %t0 = arith.constant 32 : i64
  %t1 = arith.constant 16 : i64
  %t2 = arith.constant 8 : i64
  %t3 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1, %s2, %s3], [%t0, %t1, %t2, %t3] : !tt.ptr<i16>, !tt.tensordesc<1x2x2x8xui16>
  %i0 = arith.constant 1 : i32
  %i1 = arith.constant 1 : i32
  %i2 = arith.constant 0 : i32
  %i3 = arith.constant 4 : i32
  %r = tt.descriptor_load %d[%i0, %i1, %i2, %i3] : !tt.tensordesc<1x2x2x8xui16> -> tensor<1x2x2x8xi16>
  check.eq %r, dense<[[[[52, 53, 54, 55, 0, 0, 0, 0], [60, 61, 62, 63, 0, 0, 0, 0]], [[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]]]> : tensor<1x2x2x8xi16>
  tt.return
}

tt.func public @load_rank_5(%p: !tt.ptr<i16> {check.data = dense<[[[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]], [[16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]]], [[[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47]], [[48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]], [[[[64, 65, 66, 67, 68, 69, 70, 71], [72, 73, 74, 75, 76, 77, 78, 79]], [[80, 81, 82, 83, 84, 85, 86, 87], [88, 89, 90, 91, 92, 93, 94, 95]]], [[[96, 97, 98, 99, 100, 101, 102, 103], [104, 105, 106, 107, 108, 109, 110, 111]], [[112, 113, 114, 115, 116, 117, 118, 119], [120, 121, 122, 123, 124, 125, 126, 127]]]], [[[[128, 129, 130, 131, 132, 133, 134, 135], [136, 137, 138, 139, 140, 141, 142, 143]], [[144, 145, 146, 147, 148, 149, 150, 151], [152, 153, 154, 155, 156, 157, 158, 159]]], [[[160, 161, 162, 163, 164, 165, 166, 167], [168, 169, 170, 171, 172, 173, 174, 175]], [[176, 177, 178, 179, 180, 181, 182, 183], [184, 185, 186, 187, 188, 189, 190, 191]]]]]> : tensor<3x2x2x2x8xi16>}) {
  %s0 = arith.constant 3 : i32
  %s1 = arith.constant 2 : i32
  %s2 = arith.constant 2 : i32
  %s3 = arith.constant 2 : i32
  %s4 = arith.constant 8 : i32
  %t0 = arith.constant 64 : i64
  %t1 = arith.constant 32 : i64
  %t2 = arith.constant 16 : i64
  %t3 = arith.constant 8 : i64
  %t4 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1, %s2, %s3, %s4], [%t0, %t1, %t2, %t3, %t4] : !tt.ptr<i16>, !tt.tensordesc<2x1x2x2x8xui16>
  %i0 = arith.constant -1 : i32
  %i1 = arith.constant 1 : i32
  %i2 = arith.constant 1 : i32
  %i3 = arith.constant 0 : i32
  %i4 = arith.constant 4 : i32
  %r = tt.descriptor_load %d[%i0, %i1, %i2, %i3, %i4] : !tt.tensordesc<2x1x2x2x8xui16> -> tensor<2x1x2x2x8xi16>
  check.eq %r, dense<[[[[[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]], [[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]]], [[[[52, 53, 54, 55, 0, 0, 0, 0], [60, 61, 62, 63, 0, 0, 0, 0]], [[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]]]]> : tensor<2x1x2x2x8xi16>
  tt.return
}

tt.func public @extent_larger_than_memory(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) attributes {check.trap = "descriptor.load: program (0, 0, 0), element 40 (index (5, 0)): reads 4 bytes at offset 160 of arg0 (160 bytes)"} {
  %s0 = arith.constant 6 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<8x8xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 0 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<8x8xf32> -> tensor<8x8xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<8x8xf32>
  tt.return
}
