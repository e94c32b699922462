// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.minsi.

tt.func public @minsi_i8_16_axis_0() {
  %x = arith.constant dense<[31, 89, -16, 68, 95, -2, 57, -57, -16, 40, -38, -53, -61, -14, -80, 8]> : tensor<16xi8>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.minsi %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<16xi8>) -> i8
  check.eq %r, -80 : i8
  tt.return
}

tt.func public @minsi_i8_4x8_axis_1() {
  %x = arith.constant dense<[[-5, 87, 33, -69, 12, -52, -29, 74], [-30, 64, -54, -58, 38, -8, -62, 76], [-98, 56, 72, 16, -88, -15, 89, -74], [-72, -74, 77, 49, -63, 17, 84, -1]]> : tensor<4x8xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.minsi %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<4x8xi8>) -> tensor<4xi8>
  check.eq %r, dense<[-69, -62, -98, -74]> : tensor<4xi8>
  tt.return
}

tt.func public @minsi_i16_16_axis_0() {
  %x = arith.constant dense<[-4, -83, 25, -9, 69, -100, -24, 60, 49, 89, 14, 85, -15, 96, -11, 41]> : tensor<16xi16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.minsi %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<16xi16>) -> i16
  check.eq %r, -100 : i16
  tt.return
}

tt.func public @minsi_i16_4x8_axis_1() {
  %x = arith.constant dense<[[-6, -88, -20, 21, 7, 91, 79, 48], [-71, 3, 84, -16, -25, 73, -53, 1], [-90, -51, -86, -26, 84, 33, 57, -24], [-89, -72, 74, 16, -100, 92, -94, 13]]> : tensor<4x8xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.minsi %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<4x8xi16>) -> tensor<4xi16>
  check.eq %r, dense<[-88, -71, -90, -100]> : tensor<4xi16>
  tt.return
}

tt.func public @minsi_i32_16_axis_0() {
  %x = arith.constant dense<[35, 27, -83, -12, -54, -50, 77, -79, 12, -37, 20, -22, 34, 80, 77, -66]> : tensor<16xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.minsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<16xi32>) -> i32
  check.eq %r, -83 : i32
  tt.return
}

tt.func public @minsi_i32_4x8_axis_0() {
  %x = arith.constant dense<[[-65, -98, -21, 84, 57, 51, 54, -34], [0, 86, 28, 94, -11, 40, 47, 69], [7, 4, -87, -63, -66, -92, 84, -66], [39, -5, -46, -99, 80, 6, -33, 33]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.minsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<8xi32>
  check.eq %r, dense<[-65, -98, -87, -99, -66, -92, -33, -66]> : tensor<8xi32>
  tt.return
}

tt.func public @minsi_i32_4x8_axis_1() {
  %x = arith.constant dense<[[77, 85, -92, 81, -70, 3, -31, 31], [81, 75, -23, 7, 46, -27, -95, -35], [97, 84, 24, -28, -16, 91, 0, 60], [-31, -24, 92, -27, -82, -3, 88, 91]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.minsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4xi32>
  check.eq %r, dense<[-92, -95, -28, -82]> : tensor<4xi32>
  tt.return
}

tt.func public @minsi_i32_2x4x8_axis_0() {
  %x = arith.constant dense<[[[60, 86, -83, 78, -28, 25, -23, -58], [76, 79, -5, 29, 24, -76, -55, -36], [95, -94, 36, 20, 22, 96, 10, -31], [51, -14, -54, 22, -67, 76, 33, 16]], [[26, 78, -45, 49, -87, 56, -69, -7], [-79, -63, 47, -50, 9, -5, -57, -10], [-15, 27, 14, 50, -6, 49, -10, 16], [-42, -47, -2, 31, -19, 67, -11, -16]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.minsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[26, 78, -83, 49, -87, 25, -69, -58], [-79, -63, -5, -50, 9, -76, -57, -36], [-15, -94, 14, 20, -6, 49, -10, -31], [-42, -47, -54, 22, -67, 67, -11, -16]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @minsi_i32_2x4x8_axis_1() {
  %x = arith.constant dense<[[[1, 94, 23, 45, -100, 56, 54, 71], [54, 97, 92, -50, 20, -61, 26, -63], [32, 26, -20, -49, -14, 8, 43, -20], [-93, -74, -38, 69, -15, -76, 55, -76]], [[-34, 40, -27, -19, -28, -68, -77, 96], [-53, -34, -3, -61, -97, 46, -93, 8], [-96, -20, 14, -37, 22, 36, -23, -86], [71, 24, -42, -26, 35, 26, -3, 73]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.minsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x8xi32>
  check.eq %r, dense<[[-93, -74, -38, -50, -100, -76, 26, -76], [-96, -34, -42, -61, -97, -68, -93, -86]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @minsi_i32_2x4x8_axis_2() {
  %x = arith.constant dense<[[[-12, 70, -21, 59, 77, 29, -97, 51], [91, 53, 25, 48, 74, -2, -29, 29], [38, -91, 15, -92, -26, -58, -70, -81], [3, -50, -60, -75, 24, -56, 71, -47]], [[-54, 20, 24, -50, -9, -97, -79, 30], [94, 74, -42, 41, -98, -26, 12, -64], [34, 70, 19, -14, -29, 56, 21, 42], [-86, -52, 56, 28, -40, 28, -14, -96]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.minsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x4xi32>
  check.eq %r, dense<[[-97, -29, -92, -75], [-97, -98, -29, -96]]> : tensor<2x4xi32>
  tt.return
}

tt.func public @minsi_i64_16_axis_0() {
  %x = arith.constant dense<[87, 47, -55, 99, 86, -47, 68, -1, -60, -63, -4, -85, 88, 77, 5, -63]> : tensor<16xi64>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.minsi %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<16xi64>) -> i64
  check.eq %r, -85 : i64
  tt.return
}

tt.func public @minsi_i64_4x8_axis_1() {
  %x = arith.constant dense<[[60, -51, -7, -24, 57, 68, 80, -40], [-24, -34, 89, 19, 83, 55, 42, -24], [-24, 80, 0, -64, 76, 37, -39, -79], [19, 53, -84, -20, -53, -27, 35, -14]]> : tensor<4x8xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.minsi %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<4x8xi64>) -> tensor<4xi64>
  check.eq %r, dense<[-51, -34, -79, -84]> : tensor<4xi64>
  tt.return
}
