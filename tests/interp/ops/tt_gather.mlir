// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.gather: elements picked by index along one dimension.

tt.func public @gather_1d_by_i8() {
  %x = arith.constant dense<[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]> : tensor<8xf32>
  %i = arith.constant dense<[7, 0, 3, 3]> : tensor<4xi8>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi8>) -> tensor<4xf32>
  check.eq %r, dense<[70.0, 0.0, 30.0, 30.0]> : tensor<4xf32>
  tt.return
}

tt.func public @gather_1d_by_i16() {
  %x = arith.constant dense<[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]> : tensor<8xf32>
  %i = arith.constant dense<[7, 0, 3, 3]> : tensor<4xi16>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi16>) -> tensor<4xf32>
  check.eq %r, dense<[70.0, 0.0, 30.0, 30.0]> : tensor<4xf32>
  tt.return
}

tt.func public @gather_1d_by_i32() {
  %x = arith.constant dense<[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]> : tensor<8xf32>
  %i = arith.constant dense<[7, 0, 3, 3]> : tensor<4xi32>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<4xf32>
  check.eq %r, dense<[70.0, 0.0, 30.0, 30.0]> : tensor<4xf32>
  tt.return
}

tt.func public @gather_1d_by_i64() {
  %x = arith.constant dense<[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]> : tensor<8xf32>
  %i = arith.constant dense<[7, 0, 3, 3]> : tensor<4xi64>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi64>) -> tensor<4xf32>
  check.eq %r, dense<[70.0, 0.0, 30.0, 30.0]> : tensor<4xf32>
  tt.return
}

tt.func public @gather_axis_0_i8() {
  %x = arith.constant dense<[[0, 2, 4, 1, 3, 0, 2, 4], [1, 3, 0, 2, 4, 1, 3, 0], [2, 4, 1, 3, 0, 2, 4, 1], [3, 0, 2, 4, 1, 3, 0, 2]]> : tensor<4x8xi8>
  %i = arith.constant dense<[[0, 3, 2, 1, 0, 3, 2, 1], [0, 3, 2, 1, 0, 3, 2, 1]]> : tensor<2x8xi32>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x8xi8>, tensor<2x8xi32>) -> tensor<2x8xi8>
  check.eq %r, dense<[[0, 0, 1, 2, 3, 3, 4, 0], [0, 0, 1, 2, 3, 3, 4, 0]]> : tensor<2x8xi8>
  tt.return
}

tt.func public @gather_axis_1_i8() {
  %x = arith.constant dense<[[0, 2, 4, 1, 3, 0, 2, 4], [1, 3, 0, 2, 4, 1, 3, 0], [2, 4, 1, 3, 0, 2, 4, 1], [3, 0, 2, 4, 1, 3, 0, 2]]> : tensor<4x8xi8>
  %i = arith.constant dense<[[0, 5], [2, 7], [4, 1], [6, 3]]> : tensor<4x2xi32>
  %r = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4x8xi8>, tensor<4x2xi32>) -> tensor<4x2xi8>
  check.eq %r, dense<[[0, 0], [0, 0], [0, 4], [0, 4]]> : tensor<4x2xi8>
  tt.return
}

tt.func public @gather_axis_0_f16() {
  %x = arith.constant dense<[[0.0, 2.0, 4.0, 1.0, 3.0, 0.0, 2.0, 4.0], [1.0, 3.0, 0.0, 2.0, 4.0, 1.0, 3.0, 0.0], [2.0, 4.0, 1.0, 3.0, 0.0, 2.0, 4.0, 1.0], [3.0, 0.0, 2.0, 4.0, 1.0, 3.0, 0.0, 2.0]]> : tensor<4x8xf16>
  %i = arith.constant dense<[[0, 3, 2, 1, 0, 3, 2, 1], [0, 3, 2, 1, 0, 3, 2, 1]]> : tensor<2x8xi32>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x8xf16>, tensor<2x8xi32>) -> tensor<2x8xf16>
  check.eq %r, dense<[[0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 0.0], [0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 0.0]]> : tensor<2x8xf16>
  tt.return
}

tt.func public @gather_axis_1_f16() {
  %x = arith.constant dense<[[0.0, 2.0, 4.0, 1.0, 3.0, 0.0, 2.0, 4.0], [1.0, 3.0, 0.0, 2.0, 4.0, 1.0, 3.0, 0.0], [2.0, 4.0, 1.0, 3.0, 0.0, 2.0, 4.0, 1.0], [3.0, 0.0, 2.0, 4.0, 1.0, 3.0, 0.0, 2.0]]> : tensor<4x8xf16>
  %i = arith.constant dense<[[0, 5], [2, 7], [4, 1], [6, 3]]> : tensor<4x2xi32>
  %r = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4x8xf16>, tensor<4x2xi32>) -> tensor<4x2xf16>
  check.eq %r, dense<[[0.0, 0.0], [0.0, 0.0], [0.0, 4.0], [0.0, 4.0]]> : tensor<4x2xf16>
  tt.return
}

tt.func public @gather_axis_0_i64() {
  %x = arith.constant dense<[[0, 2, 4, 1, 3, 0, 2, 4], [1, 3, 0, 2, 4, 1, 3, 0], [2, 4, 1, 3, 0, 2, 4, 1], [3, 0, 2, 4, 1, 3, 0, 2]]> : tensor<4x8xi64>
  %i = arith.constant dense<[[0, 3, 2, 1, 0, 3, 2, 1], [0, 3, 2, 1, 0, 3, 2, 1]]> : tensor<2x8xi32>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x8xi64>, tensor<2x8xi32>) -> tensor<2x8xi64>
  check.eq %r, dense<[[0, 0, 1, 2, 3, 3, 4, 0], [0, 0, 1, 2, 3, 3, 4, 0]]> : tensor<2x8xi64>
  tt.return
}

tt.func public @gather_axis_1_i64() {
  %x = arith.constant dense<[[0, 2, 4, 1, 3, 0, 2, 4], [1, 3, 0, 2, 4, 1, 3, 0], [2, 4, 1, 3, 0, 2, 4, 1], [3, 0, 2, 4, 1, 3, 0, 2]]> : tensor<4x8xi64>
  %i = arith.constant dense<[[0, 5], [2, 7], [4, 1], [6, 3]]> : tensor<4x2xi32>
  %r = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4x8xi64>, tensor<4x2xi32>) -> tensor<4x2xi64>
  check.eq %r, dense<[[0, 0], [0, 0], [0, 4], [0, 4]]> : tensor<4x2xi64>
  tt.return
}

tt.func public @gather_axis_0_i1() {
  %x = arith.constant dense<[[false, false, false, true, true, false, false, false], [true, true, false, false, false, true, true, false], [false, false, true, true, false, false, false, true], [true, false, false, false, true, true, false, false]]> : tensor<4x8xi1>
  %i = arith.constant dense<[[0, 3, 2, 1, 0, 3, 2, 1], [0, 3, 2, 1, 0, 3, 2, 1]]> : tensor<2x8xi32>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x8xi1>, tensor<2x8xi32>) -> tensor<2x8xi1>
  check.eq %r, dense<[[false, false, true, false, true, true, false, false], [false, false, true, false, true, true, false, false]]> : tensor<2x8xi1>
  tt.return
}

tt.func public @gather_axis_1_i1() {
  %x = arith.constant dense<[[false, false, false, true, true, false, false, false], [true, true, false, false, false, true, true, false], [false, false, true, true, false, false, false, true], [true, false, false, false, true, true, false, false]]> : tensor<4x8xi1>
  %i = arith.constant dense<[[0, 5], [2, 7], [4, 1], [6, 3]]> : tensor<4x2xi32>
  %r = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4x8xi1>, tensor<4x2xi32>) -> tensor<4x2xi1>
  check.eq %r, dense<false> : tensor<4x2xi1>
  tt.return
}

tt.func public @gather_below_zero() attributes {check.trap = "tl.gather"} {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %i = arith.constant dense<[0, -1]> : tensor<2xi32>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  check.eq %r, dense<0.0> : tensor<2xf32>
  tt.return
}

tt.func public @gather_past_the_end() attributes {check.trap = "element 1"} {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %i = arith.constant dense<[0, 4]> : tensor<2xi32>
  %r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  check.eq %r, dense<0.0> : tensor<2xf32>
  tt.return
}
