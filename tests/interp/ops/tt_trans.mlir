// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.trans: dimension d of the result is dimension order[d] of the source.

tt.func public @trans_i8() {
  %x = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi8>
  %r = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xi8> -> tensor<4x2xi8>
  check.eq %r, dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi8>
  tt.return
}

tt.func public @trans_f16() {
  %x = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf16>
  %r = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xf16> -> tensor<4x2xf16>
  check.eq %r, dense<[[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]> : tensor<4x2xf16>
  tt.return
}

tt.func public @trans_f32() {
  %x = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %r = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
  check.eq %r, dense<[[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]> : tensor<4x2xf32>
  tt.return
}

tt.func public @trans_f64() {
  %x = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf64>
  %r = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xf64> -> tensor<4x2xf64>
  check.eq %r, dense<[[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]> : tensor<4x2xf64>
  tt.return
}

tt.func public @trans_i1() {
  %x = arith.constant dense<[[true, false, false, true], [false, false, true, false]]> : tensor<2x4xi1>
  %r = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xi1> -> tensor<4x2xi1>
  check.eq %r, dense<[[true, false], [false, false], [false, true], [true, false]]> : tensor<4x2xi1>
  tt.return
}

tt.func public @trans_012() {
  %x = arith.constant dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]], [[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47], [48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]> : tensor<2x4x8xi32>
  %r = tt.trans %x {order = array<i32: 0, 1, 2>} : tensor<2x4x8xi32> -> tensor<2x4x8xi32>
  check.eq %r, dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]], [[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47], [48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]> : tensor<2x4x8xi32>
  tt.return
}

tt.func public @trans_021() {
  %x = arith.constant dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]], [[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47], [48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]> : tensor<2x4x8xi32>
  %r = tt.trans %x {order = array<i32: 0, 2, 1>} : tensor<2x4x8xi32> -> tensor<2x8x4xi32>
  check.eq %r, dense<[[[0, 8, 16, 24], [1, 9, 17, 25], [2, 10, 18, 26], [3, 11, 19, 27], [4, 12, 20, 28], [5, 13, 21, 29], [6, 14, 22, 30], [7, 15, 23, 31]], [[32, 40, 48, 56], [33, 41, 49, 57], [34, 42, 50, 58], [35, 43, 51, 59], [36, 44, 52, 60], [37, 45, 53, 61], [38, 46, 54, 62], [39, 47, 55, 63]]]> : tensor<2x8x4xi32>
  tt.return
}

tt.func public @trans_102() {
  %x = arith.constant dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]], [[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47], [48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]> : tensor<2x4x8xi32>
  %r = tt.trans %x {order = array<i32: 1, 0, 2>} : tensor<2x4x8xi32> -> tensor<4x2x8xi32>
  check.eq %r, dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [32, 33, 34, 35, 36, 37, 38, 39]], [[8, 9, 10, 11, 12, 13, 14, 15], [40, 41, 42, 43, 44, 45, 46, 47]], [[16, 17, 18, 19, 20, 21, 22, 23], [48, 49, 50, 51, 52, 53, 54, 55]], [[24, 25, 26, 27, 28, 29, 30, 31], [56, 57, 58, 59, 60, 61, 62, 63]]]> : tensor<4x2x8xi32>
  tt.return
}

tt.func public @trans_120() {
  %x = arith.constant dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]], [[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47], [48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]> : tensor<2x4x8xi32>
  %r = tt.trans %x {order = array<i32: 1, 2, 0>} : tensor<2x4x8xi32> -> tensor<4x8x2xi32>
  check.eq %r, dense<[[[0, 32], [1, 33], [2, 34], [3, 35], [4, 36], [5, 37], [6, 38], [7, 39]], [[8, 40], [9, 41], [10, 42], [11, 43], [12, 44], [13, 45], [14, 46], [15, 47]], [[16, 48], [17, 49], [18, 50], [19, 51], [20, 52], [21, 53], [22, 54], [23, 55]], [[24, 56], [25, 57], [26, 58], [27, 59], [28, 60], [29, 61], [30, 62], [31, 63]]]> : tensor<4x8x2xi32>
  tt.return
}

tt.func public @trans_201() {
  %x = arith.constant dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]], [[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47], [48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]> : tensor<2x4x8xi32>
  %r = tt.trans %x {order = array<i32: 2, 0, 1>} : tensor<2x4x8xi32> -> tensor<8x2x4xi32>
  check.eq %r, dense<[[[0, 8, 16, 24], [32, 40, 48, 56]], [[1, 9, 17, 25], [33, 41, 49, 57]], [[2, 10, 18, 26], [34, 42, 50, 58]], [[3, 11, 19, 27], [35, 43, 51, 59]], [[4, 12, 20, 28], [36, 44, 52, 60]], [[5, 13, 21, 29], [37, 45, 53, 61]], [[6, 14, 22, 30], [38, 46, 54, 62]], [[7, 15, 23, 31], [39, 47, 55, 63]]]> : tensor<8x2x4xi32>
  tt.return
}

tt.func public @trans_210() {
  %x = arith.constant dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]], [[32, 33, 34, 35, 36, 37, 38, 39], [40, 41, 42, 43, 44, 45, 46, 47], [48, 49, 50, 51, 52, 53, 54, 55], [56, 57, 58, 59, 60, 61, 62, 63]]]> : tensor<2x4x8xi32>
  %r = tt.trans %x {order = array<i32: 2, 1, 0>} : tensor<2x4x8xi32> -> tensor<8x4x2xi32>
  check.eq %r, dense<[[[0, 32], [8, 40], [16, 48], [24, 56]], [[1, 33], [9, 41], [17, 49], [25, 57]], [[2, 34], [10, 42], [18, 50], [26, 58]], [[3, 35], [11, 43], [19, 51], [27, 59]], [[4, 36], [12, 44], [20, 52], [28, 60]], [[5, 37], [13, 45], [21, 53], [29, 61]], [[6, 38], [14, 46], [22, 54], [30, 62]], [[7, 39], [15, 47], [23, 55], [31, 63]]]> : tensor<8x4x2xi32>
  tt.return
}

tt.func public @trans_then_add() {
  %x = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]> : tensor<4x4xi32>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x4xi32> -> tensor<4x4xi32>
  %r = arith.addi %t, %x : tensor<4x4xi32>
  check.eq %r, dense<[[0, 5, 10, 15], [5, 10, 15, 20], [10, 15, 20, 25], [15, 20, 25, 30]]> : tensor<4x4xi32>
  tt.return
}

tt.func public @trans_of_a_sum() {
  %x = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi32>
  %s = arith.addi %x, %x : tensor<2x4xi32>
  %t = tt.trans %s {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>
  check.eq %t, dense<[[0, 8], [2, 10], [4, 12], [6, 14]]> : tensor<4x2xi32>
  tt.return
}
