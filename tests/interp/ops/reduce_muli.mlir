// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with arith.muli.

tt.func public @muli_i8_16_axis_0() {
  %x = arith.constant dense<[-68, -11, -13, -26, -29, -47, 40, 69, -52, 48, -32, 55, -63, 99, -41, -9]> : tensor<16xi8>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.muli %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<16xi8>) -> i8
  check.eq %r, 0 : i8
  tt.return
}

tt.func public @muli_i8_4x8_axis_1() {
  %x = arith.constant dense<[[72, -73, -21, -59, 5, -87, -80, -97], [53, -71, 43, -29, -13, 81, 47, -87], [20, 30, -44, -18, -78, -87, 30, -76], [12, 96, -75, 20, -60, -61, 94, -17]]> : tensor<4x8xi8>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.muli %a0, %b0 : i8
    tt.reduce.return %o0 : i8
  }) : (tensor<4x8xi8>) -> tensor<4xi8>
  check.eq %r, dense<[-128, 17, 0, 0]> : tensor<4xi8>
  tt.return
}

tt.func public @muli_i16_16_axis_0() {
  %x = arith.constant dense<[54, -12, -41, -49, 71, -72, 79, 28, 2, -33, 11, 83, 83, 39, 78, 71]> : tensor<16xi16>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.muli %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<16xi16>) -> i16
  check.eq %r, -11264 : i16
  tt.return
}

tt.func public @muli_i16_4x8_axis_1() {
  %x = arith.constant dense<[[-17, 92, -47, -100, -47, 78, -12, 87], [49, -39, 7, -83, 78, 7, 66, -37], [-20, -9, -82, -66, 87, 54, -9, 13], [51, 93, 59, -66, -77, -11, 88, 11]]> : tensor<4x8xi16>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i16, %b0: i16):
    %o0 = arith.muli %a0, %b0 : i16
    tt.reduce.return %o0 : i16
  }) : (tensor<4x8xi16>) -> tensor<4xi16>
  check.eq %r, dense<[-30336, 24004, -21664, 31824]> : tensor<4xi16>
  tt.return
}

tt.func public @muli_i32_16_axis_0() {
  %x = arith.constant dense<[31, -20, 21, -41, -63, 63, 10, 74, 59, 55, -89, -91, 77, -47, 5, -70]> : tensor<16xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<16xi32>) -> i32
  check.eq %r, 81609312 : i32
  tt.return
}

tt.func public @muli_i32_4x8_axis_0() {
  %x = arith.constant dense<[[-57, 91, 52, -89, 51, 40, -79, 36], [-5, -93, 12, -78, 67, 53, 11, -96], [15, 14, -61, 21, 58, -65, 86, -3], [-30, -83, 31, -46, 76, 90, -41, 89]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<8xi32>
  check.eq %r, dense<[-128250, 9834006, -1179984, -6705972, 15062136, -12402000, 3064094, 922752]> : tensor<8xi32>
  tt.return
}

tt.func public @muli_i32_4x8_axis_1() {
  %x = arith.constant dense<[[11, -92, -58, -59, 3, 85, -49, -63], [-26, 28, -3, 20, 29, -54, -1, -36], [47, 92, -55, -50, 40, -11, 44, -91], [42, -40, -33, 46, -6, 4, 74, 9]]> : tensor<4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4xi32>
  check.eq %r, dense<[1232198120, 1832463616, -1762309888, -2108330496]> : tensor<4xi32>
  tt.return
}

tt.func public @muli_i32_2x4x8_axis_0() {
  %x = arith.constant dense<[[[-79, 80, -17, 93, 31, -10, 27, 30], [-5, 76, 89, 47, 64, 85, -99, -53], [-1, 82, -63, -54, 59, -9, -62, 69], [52, 69, 47, 28, 15, -66, -57, 78]], [[41, 25, -35, 40, 48, -69, 9, -15], [-31, -7, -40, -45, -91, -45, -99, 58], [-35, 60, -43, -93, 24, -13, -54, 91], [57, -9, -57, 41, 66, 1, 51, -99]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-3239, 2000, 595, 3720, 1488, 690, 243, -450], [155, -532, -3560, -2115, -5824, -3825, 9801, -3074], [35, 4920, 2709, 5022, 1416, 117, 3348, 6279], [2964, -621, -2679, 1148, 990, -66, -2907, -7722]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @muli_i32_2x4x8_axis_1() {
  %x = arith.constant dense<[[[-38, -75, -63, -1, -33, -12, -37, -63], [23, 3, 90, 3, 2, 44, 60, 88], [-97, -41, 91, 87, 56, -3, 32, 91], [-86, -87, -41, 64, -67, -42, 47, -88]], [[-29, 15, -75, -11, 36, -9, 22, -29], [38, 12, -48, 20, 72, 32, -10, -32], [-41, 14, 64, 15, 99, -57, 95, 89], [58, 20, -2, -59, 53, -55, -52, -63]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x8xi32>
  check.eq %r, dense<[[-7290908, -802575, 21154770, -16704, 247632, -66528, -3338880, 44396352], [2620556, 50400, -460800, 194700, 13600224, -902880, 1086800, -5203296]]> : tensor<2x8xi32>
  tt.return
}

tt.func public @muli_i32_2x4x8_axis_2() {
  %x = arith.constant dense<[[[46, 83, -22, 7, -38, -47, 34, -82], [65, 2, -44, -83, 67, 53, 42, 1], [-13, 26, 29, 19, 59, -89, -27, 90], [57, -100, -75, -98, 55, 86, 0, -97]], [[67, 42, 19, 35, 33, 50, -17, -55], [-26, -15, 97, -87, 2, -15, 94, 20], [63, 88, 65, -8, -8, -84, -15, 63], [63, 94, -63, 46, -39, -28, 48, 14]]]> : tensor<2x4x8xi32>
  %r = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<2x4x8xi32>) -> tensor<2x4xi32>
  check.eq %r, dense<[[-1438734176, 2087179184, -1266928652, 0], [745479588, 940650272, 1088047104, -1011087872]]> : tensor<2x4xi32>
  tt.return
}

tt.func public @muli_i64_16_axis_0() {
  %x = arith.constant dense<[52, 4, -39, -50, 83, 40, 27, -87, -45, 46, -41, 44, 8, -93, 27, 27]> : tensor<16xi64>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.muli %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<16xi64>) -> i64
  check.eq %r, -9108307158013100032 : i64
  tt.return
}

tt.func public @muli_i64_4x8_axis_1() {
  %x = arith.constant dense<[[34, -80, -77, 19, -37, -25, -66, -45], [-89, 36, 88, 99, -75, 20, 3, -23], [13, -93, 12, 27, 18, 49, -73, 44], [-93, -20, 60, 36, -55, 41, 49, -63]]> : tensor<4x8xi64>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.muli %a0, %b0 : i64
    tt.reduce.return %o0 : i64
  }) : (tensor<4x8xi64>) -> tensor<4xi64>
  check.eq %r, dense<[10932296760000, -2889021168000, 1109725160544, 27967256856000]> : tensor<4xi64>
  tt.return
}
