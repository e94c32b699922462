// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.expand_dims: a dimension of extent 1, at any place.

tt.func public @expand_dims_at_0() {
  %x = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %r = tt.expand_dims %x {axis = 0 : i32} : tensor<2x4xf32> -> tensor<1x2x4xf32>
  check.eq %r, dense<[[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]]> : tensor<1x2x4xf32>
  tt.return
}

tt.func public @expand_dims_at_1() {
  %x = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %r = tt.expand_dims %x {axis = 1 : i32} : tensor<2x4xf32> -> tensor<2x1x4xf32>
  check.eq %r, dense<[[[0.0, 1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0, 7.0]]]> : tensor<2x1x4xf32>
  tt.return
}

tt.func public @expand_dims_at_2() {
  %x = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %r = tt.expand_dims %x {axis = 2 : i32} : tensor<2x4xf32> -> tensor<2x4x1xf32>
  check.eq %r, dense<[[[0.0], [1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0], [7.0]]]> : tensor<2x4x1xf32>
  tt.return
}

tt.func public @expand_dims_of_a_range() {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %r = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  check.eq %r, dense<[[0], [1], [2], [3]]> : tensor<4x1xi32>
  tt.return
}
