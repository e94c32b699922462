// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.descriptor_gather: rows by number; rows and columns outside the tensor are the descriptor's padding.

tt.func public @gather_i16_inside_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant 0 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[33.0, 34.0, 35.0, 36.0], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [17.0, 18.0, 19.0, 20.0], [17.0, 18.0, 19.0, 20.0], [0.0, 0.0, 0.0, 0.0], [25.0, 26.0, 27.0, 28.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_inside_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant 0 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[33.0, 34.0, 35.0, 36.0], [1.0, 2.0, 3.0, 4.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [17.0, 18.0, 19.0, 20.0], [17.0, 18.0, 19.0, 20.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [25.0, 26.0, 27.0, 28.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_border_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant 6 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[39.0, 40.0, 0.0, 0.0], [7.0, 8.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [23.0, 24.0, 0.0, 0.0], [23.0, 24.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [31.0, 32.0, 0.0, 0.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_border_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant 6 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[39.0, 40.0, 0x7FC00000, 0x7FC00000], [7.0, 8.0, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [23.0, 24.0, 0x7FC00000, 0x7FC00000], [23.0, 24.0, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [31.0, 32.0, 0x7FC00000, 0x7FC00000]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_negative_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant -3 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 33.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 17.0], [0.0, 0.0, 0.0, 17.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 25.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_negative_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant -3 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 33.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 1.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 17.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 17.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 25.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_outside_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant 8 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_outside_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant 8 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_before_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant -4 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i16_before_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi16>
  %c = arith.constant -4 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi16>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_inside_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant 0 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[33.0, 34.0, 35.0, 36.0], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [17.0, 18.0, 19.0, 20.0], [17.0, 18.0, 19.0, 20.0], [0.0, 0.0, 0.0, 0.0], [25.0, 26.0, 27.0, 28.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_inside_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant 0 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[33.0, 34.0, 35.0, 36.0], [1.0, 2.0, 3.0, 4.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [17.0, 18.0, 19.0, 20.0], [17.0, 18.0, 19.0, 20.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [25.0, 26.0, 27.0, 28.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_border_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant 6 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[39.0, 40.0, 0.0, 0.0], [7.0, 8.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [23.0, 24.0, 0.0, 0.0], [23.0, 24.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [31.0, 32.0, 0.0, 0.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_border_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant 6 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[39.0, 40.0, 0x7FC00000, 0x7FC00000], [7.0, 8.0, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [23.0, 24.0, 0x7FC00000, 0x7FC00000], [23.0, 24.0, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [31.0, 32.0, 0x7FC00000, 0x7FC00000]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_negative_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant -3 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 33.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 17.0], [0.0, 0.0, 0.0, 17.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 25.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_negative_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant -3 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 33.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 1.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 17.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 17.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 25.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_outside_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant 8 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_outside_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant 8 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_before_zero(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant -4 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @gather_i32_before_nan(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[4, 0, -1, 5, 2, 2, -30000, 3]> : tensor<8xi32>
  %c = arith.constant -4 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<8x4xf32>
  tt.return
}

tt.func public @row_outside_memory(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) attributes {check.trap = "descriptor.gather: program (0, 0, 0), element 8 (index (2, 0)): reads 4 bytes at offset 164 of arg0 (160 bytes)"} {
  %s0 = arith.constant 6 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
  %k = arith.constant dense<[0, 1, 5, 2, 2, 2, 2, 2]> : tensor<8xi32>
  %c = arith.constant 1 : i32
  %r = tt.descriptor_gather %d[%k, %c] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<8x4xf32>
  tt.return
}
