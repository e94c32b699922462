// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.split: the halves of a tile whose last dimension is 2.

tt.func public @split_4x2_i8() {
  %x = arith.constant dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi8>
  %a, %b = tt.split %x : tensor<4x2xi8> -> tensor<4xi8>
  check.eq %a, dense<[0, 2, 4, 6]> : tensor<4xi8>
  check.eq %b, dense<[1, 3, 5, 7]> : tensor<4xi8>
  tt.return
}

tt.func public @split_2x4x2_i8() {
  %x = arith.constant dense<[[[0, 1], [2, 3], [4, 5], [6, 7]], [[8, 9], [10, 11], [12, 13], [14, 15]]]> : tensor<2x4x2xi8>
  %a, %b = tt.split %x : tensor<2x4x2xi8> -> tensor<2x4xi8>
  check.eq %a, dense<[[0, 2, 4, 6], [8, 10, 12, 14]]> : tensor<2x4xi8>
  check.eq %b, dense<[[1, 3, 5, 7], [9, 11, 13, 15]]> : tensor<2x4xi8>
  tt.return
}

tt.func public @split_4x2_f16() {
  %x = arith.constant dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]> : tensor<4x2xf16>
  %a, %b = tt.split %x : tensor<4x2xf16> -> tensor<4xf16>
  check.eq %a, dense<[0.0, 2.0, 4.0, 6.0]> : tensor<4xf16>
  check.eq %b, dense<[1.0, 3.0, 5.0, 7.0]> : tensor<4xf16>
  tt.return
}

tt.func public @split_2x4x2_f16() {
  %x = arith.constant dense<[[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]], [[8.0, 9.0], [10.0, 11.0], [12.0, 13.0], [14.0, 15.0]]]> : tensor<2x4x2xf16>
  %a, %b = tt.split %x : tensor<2x4x2xf16> -> tensor<2x4xf16>
  check.eq %a, dense<[[0.0, 2.0, 4.0, 6.0], [8.0, 10.0, 12.0, 14.0]]> : tensor<2x4xf16>
  check.eq %b, dense<[[1.0, 3.0, 5.0, 7.0], [9.0, 11.0, 13.0, 15.0]]> : tensor<2x4xf16>
  tt.return
}

tt.func public @split_4x2_f32() {
  %x = arith.constant dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]> : tensor<4x2xf32>
  %a, %b = tt.split %x : tensor<4x2xf32> -> tensor<4xf32>
  check.eq %a, dense<[0.0, 2.0, 4.0, 6.0]> : tensor<4xf32>
  check.eq %b, dense<[1.0, 3.0, 5.0, 7.0]> : tensor<4xf32>
  tt.return
}

tt.func public @split_2x4x2_f32() {
  %x = arith.constant dense<[[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]], [[8.0, 9.0], [10.0, 11.0], [12.0, 13.0], [14.0, 15.0]]]> : tensor<2x4x2xf32>
  %a, %b = tt.split %x : tensor<2x4x2xf32> -> tensor<2x4xf32>
  check.eq %a, dense<[[0.0, 2.0, 4.0, 6.0], [8.0, 10.0, 12.0, 14.0]]> : tensor<2x4xf32>
  check.eq %b, dense<[[1.0, 3.0, 5.0, 7.0], [9.0, 11.0, 13.0, 15.0]]> : tensor<2x4xf32>
  tt.return
}

tt.func public @split_4x2_i64() {
  %x = arith.constant dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>
  %a, %b = tt.split %x : tensor<4x2xi64> -> tensor<4xi64>
  check.eq %a, dense<[0, 2, 4, 6]> : tensor<4xi64>
  check.eq %b, dense<[1, 3, 5, 7]> : tensor<4xi64>
  tt.return
}

tt.func public @split_2x4x2_i64() {
  %x = arith.constant dense<[[[0, 1], [2, 3], [4, 5], [6, 7]], [[8, 9], [10, 11], [12, 13], [14, 15]]]> : tensor<2x4x2xi64>
  %a, %b = tt.split %x : tensor<2x4x2xi64> -> tensor<2x4xi64>
  check.eq %a, dense<[[0, 2, 4, 6], [8, 10, 12, 14]]> : tensor<2x4xi64>
  check.eq %b, dense<[[1, 3, 5, 7], [9, 11, 13, 15]]> : tensor<2x4xi64>
  tt.return
}

tt.func public @split_4x2_i1() {
  %x = arith.constant dense<[[false, false], [false, true], [true, true], [false, false]]> : tensor<4x2xi1>
  %a, %b = tt.split %x : tensor<4x2xi1> -> tensor<4xi1>
  check.eq %a, dense<[false, false, true, false]> : tensor<4xi1>
  check.eq %b, dense<[false, true, true, false]> : tensor<4xi1>
  tt.return
}

tt.func public @split_2x4x2_i1() {
  %x = arith.constant dense<[[[false, false], [false, true], [true, true], [false, false]], [[false, true], [true, true], [false, false], [false, true]]]> : tensor<2x4x2xi1>
  %a, %b = tt.split %x : tensor<2x4x2xi1> -> tensor<2x4xi1>
  check.eq %a, dense<[[false, false, true, false], [false, true, false, false]]> : tensor<2x4xi1>
  check.eq %b, dense<[[false, true, true, false], [true, true, false, true]]> : tensor<2x4xi1>
  tt.return
}

tt.func public @split_of_join() {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<[0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0]> : tensor<8xf32>
  %j = tt.join %x, %y : tensor<8xf32> -> tensor<8x2xf32>
  %a, %b = tt.split %j : tensor<8x2xf32> -> tensor<8xf32>
  %r = arith.addf %a, %b : tensor<8xf32>
  check.eq %r, dense<[0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0]> : tensor<8xf32>
  tt.return
}
