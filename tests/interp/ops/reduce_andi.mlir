// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.andi.

tt.func public @andi_i8_16_axis_0() {
  %x = arith.constant dense<[-70, -15, 89, 95, 57, -44, 53, 6, -55, -2, 69, 84, -39, 91, -75, 75]> : tensor<16xi8>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.andi %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<16xi8>) -> i8
  check.eq %r, 0 : i8
  tt.return
}

tt.func public @andi_i8_4x8_axis_1() {
  %x = arith.constant dense<[[-3, -29, 70, -28, 33, -63, 12, -4], [97, 89, 9, 96, -90, 24, -40, 14], [-51, -5, 80, 42, 33, 85, -93, 98], [-21, -12, 56, 6, 13, 99, -22, -39]]> : tensor<4x8xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.andi %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<4x8xi8>) -> tensor<4xi8>
  check.eq %r, dense<0> : tensor<4xi8>
  tt.return
}

tt.func public @andi_i16_16_axis_0() {
  %x = arith.constant dense<[-48, 69, 18, -50, 47, -61, 62, -44, -52, 58, -64, 77, -53, 81, -60, -65]> : tensor<16xi16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.andi %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<16xi16>) -> i16
  check.eq %r, 0 : i16
  tt.return
}

tt.func public @andi_i16_4x8_axis_1() {
  %x = arith.constant dense<[[4, 49, -9, 31, 47, 1, 85, -64], [-52, 24, -57, 47, -50, 45, 48, 70], [64, -86, 87, 87, 98, 56, -42, 22], [83, 7, -82, -86, -87, -27, -8, -6]]> : tensor<4x8xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.andi %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<4x8xi16>) -> tensor<4xi16>
  check.eq %r, dense<0> : tensor<4xi16>
  tt.return
}

tt.func public @andi_i32_16_axis_0() {
  %x = arith.constant dense<[34, -19, -15, -62, 32, -16, 16, 55, -59, -19, -15, -99, 60, 63, 52, -79]> : tensor<16xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.andi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<16xi32>) -> i32
  check.eq %r, 0 : i32
  tt.return
}

tt.func public @andi_i32_4x8_axis_0() {
  %x = arith.constant dense<[[-96, 8, 60, 46, -89, 9, -17, -27], [-92, -91, 37, 38, -8, -63, 22, -15], [2, 84, 51, 44, 13, 46, -56, 91], [-82, 93, -29, 26, 43, -43, 33, -15]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.andi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<8xi32>
  check.eq %r, dense<[0, 0, 32, 0, 0, 0, 0, 65]> : tensor<8xi32>
  tt.return
}

tt.func public @andi_i32_4x8_axis_1() {
  %x = arith.constant dense<[[-96, 34, -1, -26, -64, -70, 51, -49], [-69, 22, -17, -76, 68, -31, -64, 8], [62, -28, -52, -58, 85, -97, 66, 13], [-37, -86, 27, -27, 32, -7, -54, 52]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.andi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4xi32>
  check.eq %r, dense<0> : tensor<4xi32>
  tt.return
}

tt.func public @andi_i32_2x4x8_axis_0() {
  %x = arith.constant dense<[[[-88, 61, -11, 0, -88, 100, -8, 95], [-89, 0, 77, -86, -45, 81, -8, 62], [22, -56, -39, -38, 81, 71, -71, -85], [21, -24, 78, -74, -40, 31, 36, 81]], [[-58, -24, -78, 66, -45, -21, 67, 17], [-91, 37, 70, -61, -64, -5, 26, 51], [18, -50, 92, -35, -50, -72, -51, 21], [-67, 26, -20, -88, -90, -18, 86, 40]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.andi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-128, 40, -80, 0, -128, 96, 64, 17], [-91, 0, 68, -126, -64, 81, 24, 50], [18, -56, 88, -40, 64, 0, -119, 1], [21, 8, 76, -96, -128, 14, 4, 0]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @andi_i32_2x4x8_axis_1() {
  %x = arith.constant dense<[[[-29, -99, 75, 25, -60, 64, 35, -28], [87, 27, 42, 100, -30, -5, -49, 14], [90, 82, -19, 71, -37, -62, 27, 57], [-45, -22, 75, 40, -34, 42, -19, 23]], [[78, 19, 0, 83, -87, -91, -16, 48], [62, -50, 28, 94, 72, -53, -85, 60], [-17, 76, 35, 1, -72, 49, 81, 35], [-42, 54, 59, -28, 47, -73, -21, -54]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.andi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x8xi32>
  check.eq %r, dense<[[66, 0, 8, 0, -64, 0, 1, 0], [6, 0, 0, 0, 8, 1, 0, 0]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @andi_i32_2x4x8_axis_2() {
  %x = arith.constant dense<[[[-35, 99, 21, 99, 16, 92, 57, -25], [45, -54, 84, -76, 18, 74, 24, -39], [-27, -58, -19, -19, 68, -94, 62, 89], [25, 35, 29, -88, -73, 66, -73, -66]], [[-18, 42, -14, -33, -43, -9, -87, -42], [24, 83, 29, 85, -19, 58, 95, -22], [-33, 22, -27, -61, 57, -7, 41, 41], [19, -27, 33, 42, 35, 72, -66, 45]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.andi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x4xi32>
  check.eq %r, dense<0> : tensor<2x4xi32>
  tt.return
}

tt.func public @andi_i64_16_axis_0() {
  %x = arith.constant dense<[53, 5, 100, 1, -12, -93, 42, -85, 75, 88, -33, -37, -58, 31, 44, 23]> : tensor<16xi64>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.andi %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<16xi64>) -> i64
  check.eq %r, 0 : i64
  tt.return
}

tt.func public @andi_i64_4x8_axis_1() {
  %x = arith.constant dense<[[25, -99, 90, 61, -94, 86, -63, -46], [75, -76, 13, 98, 27, -84, -11, 20], [-27, 69, -83, 0, -9, 58, 2, -25], [-35, 15, 70, -71, -55, -88, -68, 90]]> : tensor<4x8xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.andi %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<4x8xi64>) -> tensor<4xi64>
  check.eq %r, dense<0> : tensor<4xi64>
  tt.return
}
