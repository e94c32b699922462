// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.xori.

tt.func public @xori_i8_16_axis_0() {
  %x = arith.constant dense<[-7, 69, -81, 38, -76, -42, 20, 87, -62, 21, -82, 69, 29, 66, 93, 100]> : tensor<16xi8>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.xori %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<16xi8>) -> i8
  check.eq %r, 78 : i8
  tt.return
}

tt.func public @xori_i8_4x8_axis_1() {
  %x = arith.constant dense<[[-11, -57, -58, -9, 57, 11, 55, -98], [-52, -64, 73, 96, -66, -47, -8, 29], [21, 65, -72, -46, 24, -44, 54, 91], [69, -92, -90, 7, -33, 17, -96, -15]]> : tensor<4x8xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.xori %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<4x8xi8>) -> tensor<4xi8>
  check.eq %r, dense<[-104, -81, -97, -33]> : tensor<4xi8>
  tt.return
}

tt.func public @xori_i16_16_axis_0() {
  %x = arith.constant dense<[34, -71, -18, 86, 20, 23, 77, -80, 20, 18, -31, -25, 3, 53, 72, 67]> : tensor<16xi16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.xori %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<16xi16>) -> i16
  check.eq %r, -32 : i16
  tt.return
}

tt.func public @xori_i16_4x8_axis_1() {
  %x = arith.constant dense<[[-100, -49, 54, 28, 2, -20, -11, 39], [-78, 45, -25, 33, -37, 94, 96, -100], [-93, 11, -24, 52, -30, 28, -35, -1], [-9, 92, -35, 64, -31, 87, 72, -72]]> : tensor<4x8xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.xori %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<4x8xi16>) -> tensor<4xi16>
  check.eq %r, dense<[69, 32, -88, 112]> : tensor<4xi16>
  tt.return
}

tt.func public @xori_i32_16_axis_0() {
  %x = arith.constant dense<[-1, 4, -63, 72, 79, 69, -38, -55, -64, 34, 83, -24, 84, -87, 37, 69]> : tensor<16xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<16xi32>) -> i32
  check.eq %r, -81 : i32
  tt.return
}

tt.func public @xori_i32_4x8_axis_0() {
  %x = arith.constant dense<[[37, 7, 76, -7, 14, -72, 77, -73], [39, -90, -43, 97, -36, -30, -96, 78], [-17, 49, -8, 37, 71, 81, -33, 33], [27, -50, -25, 93, -12, 54, -69, 10]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<8xi32>
  check.eq %r, dense<[-10, 94, -122, -32, 97, 61, -119, -46]> : tensor<8xi32>
  tt.return
}

tt.func public @xori_i32_4x8_axis_1() {
  %x = arith.constant dense<[[-44, -64, -80, -78, 45, -17, -92, -92], [-47, 31, -87, 31, 6, 10, 86, -10], [-2, 71, 18, -84, -38, 55, 46, 17], [-36, 72, 65, 41, -89, -30, -88, -57]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4xi32>
  check.eq %r, dense<[-44, -44, -43, -42]> : tensor<4xi32>
  tt.return
}

tt.func public @xori_i32_2x4x8_axis_0() {
  %x = arith.constant dense<[[[-13, -71, -9, -47, -93, 69, -63, -86], [50, 92, 17, 92, -7, 96, -59, 9], [-35, 55, -15, -90, -9, 65, 83, 0], [46, -24, -45, -81, 91, -44, 34, -12]], [[6, 81, 90, -85, -41, -75, -99, 21], [86, 76, -89, -74, -61, 39, -94, -43], [55, 41, -80, -44, -18, -58, 69, 15], [11, -23, 47, 61, 13, 43, -47, -44]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-11, -24, -83, 122, 116, -16, 92, -65], [100, 16, -74, -22, 58, 71, 103, -36], [-22, 30, 65, 114, 25, -121, 22, 15], [37, 1, -4, -110, 86, -1, -13, 32]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @xori_i32_2x4x8_axis_1() {
  %x = arith.constant dense<[[[-72, -11, -78, 20, -23, -62, 87, 33], [92, 0, 41, 83, -21, -18, 38, -10], [-94, 7, -32, 69, -58, 8, 49, -56], [-86, 63, 52, 78, 82, 19, -17, 57]], [[-54, 6, -69, 4, 57, 25, -32, -19], [-37, 10, 65, 16, 32, -42, 53, -87], [36, -25, 87, -59, -13, -91, -76, 93], [65, 0, 59, -77, -40, 17, -84, -27]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x8xi32>
  check.eq %r, dense<[[-20, -51, 79, 76, -106, 55, -81, 38], [116, -21, -106, 98, 50, 123, -51, -4]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @xori_i32_2x4x8_axis_2() {
  %x = arith.constant dense<[[[96, -81, -62, 8, -66, -68, -14, 54], [49, -34, -60, -57, 1, -43, -90, -53], [-47, 9, -91, 31, -68, -46, -78, -26], [-16, 45, -93, 32, 62, -39, 50, -39]], [[-12, -74, 75, 96, 60, 16, 6, -89], [-67, -69, 97, -57, 47, 95, 14, 4], [-90, -42, -20, -31, -71, -12, -81, -65], [-41, -1, 59, 44, -59, 96, -23, -1]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x4xi32>
  check.eq %r, dense<[[-61, 85, 88, 82], [-28, -38, 32, -116]]> : tensor<2x4xi32>
  tt.return
}

tt.func public @xori_i64_16_axis_0() {
  %x = arith.constant dense<[-56, 64, -67, -16, 78, -96, 71, 30, -57, 37, -68, 86, 37, -51, 58, -11]> : tensor<16xi64>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.xori %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<16xi64>) -> i64
  check.eq %r, 93 : i64
  tt.return
}

tt.func public @xori_i64_4x8_axis_1() {
  %x = arith.constant dense<[[39, 26, -68, -25, -14, 76, -100, 70], [22, -36, -48, 92, 14, -93, -42, -84], [-16, 84, 7, -50, 67, 62, 90, 15], [32, -11, 33, -32, -1, -82, -12, -90]]> : tensor<4x8xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.xori %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<4x8xi64>) -> tensor<4xi64>
  check.eq %r, dense<[2, -111, 69, 23]> : tensor<4xi64>
  tt.return
}
