// RUN: tiletwin-exec %s --backend=interp
// tt.popcount: ones of each width, the sign's among them; scalars and a value that is the same for all elements.

tt.func public @popcount_i8() {
  %x = arith.constant dense<[0, 1, -1, -128, 127, 85, -86, 16]> : tensor<8xi8>
  %r = tt.popcount %x : tensor<8xi8>
  check.eq %r, dense<[0, 1, 8, 1, 7, 4, 4, 1]> : tensor<8xi8>
  tt.return
}

tt.func public @popcount_i16() {
  %x = arith.constant dense<[0, 1, -1, -32768, 32767, 255, -256, 4660]> : tensor<8xi16>
  %r = tt.popcount %x : tensor<8xi16>
  check.eq %r, dense<[0, 1, 16, 1, 15, 8, 8, 5]> : tensor<8xi16>
  tt.return
}

tt.func public @popcount_i32() {
  %x = arith.constant dense<[0, 1, -1, -2147483648, 2147483647, 305419896, -2, 65535]> : tensor<8xi32>
  %r = tt.popcount %x : tensor<8xi32>
  check.eq %r, dense<[0, 1, 32, 1, 31, 13, 31, 16]> : tensor<8xi32>
  tt.return
}

tt.func public @popcount_i64() {
  %x = arith.constant dense<[0, 1, -1, -9223372036854775808, 9223372036854775807, 1311768467463790320, 4294967295, -4294967296]> : tensor<8xi64>
  %r = tt.popcount %x : tensor<8xi64>
  check.eq %r, dense<[0, 1, 64, 1, 63, 32, 32, 32]> : tensor<8xi64>
  tt.return
}

tt.func public @popcount_scalar(%x: i64 {check.value = -1 : i64}) {
  %r = tt.popcount %x : i64
  %t = tt.splat %x : i64 -> tensor<4xi64>
  %s = tt.popcount %t : tensor<4xi64>
  check.eq %r, 64 : i64
  check.eq %s, dense<64> : tensor<4xi64>
  tt.return
}
