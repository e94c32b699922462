// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.scan: inclusive prefixes along one dimension, from either end. Here: integers; tt_scan_floats.mlir has the rest.

tt.func public @addi_i8_16_axis_0() {
  %x = arith.constant dense<[-6, -9, 5, 8, 0, -6, -7, 5, 7, -9, 7, -6, -8, -9, 2, -1]> : tensor<16xi8>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.addi %a0, %b0 : i8
    tt.scan.return %o0 : i8
  }) : (tensor<16xi8>) -> tensor<16xi8>
  check.eq %r, dense<[-6, -15, -10, -2, -2, -8, -15, -10, -3, -12, -5, -11, -19, -28, -26, -27]> : tensor<16xi8>
  tt.return
}

tt.func public @addi_i32_16_axis_0() {
  %x = arith.constant dense<[9, 1, -8, -6, -3, -4, -2, -1, -6, -7, -7, -7, -7, 7, 3, -1]> : tensor<16xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  check.eq %r, dense<[9, 10, 2, -4, -7, -11, -13, -14, -20, -27, -34, -41, -48, -41, -38, -39]> : tensor<16xi32>
  tt.return
}

tt.func public @addi_i32_16_axis_0_reverse() {
  %x = arith.constant dense<[3, -1, 8, 3, 6, -6, -9, -7, -1, -5, 1, -4, 7, 2, -7, 9]> : tensor<16xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  check.eq %r, dense<[-1, -4, -3, -11, -14, -20, -14, -5, 2, 3, 8, 7, 11, 4, 2, 9]> : tensor<16xi32>
  tt.return
}

tt.func public @addi_i32_4x8_axis_0() {
  %x = arith.constant dense<[[0, -6, -1, -7, -5, -1, -4, 5], [0, -3, 5, -3, 0, -6, -7, -2], [-9, -5, 4, -6, 4, 8, 5, 3], [-6, -3, -7, -4, -7, -4, -5, -7]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[0, -6, -1, -7, -5, -1, -4, 5], [0, -9, 4, -10, -5, -7, -11, 3], [-9, -14, 8, -16, -1, 1, -6, 6], [-15, -17, 1, -20, -8, -3, -11, -1]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @addi_i32_4x8_axis_0_reverse() {
  %x = arith.constant dense<[[3, 2, -9, 2, -6, 1, 0, -5], [-9, 6, -5, 2, -5, -9, 9, -5], [-9, 8, -5, 8, -5, -6, -2, -3], [-1, -7, -6, -7, 6, 1, -1, 7]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-16, 9, -25, 5, -10, -13, 6, -6], [-19, 7, -16, 3, -4, -14, 6, -1], [-10, 1, -11, 1, 1, -5, -3, 4], [-1, -7, -6, -7, 6, 1, -1, 7]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @addi_i32_4x8_axis_1() {
  %x = arith.constant dense<[[-8, 2, -1, 2, 2, -9, 3, -2], [0, -4, 4, 6, -8, -9, -7, 6], [5, 6, -3, 4, -8, -6, -5, 4], [-4, 3, -4, 7, -5, -3, -7, 4]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-8, -6, -7, -5, -3, -12, -9, -11], [0, -4, 0, 6, -2, -11, -18, -12], [5, 11, 8, 12, 4, -2, -7, -3], [-4, -1, -5, 2, -3, -6, -13, -9]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @addi_i32_4x8_axis_1_reverse() {
  %x = arith.constant dense<[[-3, -2, 3, 2, 7, 2, 4, -5], [-5, 4, -5, -7, 7, -7, 5, 0], [6, -7, 9, 4, -8, 6, -3, -6], [0, 0, -5, 7, 5, 8, -7, -4]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[8, 11, 13, 10, 8, 1, -1, -5], [-8, -3, -7, -2, 5, -2, 5, 0], [1, -5, 2, -7, -11, -3, -9, -6], [4, 4, 4, 9, 2, -3, -11, -4]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @addi_i32_2x4x2_axis_1() {
  %x = arith.constant dense<[[[0, -8], [-2, 5], [-2, 0], [2, 5]], [[-5, -5], [-3, 5], [8, 6], [6, 3]]]> : tensor<2x4x2xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<2x4x2xi32>) -> tensor<2x4x2xi32>
  check.eq %r, dense<[[[0, -8], [-2, -3], [-4, -3], [-2, 2]], [[-5, -5], [-8, 0], [0, 6], [6, 9]]]> : tensor<2x4x2xi32>
  tt.return
}

tt.func public @addi_i32_2x4x2_axis_1_reverse() {
  %x = arith.constant dense<[[[1, -9], [7, -2], [8, -6], [2, 3]], [[3, 8], [8, -3], [7, 8], [4, -6]]]> : tensor<2x4x2xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<2x4x2xi32>) -> tensor<2x4x2xi32>
  check.eq %r, dense<[[[18, -14], [17, -5], [10, -3], [2, 3]], [[22, 7], [19, -1], [11, 2], [4, -6]]]> : tensor<2x4x2xi32>
  tt.return
}

tt.func public @addi_i64_16_axis_0() {
  %x = arith.constant dense<[6, -8, 0, -7, -1, -1, 1, -8, -1, -5, 0, 0, 0, -4, 9, 5]> : tensor<16xi64>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.addi %a0, %b0 : i64
    tt.scan.return %o0 : i64
  }) : (tensor<16xi64>) -> tensor<16xi64>
  check.eq %r, dense<[6, -2, -2, -9, -10, -11, -10, -18, -19, -24, -24, -24, -24, -28, -19, -14]> : tensor<16xi64>
  tt.return
}

tt.func public @muli_i8_16_axis_0() {
  %x = arith.constant dense<[-3, -9, 6, 3, 5, -8, -9, -4, -5, 6, -4, -7, 3, 6, -4, 3]> : tensor<16xi8>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.muli %a0, %b0 : i8
    tt.scan.return %o0 : i8
  }) : (tensor<16xi8>) -> tensor<16xi8>
  check.eq %r, dense<[-3, 27, -94, -26, 126, 16, 112, 64, -64, -128, 0, 0, 0, 0, 0, 0]> : tensor<16xi8>
  tt.return
}

tt.func public @muli_i32_16_axis_0() {
  %x = arith.constant dense<[3, 7, 3, -9, 7, -9, 1, -6, 8, -6, 2, 7, 3, -2, 6, 3]> : tensor<16xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  check.eq %r, dense<[3, 21, 63, -567, -3969, 35721, 35721, -214326, -1714608, 10287648, 20575296, 144027072, 432081216, -864162432, -890007296, 1624945408]> : tensor<16xi32>
  tt.return
}

tt.func public @muli_i32_16_axis_0_reverse() {
  %x = arith.constant dense<[-9, 7, 5, 6, -7, -5, -3, -7, -7, 9, -8, -4, 3, 4, 1, 2]> : tensor<16xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  check.eq %r, dense<[-1506843136, 1121864192, -1066867200, -213373440, -35562240, 5080320, -1016064, 338688, -48384, 6912, 768, -96, 24, 8, 2, 2]> : tensor<16xi32>
  tt.return
}

tt.func public @muli_i32_4x8_axis_0() {
  %x = arith.constant dense<[[-5, 2, 9, -5, 0, 4, 2, 1], [5, 9, 1, 4, -5, -2, 9, -5], [1, 5, -7, -2, -3, -1, -1, 5], [-9, -8, -5, 0, -5, -1, -7, 6]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-5, 2, 9, -5, 0, 4, 2, 1], [-25, 18, 9, -20, 0, -8, 18, -5], [-25, 90, -63, 40, 0, 8, -18, -25], [225, -720, 315, 0, 0, -8, 126, -150]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @muli_i32_4x8_axis_0_reverse() {
  %x = arith.constant dense<[[-2, 9, -1, -2, -6, -9, 9, -5], [3, -8, 0, -4, 9, -9, -8, -5], [-8, 4, 4, 9, 8, -8, 1, -6], [-3, -2, 2, -9, 4, -5, 0, -7]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-144, 576, 0, -648, -1728, 3240, 0, 1050], [72, 64, 0, 324, 288, -360, 0, -210], [24, -8, 8, -81, 32, 40, 0, 42], [-3, -2, 2, -9, 4, -5, 0, -7]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @muli_i32_4x8_axis_1() {
  %x = arith.constant dense<[[3, 5, -2, -7, 4, -9, 3, -3], [-7, -6, 8, -1, 8, -9, -3, 0], [5, 7, 1, 2, 1, -9, -1, -6], [0, -4, 3, 4, -8, 5, -6, 2]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[3, 15, -30, 210, 840, -7560, -22680, 68040], [-7, 42, 336, -336, -2688, 24192, -72576, 0], [5, 35, 35, 70, 70, -630, 630, -3780], [0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @muli_i32_4x8_axis_1_reverse() {
  %x = arith.constant dense<[[7, -9, 9, -6, 9, -5, -6, 8], [7, 8, -3, -3, 9, -8, -3, -6], [-8, -1, -1, 5, -9, 1, 9, -9], [7, -4, 2, 3, 9, -5, 5, -9]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[7348320, 1049760, -116640, -12960, 2160, 240, -48, 8], [-653184, -93312, -11664, 3888, -1296, -144, 18, -6], [-29160, 3645, -3645, 3645, 729, -81, -81, -9], [-340200, -48600, 12150, 6075, 2025, 225, -45, -9]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @muli_i32_2x4x2_axis_1() {
  %x = arith.constant dense<[[[4, 7], [-3, -7], [1, 6], [6, 7]], [[4, -8], [1, 8], [-8, 4], [3, 2]]]> : tensor<2x4x2xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<2x4x2xi32>) -> tensor<2x4x2xi32>
  check.eq %r, dense<[[[4, 7], [-12, -49], [-12, -294], [-72, -2058]], [[4, -8], [4, -64], [-32, -256], [-96, -512]]]> : tensor<2x4x2xi32>
  tt.return
}

tt.func public @muli_i32_2x4x2_axis_1_reverse() {
  %x = arith.constant dense<[[[-9, 8], [-7, 0], [-1, -1], [8, 5]], [[0, 6], [0, 2], [-9, 8], [3, 4]]]> : tensor<2x4x2xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.muli %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<2x4x2xi32>) -> tensor<2x4x2xi32>
  check.eq %r, dense<[[[-504, 0], [56, 0], [-8, -5], [8, 5]], [[0, 384], [0, 64], [-27, 32], [3, 4]]]> : tensor<2x4x2xi32>
  tt.return
}

tt.func public @muli_i64_16_axis_0() {
  %x = arith.constant dense<[9, 9, -6, 5, -6, -9, 7, -9, -8, 7, -6, -3, 1, 2, -9, 7]> : tensor<16xi64>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.muli %a0, %b0 : i64
    tt.scan.return %o0 : i64
  }) : (tensor<16xi64>) -> tensor<16xi64>
  check.eq %r, dense<[9, 81, -486, -2430, 14580, -131220, -918540, 8266860, -66134880, -462944160, 2777664960, -8332994880, -8332994880, -16665989760, 149993907840, 1049957354880]> : tensor<16xi64>
  tt.return
}

tt.func public @maxsi_i8_16_axis_0() {
  %x = arith.constant dense<[5, 0, -1, 6, 8, -7, 3, -8, -3, 8, -5, -2, -6, 4, -9, 0]> : tensor<16xi8>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.maxsi %a0, %b0 : i8
    tt.scan.return %o0 : i8
  }) : (tensor<16xi8>) -> tensor<16xi8>
  check.eq %r, dense<[5, 5, 5, 6, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]> : tensor<16xi8>
  tt.return
}

tt.func public @maxsi_i32_16_axis_0() {
  %x = arith.constant dense<[4, -4, -7, 8, 6, 1, 4, 4, 4, 4, 8, -2, -9, -4, 7, -3]> : tensor<16xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  check.eq %r, dense<[4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]> : tensor<16xi32>
  tt.return
}

tt.func public @maxsi_i32_16_axis_0_reverse() {
  %x = arith.constant dense<[-6, 0, 0, -1, 2, 5, 8, -3, 1, -3, 3, 4, -5, -4, -2, -1]> : tensor<16xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  check.eq %r, dense<[8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, -1, -1, -1, -1]> : tensor<16xi32>
  tt.return
}

tt.func public @maxsi_i32_4x8_axis_0() {
  %x = arith.constant dense<[[5, 4, -9, 1, -3, 2, -6, 0], [4, 7, 7, -4, 3, -1, 7, 3], [5, -5, -5, -6, 9, -8, -4, 1], [7, 2, -6, 6, -7, 2, 4, -8]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[5, 4, -9, 1, -3, 2, -6, 0], [5, 7, 7, 1, 3, 2, 7, 3], [5, 7, 7, 1, 9, 2, 7, 3], [7, 7, 7, 6, 9, 2, 7, 3]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @maxsi_i32_4x8_axis_0_reverse() {
  %x = arith.constant dense<[[-9, -9, -9, 9, 1, 8, 0, -9], [6, 2, -5, -4, -1, -8, 8, 7], [8, -7, -3, 1, -7, 6, -3, -2], [3, -1, 2, -8, 7, -1, -4, -6]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[8, 2, 2, 9, 7, 8, 8, 7], [8, 2, 2, 1, 7, 6, 8, 7], [8, -1, 2, 1, 7, 6, -3, -2], [3, -1, 2, -8, 7, -1, -4, -6]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @maxsi_i32_4x8_axis_1() {
  %x = arith.constant dense<[[-7, 5, -5, 3, 4, 6, 4, -5], [8, -7, 3, -5, -2, 3, 9, 3], [-2, -2, -4, -7, 5, 0, 0, -3], [7, -4, -8, 7, 2, 8, -9, 3]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-7, 5, 5, 5, 5, 6, 6, 6], [8, 8, 8, 8, 8, 8, 9, 9], [-2, -2, -2, -2, 5, 5, 5, 5], [7, 7, 7, 7, 7, 8, 8, 8]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @maxsi_i32_4x8_axis_1_reverse() {
  %x = arith.constant dense<[[-9, -2, 6, 6, -3, 6, 1, -4], [0, 3, 3, -8, -3, 1, -5, -6], [2, 8, 1, -3, 9, 9, 5, -6], [3, 9, 2, -4, -3, 7, -4, -4]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[6, 6, 6, 6, 6, 6, 1, -4], [3, 3, 3, 1, 1, 1, -5, -6], [9, 9, 9, 9, 9, 9, 5, -6], [9, 9, 7, 7, 7, 7, -4, -4]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @maxsi_i32_2x4x2_axis_1() {
  %x = arith.constant dense<[[[-5, -5], [-3, -2], [2, -8], [-9, 2]], [[-4, 5], [7, -2], [-1, 4], [-9, 3]]]> : tensor<2x4x2xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<2x4x2xi32>) -> tensor<2x4x2xi32>
  check.eq %r, dense<[[[-5, -5], [-3, -2], [2, -2], [2, 2]], [[-4, 5], [7, 5], [7, 5], [7, 5]]]> : tensor<2x4x2xi32>
  tt.return
}

tt.func public @maxsi_i32_2x4x2_axis_1_reverse() {
  %x = arith.constant dense<[[[2, 7], [7, 1], [-2, 7], [-3, 3]], [[-7, -2], [9, 6], [9, 0], [3, 8]]]> : tensor<2x4x2xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.maxsi %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<2x4x2xi32>) -> tensor<2x4x2xi32>
  check.eq %r, dense<[[[7, 7], [7, 7], [-2, 7], [-3, 3]], [[9, 8], [9, 8], [9, 8], [3, 8]]]> : tensor<2x4x2xi32>
  tt.return
}

tt.func public @maxsi_i64_16_axis_0() {
  %x = arith.constant dense<[-2, 8, -2, -2, 2, -4, -4, -7, -9, -5, -5, -7, -2, 3, 1, 2]> : tensor<16xi64>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.maxsi %a0, %b0 : i64
    tt.scan.return %o0 : i64
  }) : (tensor<16xi64>) -> tensor<16xi64>
  check.eq %r, dense<[-2, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]> : tensor<16xi64>
  tt.return
}

tt.func public @xori_i8_16_axis_0() {
  %x = arith.constant dense<[-2, 3, 1, -6, 6, -9, 0, 1, -4, 8, 5, 0, 5, -6, 2, -2]> : tensor<16xi8>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i8, %b0: i8):
    %o0 = arith.xori %a0, %b0 : i8
    tt.scan.return %o0 : i8
  }) : (tensor<16xi8>) -> tensor<16xi8>
  check.eq %r, dense<[-2, -3, -4, 6, 0, -9, -9, -10, 10, 2, 7, 7, 2, -8, -6, 4]> : tensor<16xi8>
  tt.return
}

tt.func public @xori_i32_16_axis_0() {
  %x = arith.constant dense<[3, 3, -7, 8, 7, -3, 8, -5, -3, 6, -8, 9, 8, -5, 2, 3]> : tensor<16xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  check.eq %r, dense<[3, 0, -7, -15, -10, 11, 3, -8, 5, 3, -5, -14, -6, 1, 3, 0]> : tensor<16xi32>
  tt.return
}

tt.func public @xori_i32_16_axis_0_reverse() {
  %x = arith.constant dense<[-4, -1, -3, 4, 3, -3, -8, -6, 1, 2, -3, -7, 2, -2, -1, 1]> : tensor<16xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  check.eq %r, dense<[3, -1, 0, -3, -7, -6, 7, -1, 5, 4, 6, -5, 2, 0, -2, 1]> : tensor<16xi32>
  tt.return
}

tt.func public @xori_i32_4x8_axis_0() {
  %x = arith.constant dense<[[-9, -7, 7, -1, -4, -9, -6, 4], [-3, -9, -7, 5, -5, -4, 6, -8], [8, -8, -3, -9, 6, 8, 2, 3], [4, 4, 1, -8, -7, -9, -9, -4]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-9, -7, 7, -1, -4, -9, -6, 4], [10, 14, -2, -6, 7, 11, -4, -4], [2, -10, 3, 13, 1, 3, -2, -1], [6, -14, 2, -11, -8, -12, 9, 3]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @xori_i32_4x8_axis_0_reverse() {
  %x = arith.constant dense<[[-4, 0, 0, -9, 2, 6, -4, -3], [-4, 2, -5, -8, -2, -1, -5, -4], [6, -2, -2, -3, 4, -7, -2, -5], [-7, 8, 0, 8, -5, 2, 8, 9]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[-1, -12, 5, -6, 3, 2, -15, -13], [3, -12, 5, 13, 1, 4, 13, 14], [-1, -10, -2, -11, -1, -5, -10, -14], [-7, 8, 0, 8, -5, 2, 8, 9]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @xori_i32_4x8_axis_1() {
  %x = arith.constant dense<[[7, -9, 3, -5, 3, 8, 0, -4], [5, 8, 2, 3, -2, 7, 7, -1], [4, -7, -1, 4, -5, -1, -4, 2], [-4, -5, 8, -1, 7, -1, -3, 2]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[7, -16, -13, 8, 11, 3, 3, -1], [5, 13, 15, 12, -14, -11, -14, 13], [4, -3, 2, 6, -3, 2, -2, -4], [-4, 7, 15, -16, -9, 8, -11, -9]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @xori_i32_4x8_axis_1_reverse() {
  %x = arith.constant dense<[[9, 4, 0, 3, 3, -7, 5, -5], [5, -1, -3, 0, -6, 8, 3, 6], [5, 7, -9, 7, -2, -5, -5, 7], [-6, -5, 3, 2, -3, -8, -8, 4]]> : tensor<4x8xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  check.eq %r, dense<[[10, 3, 7, 7, 4, 7, -2, -5], [-16, -11, 10, -9, -9, 13, 5, 6], [11, 14, 9, -2, -7, 7, -4, 7], [-7, 3, -8, -5, -7, 4, -4, 4]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @xori_i32_2x4x2_axis_1() {
  %x = arith.constant dense<[[[5, -7], [-8, 9], [-3, -2], [1, 1]], [[-8, -6], [2, 7], [-6, 9], [-1, -2]]]> : tensor<2x4x2xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<2x4x2xi32>) -> tensor<2x4x2xi32>
  check.eq %r, dense<[[[5, -7], [-3, -16], [0, 14], [1, 15]], [[-8, -6], [-6, -3], [0, -12], [-1, 10]]]> : tensor<2x4x2xi32>
  tt.return
}

tt.func public @xori_i32_2x4x2_axis_1_reverse() {
  %x = arith.constant dense<[[[1, -9], [4, 8], [8, -9], [6, -2]], [[6, 8], [1, -1], [3, 3], [2, -5]]]> : tensor<2x4x2xi32>
  %r = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.xori %a0, %b0 : i32
    tt.scan.return %o0 : i32
  }) : (tensor<2x4x2xi32>) -> tensor<2x4x2xi32>
  check.eq %r, dense<[[[11, -10], [10, 1], [14, 9], [6, -2]], [[6, 15], [0, 7], [1, -8], [2, -5]]]> : tensor<2x4x2xi32>
  tt.return
}

tt.func public @xori_i64_16_axis_0() {
  %x = arith.constant dense<[-1, -5, 5, -7, -7, 5, 1, 2, -4, -3, 0, 6, 4, -2, 3, -1]> : tensor<16xi64>
  %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a0: i64, %b0: i64):
    %o0 = arith.xori %a0, %b0 : i64
    tt.scan.return %o0 : i64
  }) : (tensor<16xi64>) -> tensor<16xi64>
  check.eq %r, dense<[-1, 4, 1, -8, 1, 4, 5, 7, -5, 6, 6, 0, 4, -6, -7, 6]> : tensor<16xi64>
  tt.return
}
