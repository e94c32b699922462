// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.maxsi.

tt.func public @maxsi_i8_16_axis_0() {
  %x = arith.constant dense<[-24, -5, -66, -37, -26, -11, -7, 42, 32, -39, 36, -57, -23, -62, -56, -39]> : tensor<16xi8>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.maxsi %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<16xi8>) -> i8
  check.eq %r, 42 : i8
  tt.return
}

tt.func public @maxsi_i8_4x8_axis_1() {
  %x = arith.constant dense<[[16, -29, -68, -59, -27, -62, 5, -77], [72, -77, 67, 13, -75, -24, -30, -5], [-98, 21, -46, -1, -47, 21, 80, -81], [88, 43, -43, -63, 18, -93, -93, -25]]> : tensor<4x8xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.maxsi %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<4x8xi8>) -> tensor<4xi8>
  check.eq %r, dense<[16, 72, 80, 88]> : tensor<4xi8>
  tt.return
}

tt.func public @maxsi_i16_16_axis_0() {
  %x = arith.constant dense<[45, -83, 37, 80, -93, 74, -78, 64, -46, -50, 97, 92, -76, 25, -4, -8]> : tensor<16xi16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.maxsi %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<16xi16>) -> i16
  check.eq %r, 97 : i16
  tt.return
}

tt.func public @maxsi_i16_4x8_axis_1() {
  %x = arith.constant dense<[[37, 54, 76, -97, 47, -52, 54, 33], [-81, 55, 72, 32, -71, 44, -8, -56], [-92, 7, -27, 45, 49, 8, 75, -67], [-2, -50, -12, 70, -58, -11, -31, 8]]> : tensor<4x8xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.maxsi %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<4x8xi16>) -> tensor<4xi16>
  check.eq %r, dense<[76, 72, 75, 70]> : tensor<4xi16>
  tt.return
}

tt.func public @maxsi_i32_16_axis_0() {
  %x = arith.constant dense<[-74, 98, -57, -37, -57, 25, 92, -82, 59, -15, 46, 67, -52, -70, -79, 96]> : tensor<16xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<16xi32>) -> i32
  check.eq %r, 98 : i32
  tt.return
}

tt.func public @maxsi_i32_4x8_axis_0() {
  %x = arith.constant dense<[[-68, -32, 81, 33, -38, 81, -72, 41], [9, -34, 43, -22, -18, -50, -55, 41], [65, 43, 4, -99, 35, -45, 96, 80], [-82, 75, 81, 41, -41, 56, -44, -11]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<8xi32>
  check.eq %r, dense<[65, 75, 81, 41, 35, 81, 96, 80]> : tensor<8xi32>
  tt.return
}

tt.func public @maxsi_i32_4x8_axis_1() {
  %x = arith.constant dense<[[-72, 27, 63, 12, 21, 51, -36, 14], [60, -82, 23, -54, 60, 3, -82, 18], [66, 79, -18, -20, 79, 9, -96, 58], [-74, -10, -41, -46, 38, -98, 13, 83]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4xi32>
  check.eq %r, dense<[63, 60, 79, 83]> : tensor<4xi32>
  tt.return
}

tt.func public @maxsi_i32_2x4x8_axis_0() {
  %x = arith.constant dense<[[[34, -31, 34, 9, 7, 11, -83, 18], [80, 0, 13, -42, -88, 18, -81, -15], [-20, 80, 40, 36, -12, 54, 34, 54], [-55, -3, 66, -74, 89, -73, 91, -18]], [[25, 60, 2, 56, -80, 71, -38, 38], [-92, -82, -38, -47, -92, -84, 85, -2], [34, -32, 75, 72, 13, 5, 80, -93], [88, -89, 9, 17, 47, 20, -42, 37]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[34, 60, 34, 56, 7, 71, -38, 38], [80, 0, 13, -42, -88, 18, 85, -2], [34, 80, 75, 72, 13, 54, 80, 54], [88, -3, 66, 17, 89, 20, 91, 37]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @maxsi_i32_2x4x8_axis_1() {
  %x = arith.constant dense<[[[-49, 89, -33, -38, -42, -36, -48, -71], [15, 80, -6, 83, -78, -4, -50, -65], [-17, -41, 53, -76, -3, -31, 35, -42], [-47, 10, 40, -26, 40, 2, 43, -2]], [[-67, 63, -57, -81, 25, 13, -29, -92], [100, 41, 34, 41, 41, 94, -99, -5], [-38, -55, -57, 31, 70, 68, -7, 71], [-72, -43, 75, 72, -77, -38, -47, -28]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x8xi32>
  check.eq %r, dense<[[15, 89, 53, 83, 40, 2, 43, -2], [100, 63, 75, 72, 70, 94, -7, 71]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @maxsi_i32_2x4x8_axis_2() {
  %x = arith.constant dense<[[[-44, -79, 93, -10, 85, 69, 87, 84], [36, 2, 33, -82, 40, 10, 15, 32], [-67, -10, -22, -23, 43, 13, 42, -19], [51, -9, 36, 9, -28, 91, 35, 63]], [[37, 8, -98, 53, -87, 70, 13, -43], [-27, -2, -25, 8, 69, -64, -54, -32], [-23, 23, 11, -51, 5, -56, -97, -80], [-63, -79, 22, 27, -59, 16, -59, -60]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x4xi32>
  check.eq %r, dense<[[93, 40, 43, 91], [70, 69, 23, 27]]> : tensor<2x4xi32>
  tt.return
}

tt.func public @maxsi_i64_16_axis_0() {
  %x = arith.constant dense<[36, -86, 62, -20, -34, 18, 29, 100, -73, 50, 93, -33, 86, 71, -33, -67]> : tensor<16xi64>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.maxsi %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<16xi64>) -> i64
  check.eq %r, 100 : i64
  tt.return
}

tt.func public @maxsi_i64_4x8_axis_1() {
  %x = arith.constant dense<[[70, 13, -18, 34, -58, -55, -40, 64], [-26, 60, -28, 38, -44, 32, 44, -23], [88, -24, 9, 93, 8, 36, -9, -94], [38, 59, 68, -25, 85, -75, 2, -81]]> : tensor<4x8xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.maxsi %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<4x8xi64>) -> tensor<4xi64>
  check.eq %r, dense<[70, 60, 93, 85]> : tensor<4xi64>
  tt.return
}
