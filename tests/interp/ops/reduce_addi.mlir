// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.addi.

tt.func public @addi_i8_16_axis_0() {
  %x = arith.constant dense<[86, -21, -53, -19, -18, 81, -12, 76, -97, 97, -19, 15, 76, -87, -50, -41]> : tensor<16xi8>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.addi %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<16xi8>) -> i8
  check.eq %r, 14 : i8
  tt.return
}

tt.func public @addi_i8_4x8_axis_1() {
  %x = arith.constant dense<[[-82, 71, 72, 12, 69, 57, -29, 60], [51, 8, 9, 59, 14, -50, 64, -38], [-46, 22, -44, -42, -62, -29, -72, 0], [33, -3, 85, 69, 62, 21, -15, -56]]> : tensor<4x8xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.addi %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<4x8xi8>) -> tensor<4xi8>
  check.eq %r, dense<[-26, 117, -17, -60]> : tensor<4xi8>
  tt.return
}

tt.func public @addi_i16_16_axis_0() {
  %x = arith.constant dense<[-20, -97, 38, 70, -90, 85, 5, -33, 30, -27, 100, 91, 40, 88, 63, -23]> : tensor<16xi16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.addi %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<16xi16>) -> i16
  check.eq %r, 320 : i16
  tt.return
}

tt.func public @addi_i16_4x8_axis_1() {
  %x = arith.constant dense<[[98, 81, 88, 16, 76, -74, 93, 53], [43, 4, -32, -23, 71, 64, -71, -98], [85, 85, 17, 26, -50, 85, -86, 77], [10, 96, 84, 29, -62, 78, -17, 19]]> : tensor<4x8xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.addi %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<4x8xi16>) -> tensor<4xi16>
  check.eq %r, dense<[431, -42, 239, 237]> : tensor<4xi16>
  tt.return
}

tt.func public @addi_i32_16_axis_0() {
  %x = arith.constant dense<[-79, -39, -65, 37, 57, 33, -79, 10, 11, -64, 25, 46, -78, -56, -34, 65]> : tensor<16xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<16xi32>) -> i32
  check.eq %r, -210 : i32
  tt.return
}

tt.func public @addi_i32_4x8_axis_0() {
  %x = arith.constant dense<[[-93, -53, 85, 41, -39, 95, -14, -27], [-49, -63, 46, 93, -53, 28, -56, 73], [7, 30, -36, -26, 23, -40, 86, 65], [82, -27, 25, -40, 56, 90, 67, 58]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<8xi32>
  check.eq %r, dense<[-53, -113, 120, 68, -13, 173, 83, 169]> : tensor<8xi32>
  tt.return
}

tt.func public @addi_i32_4x8_axis_1() {
  %x = arith.constant dense<[[-49, -38, -42, 27, -85, 13, 71, -17], [34, 80, 85, -42, -11, 57, 28, 3], [16, -85, 74, -91, 21, 63, 49, 4], [30, -52, 96, 93, -78, 19, 26, 77]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4xi32>
  check.eq %r, dense<[-120, 234, 51, 211]> : tensor<4xi32>
  tt.return
}

tt.func public @addi_i32_2x4x8_axis_0() {
  %x = arith.constant dense<[[[76, -88, -25, 3, -5, -15, 2, 74], [-61, 71, -22, -24, -30, 34, -24, 70], [-9, -13, -54, 42, 40, 70, -51, 54], [9, -7, -45, -11, -72, 79, 90, -100]], [[78, 4, -3, 38, -53, -55, -56, 78], [-11, -74, -70, 48, -74, 66, 16, 21], [42, -51, 46, -56, -95, -20, -82, -73], [-57, -75, -66, -95, 63, -77, -4, 100]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[154, -84, -28, 41, -58, -70, -54, 152], [-72, -3, -92, 24, -104, 100, -8, 91], [33, -64, -8, -14, -55, 50, -133, -19], [-48, -82, -111, -106, -9, 2, 86, 0]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @addi_i32_2x4x8_axis_1() {
  %x = arith.constant dense<[[[71, 79, -24, -45, 9, 54, -11, 1], [58, 77, -90, -50, 23, 93, 14, -61], [10, 17, 45, 32, -64, 8, -46, 0], [-39, -50, 49, -32, -34, -100, -19, 82]], [[97, 43, -51, 6, -60, 97, -36, -57], [78, 42, -86, 98, 93, -79, 79, 47], [85, 95, 62, -97, 27, -40, 99, -28], [38, -80, -1, -49, 9, -14, 0, -63]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x8xi32>
  check.eq %r, dense<[[100, 123, -20, -95, -66, 55, -62, 22], [298, 100, -76, -42, 69, -36, 142, -101]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @addi_i32_2x4x8_axis_2() {
  %x = arith.constant dense<[[[-3, 14, 26, 19, 63, -27, -16, -53], [-66, 38, -21, 33, -54, -44, 25, 59], [18, 94, 36, -35, -6, -17, 41, 3], [82, -52, -97, 6, -97, 94, 69, 82]], [[64, -86, 96, 21, -40, 28, 34, 91], [-16, 69, -30, -35, -86, -90, -42, 30], [-15, -72, 33, -70, 6, -20, 41, -97], [12, -80, 73, -69, 38, -77, -1, -85]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x4xi32>
  check.eq %r, dense<[[23, -30, 134, 87], [208, -200, -194, -189]]> : tensor<2x4xi32>
  tt.return
}

tt.func public @addi_i64_16_axis_0() {
  %x = arith.constant dense<[-13, 0, 17, -16, 62, 61, -55, 81, 0, 94, 65, -26, 76, 83, 64, 40]> : tensor<16xi64>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.addi %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<16xi64>) -> i64
  check.eq %r, 533 : i64
  tt.return
}

tt.func public @addi_i64_4x8_axis_1() {
  %x = arith.constant dense<[[100, 69, 68, -2, -36, 90, -96, 28], [45, 25, -58, -94, 0, -35, 7, 86], [-53, 85, -37, 50, 14, 44, -11, -14], [-97, -10, 7, 70, 8, 72, -23, 53]]> : tensor<4x8xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.addi %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<4x8xi64>) -> tensor<4xi64>
  check.eq %r, dense<[221, -24, 78, 80]> : tensor<4xi64>
  tt.return
}
