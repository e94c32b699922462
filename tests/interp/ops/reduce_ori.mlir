// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.ori.

tt.func public @ori_i8_16_axis_0() {
  %x = arith.constant dense<[35, -11, 32, 20, 59, 54, 92, 89, -54, 78, -45, -50, -56, 45, -82, -72]> : tensor<16xi8>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.ori %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<16xi8>) -> i8
  check.eq %r, -1 : i8
  tt.return
}

tt.func public @ori_i8_4x8_axis_1() {
  %x = arith.constant dense<[[19, 82, 59, -17, 18, -53, -24, 41], [-87, 62, 6, 64, -57, -72, -31, -10], [15, -82, -42, 21, 94, -38, -48, 50], [100, 37, -40, -59, -52, -70, 93, 1]]> : tensor<4x8xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.ori %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<4x8xi8>) -> tensor<4xi8>
  check.eq %r, dense<-1> : tensor<4xi8>
  tt.return
}

tt.func public @ori_i16_16_axis_0() {
  %x = arith.constant dense<[-64, 92, -69, 92, -56, -4, -38, 2, 30, -21, -68, -99, -71, 80, 76, 62]> : tensor<16xi16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.ori %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<16xi16>) -> i16
  check.eq %r, -1 : i16
  tt.return
}

tt.func public @ori_i16_4x8_axis_1() {
  %x = arith.constant dense<[[-31, -47, -33, -46, 88, -11, -39, 70], [-57, -69, -40, 25, -84, 35, -98, 59], [85, -38, 57, -93, 97, 90, -34, 44], [-3, 79, 51, 100, 47, 50, -67, -70]]> : tensor<4x8xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.ori %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<4x8xi16>) -> tensor<4xi16>
  check.eq %r, dense<-1> : tensor<4xi16>
  tt.return
}

tt.func public @ori_i32_16_axis_0() {
  %x = arith.constant dense<[-93, 50, 20, 62, 8, 88, 87, 55, -82, 98, 58, -93, -29, 25, -12, -16]> : tensor<16xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.ori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<16xi32>) -> i32
  check.eq %r, -1 : i32
  tt.return
}

tt.func public @ori_i32_4x8_axis_0() {
  %x = arith.constant dense<[[-69, 63, -22, 50, -27, -74, -76, 20], [37, -100, -41, 26, -56, -84, -31, -86], [79, 83, -41, -50, 88, 26, -20, -27], [3, 71, -100, -100, 16, 88, -71, -2]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.ori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<8xi32>
  check.eq %r, dense<[-1, -1, -1, -2, -3, -2, -3, -1]> : tensor<8xi32>
  tt.return
}

tt.func public @ori_i32_4x8_axis_1() {
  %x = arith.constant dense<[[31, -34, -62, 94, -83, 81, -60, -93], [-30, -48, -40, -87, 1, -27, -84, -76], [73, -76, 100, 74, 93, 76, -65, 22], [-8, 7, -13, -69, 24, -91, 23, 77]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.ori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4xi32>
  check.eq %r, dense<-1> : tensor<4xi32>
  tt.return
}

tt.func public @ori_i32_2x4x8_axis_0() {
  %x = arith.constant dense<[[[96, -26, -55, -58, -90, -54, -94, -54], [89, 28, 17, -82, 36, -73, -8, 38], [33, 81, 94, 30, -63, -17, 88, -20], [81, -53, 25, -23, -80, 93, -19, 66]], [[-57, -6, 63, -31, 45, 81, -15, -15], [-100, 96, 77, -45, 75, 39, -78, 89], [-90, -15, 54, -83, -4, 73, 79, -100], [-62, 89, -93, 88, 86, -58, -87, -75]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.ori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-25, -2, -1, -25, -81, -37, -13, -5], [-35, 124, 93, -1, 111, -73, -6, 127], [-89, -15, 126, -65, -3, -17, 95, -4], [-45, -37, -69, -7, -10, -33, -19, -9]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @ori_i32_2x4x8_axis_1() {
  %x = arith.constant dense<[[[48, -10, -51, 64, -54, -69, -36, 1], [-35, -58, 27, -32, -59, 66, -70, -95], [-33, 23, -23, -76, 29, 39, -5, -31], [-64, 84, 61, 69, -98, 4, 32, 90]], [[30, 57, -81, 23, -54, -43, 73, 73], [30, -94, -19, -70, 95, -13, 8, -4], [-92, 62, 20, 94, -77, 96, -9, -82], [86, -51, -32, 17, -41, 60, -20, -29]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.ori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x8xi32>
  check.eq %r, dense<[[-1, -9, -1, -11, -33, -1, -1, -5], [-2, -1, -1, -1, -1, -1, -1, -1]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @ori_i32_2x4x8_axis_2() {
  %x = arith.constant dense<[[[-70, 59, -79, 60, -28, 79, 35, -1], [67, 77, 62, -35, 44, 35, 28, -76], [-17, 10, 82, 65, 43, -91, 4, 91], [-49, -15, -93, 1, -54, 44, -85, 43]], [[71, -68, -28, -3, -58, 19, -90, -59], [46, -55, 44, -33, 39, -65, -58, 33], [27, 92, 5, -54, 19, 80, -29, 9], [68, -48, -94, -100, 40, 59, -21, -49]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.ori %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x4xi32>
  check.eq %r, dense<-1> : tensor<2x4xi32>
  tt.return
}

tt.func public @ori_i64_16_axis_0() {
  %x = arith.constant dense<[70, -87, 69, -44, 61, 73, -78, 57, 45, 63, 33, -14, -87, -98, 52, -69]> : tensor<16xi64>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.ori %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<16xi64>) -> i64
  check.eq %r, -1 : i64
  tt.return
}

tt.func public @ori_i64_4x8_axis_1() {
  %x = arith.constant dense<[[44, -17, 94, 1, -3, -62, 10, -3], [21, -36, 98, -73, -36, -92, 43, 36], [3, -94, -90, 92, -58, 89, 54, 26], [-32, -87, 76, -96, -44, 46, -81, 76]]> : tensor<4x8xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.ori %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<4x8xi64>) -> tensor<4xi64>
  check.eq %r, dense<-1> : tensor<4xi64>
  tt.return
}
