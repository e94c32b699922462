// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.descriptor_store: one block; elements outside the tensor are dropped.

tt.func public @store_inside(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>, check.after = dense<[[-1.0, -2.0, -3.0, -4.0, 5.0, 6.0, 7.0, 8.0], [-5.0, -6.0, -7.0, -8.0, 13.0, 14.0, 15.0, 16.0], [-9.0, -10.0, -11.0, -12.0, 21.0, 22.0, 23.0, 24.0], [-13.0, -14.0, -15.0, -16.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 0 : i32
  %v = arith.constant dense<[[-1.0, -2.0, -3.0, -4.0], [-5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0]]> : tensor<4x4xf32>
  tt.descriptor_store %d[%i0, %i1], %v : !tt.tensordesc<4x4xf32>, tensor<4x4xf32>
  tt.return
}

tt.func public @store_border(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>, check.after = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, -1.0, -2.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, -5.0, -6.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 3 : i32
  %i1 = arith.constant 6 : i32
  %v = arith.constant dense<[[-1.0, -2.0, -3.0, -4.0], [-5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0]]> : tensor<4x4xf32>
  tt.descriptor_store %d[%i0, %i1], %v : !tt.tensordesc<4x4xf32>, tensor<4x4xf32>
  tt.return
}

tt.func public @store_negative(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>, check.after = dense<[[-7.0, -8.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [-11.0, -12.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [-15.0, -16.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant -1 : i32
  %i1 = arith.constant -2 : i32
  %v = arith.constant dense<[[-1.0, -2.0, -3.0, -4.0], [-5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0]]> : tensor<4x4xf32>
  tt.descriptor_store %d[%i0, %i1], %v : !tt.tensordesc<4x4xf32>, tensor<4x4xf32>
  tt.return
}

tt.func public @store_far(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>, check.after = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 1000000000 : i32
  %i1 = arith.constant 0 : i32
  %v = arith.constant dense<[[-1.0, -2.0, -3.0, -4.0], [-5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0]]> : tensor<4x4xf32>
  tt.descriptor_store %d[%i0, %i1], %v : !tt.tensordesc<4x4xf32>, tensor<4x4xf32>
  tt.return
}

tt.func public @store_without_leading_dimension(%p: !tt.ptr<i32> {check.data = dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23]], [[24, 25, 26, 27, 28, 29, 30, 31], [32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47]]]> : tensor<2x3x8xi32>, check.after = dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23]], [[24, 25, 26, 27, 28, 29, 30, 31], [32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, -1, -2, -3, -4]]]> : tensor<2x3x8xi32>}) {
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
  %v = arith.constant dense<[[-1, -2, -3, -4, -5, -6, -7, -8], [-9, -10, -11, -12, -13, -14, -15, -16]]> : tensor<2x8xi32>
  tt.descriptor_store %d[%i0, %i1, %i2], %v : !tt.tensordesc<1x2x8xsi32>, tensor<2x8xi32>
  tt.return
}

tt.func public @store_over_what_was_loaded(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>, check.after = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 13.0, 14.0, 15.0, 16.0], [9.0, 10.0, 11.0, 12.0, 21.0, 22.0, 23.0, 24.0], [17.0, 18.0, 19.0, 20.0, 29.0, 30.0, 31.0, 32.0], [25.0, 26.0, 27.0, 28.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 0 : i32
  %j = arith.constant 1 : i32
  %r = tt.descriptor_load %d[%i0, %i1] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  tt.descriptor_store %d[%j, %i1], %r : !tt.tensordesc<4x4xf32>, tensor<4x4xf32>
  check.eq %r, dense<[[1.0, 2.0, 3.0, 4.0], [9.0, 10.0, 11.0, 12.0], [17.0, 18.0, 19.0, 20.0], [25.0, 26.0, 27.0, 28.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @extent_larger_than_memory(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>, check.after = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) attributes {check.trap = "descriptor.store: program (0, 0, 0), element 4 (index (1, 0)): writes 4 bytes at offset 160 of arg0 (160 bytes)"} {
  %s0 = arith.constant 6 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<2x4xf32>
  %i0 = arith.constant 4 : i32
  %i1 = arith.constant 0 : i32
  %v = arith.constant dense<[[-1.0, -2.0, -3.0, -4.0], [-5.0, -6.0, -7.0, -8.0]]> : tensor<2x4xf32>
  tt.descriptor_store %d[%i0, %i1], %v : !tt.tensordesc<2x4xf32>, tensor<2x4xf32>
  tt.return
}
