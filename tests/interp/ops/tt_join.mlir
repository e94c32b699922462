// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.join: two tiles side by side in a new last dimension.

tt.func public @join_4_i8() {
  %a = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi8>
  %b = arith.constant dense<[10, 11, 12, 13]> : tensor<4xi8>
  %r = tt.join %a, %b : tensor<4xi8> -> tensor<4x2xi8>
  check.eq %r, dense<[[0, 10], [1, 11], [2, 12], [3, 13]]> : tensor<4x2xi8>
  tt.return
}

tt.func public @join_2x4_i8() {
  %a = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi8>
  %b = arith.constant dense<[[10, 11, 12, 13], [14, 15, 16, 17]]> : tensor<2x4xi8>
  %r = tt.join %a, %b : tensor<2x4xi8> -> tensor<2x4x2xi8>
  check.eq %r, dense<[[[0, 10], [1, 11], [2, 12], [3, 13]], [[4, 14], [5, 15], [6, 16], [7, 17]]]> : tensor<2x4x2xi8>
  tt.return
}

tt.func public @join_4_f16() {
  %a = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf16>
  %b = arith.constant dense<[10.0, 11.0, 12.0, 13.0]> : tensor<4xf16>
  %r = tt.join %a, %b : tensor<4xf16> -> tensor<4x2xf16>
  check.eq %r, dense<[[0.0, 10.0], [1.0, 11.0], [2.0, 12.0], [3.0, 13.0]]> : tensor<4x2xf16>
  tt.return
}

tt.func public @join_2x4_f16() {
  %a = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf16>
  %b = arith.constant dense<[[10.0, 11.0, 12.0, 13.0], [14.0, 15.0, 16.0, 17.0]]> : tensor<2x4xf16>
  %r = tt.join %a, %b : tensor<2x4xf16> -> tensor<2x4x2xf16>
  check.eq %r, dense<[[[0.0, 10.0], [1.0, 11.0], [2.0, 12.0], [3.0, 13.0]], [[4.0, 14.0], [5.0, 15.0], [6.0, 16.0], [7.0, 17.0]]]> : tensor<2x4x2xf16>
  tt.return
}

tt.func public @join_4_f32() {
  %a = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %b = arith.constant dense<[10.0, 11.0, 12.0, 13.0]> : tensor<4xf32>
  %r = tt.join %a, %b : tensor<4xf32> -> tensor<4x2xf32>
  check.eq %r, dense<[[0.0, 10.0], [1.0, 11.0], [2.0, 12.0], [3.0, 13.0]]> : tensor<4x2xf32>
  tt.return
}

tt.func public @join_2x4_f32() {
  %a = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %b = arith.constant dense<[[10.0, 11.0, 12.0, 13.0], [14.0, 15.0, 16.0, 17.0]]> : tensor<2x4xf32>
  %r = tt.join %a, %b : tensor<2x4xf32> -> tensor<2x4x2xf32>
  check.eq %r, dense<[[[0.0, 10.0], [1.0, 11.0], [2.0, 12.0], [3.0, 13.0]], [[4.0, 14.0], [5.0, 15.0], [6.0, 16.0], [7.0, 17.0]]]> : tensor<2x4x2xf32>
  tt.return
}

tt.func public @join_4_i64() {
  %a = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %b = arith.constant dense<[10, 11, 12, 13]> : tensor<4xi64>
  %r = tt.join %a, %b : tensor<4xi64> -> tensor<4x2xi64>
  check.eq %r, dense<[[0, 10], [1, 11], [2, 12], [3, 13]]> : tensor<4x2xi64>
  tt.return
}

tt.func public @join_2x4_i64() {
  %a = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>
  %b = arith.constant dense<[[10, 11, 12, 13], [14, 15, 16, 17]]> : tensor<2x4xi64>
  %r = tt.join %a, %b : tensor<2x4xi64> -> tensor<2x4x2xi64>
  check.eq %r, dense<[[[0, 10], [1, 11], [2, 12], [3, 13]], [[4, 14], [5, 15], [6, 16], [7, 17]]]> : tensor<2x4x2xi64>
  tt.return
}

tt.func public @join_4_i1() {
  %a = arith.constant dense<[false, true, false, true]> : tensor<4xi1>
  %b = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %r = tt.join %a, %b : tensor<4xi1> -> tensor<4x2xi1>
  check.eq %r, dense<[[false, true], [true, false], [false, true], [true, false]]> : tensor<4x2xi1>
  tt.return
}

tt.func public @join_2x4_i1() {
  %a = arith.constant dense<[[false, true, false, true], [false, true, false, true]]> : tensor<2x4xi1>
  %b = arith.constant dense<[[true, false, true, false], [true, false, true, false]]> : tensor<2x4xi1>
  %r = tt.join %a, %b : tensor<2x4xi1> -> tensor<2x4x2xi1>
  check.eq %r, dense<[[[false, true], [true, false], [false, true], [true, false]], [[false, true], [true, false], [false, true], [true, false]]]> : tensor<2x4x2xi1>
  tt.return
}
