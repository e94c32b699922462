// RUN: tiletwin-exec %s --backend=interp
// arith.shrsi: shift right, copying the sign.

tt.func public @shrsi_i8() {
  %x = arith.constant dense<[127, -128, -128, -1, 0, -7, 7, 127, -128, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi8>
  %y = arith.constant dense<[1, 0, 1, 1, 5, 2, 2, 7, 7, 1, 7, 7, 7, 3, 3, 0]> : tensor<16xi8>
  %r = arith.shrsi %x, %y : tensor<16xi8>
  check.eq %r, dense<[63, -128, -64, -1, 0, -2, 1, 0, -1, -1, 0, -1, 0, 10, -16, 12]> : tensor<16xi8>
  tt.return
}

tt.func public @shrsi_i16() {
  %x = arith.constant dense<[32767, -32768, -32768, -1, 0, -7, 7, 32767, -32768, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi16>
  %y = arith.constant dense<[1, 0, 1, 1, 5, 2, 2, 15, 15, 1, 7, 7, 15, 3, 3, 0]> : tensor<16xi16>
  %r = arith.shrsi %x, %y : tensor<16xi16>
  check.eq %r, dense<[16383, -32768, -16384, -1, 0, -2, 1, 0, -1, -1, 0, -1, 0, 10, -16, 12]> : tensor<16xi16>
  tt.return
}

tt.func public @shrsi_i32() {
  %x = arith.constant dense<[2147483647, -2147483648, -2147483648, -1, 0, -7, 7, 2147483647, -2147483648, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi32>
  %y = arith.constant dense<[1, 0, 1, 1, 5, 2, 2, 31, 31, 1, 7, 7, 31, 19, 3, 0]> : tensor<16xi32>
  %r = arith.shrsi %x, %y : tensor<16xi32>
  check.eq %r, dense<[1073741823, -2147483648, -1073741824, -1, 0, -2, 1, 0, -1, -1, 0, -1, 0, 0, -16, 12]> : tensor<16xi32>
  tt.return
}

tt.func public @shrsi_i64() {
  %x = arith.constant dense<[9223372036854775807, -9223372036854775808, -9223372036854775808, -1, 0, -7, 7, 9223372036854775807, -9223372036854775808, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi64>
  %y = arith.constant dense<[1, 0, 1, 1, 5, 2, 2, 63, 63, 1, 7, 7, 63, 51, 3, 0]> : tensor<16xi64>
  %r = arith.shrsi %x, %y : tensor<16xi64>
  check.eq %r, dense<[4611686018427387903, -9223372036854775808, -4611686018427387904, -1, 0, -2, 1, 0, -1, -1, 0, -1, 0, 0, -16, 12]> : tensor<16xi64>
  tt.return
}

tt.func public @shrsi_scalar_i8(%x: i8 {check.value = -100 : i8}, %y: i8 {check.value = 3 : i8}) {
  %r = arith.shrsi %x, %y : i8
  check.eq %r, -13 : i8
  tt.return
}

tt.func public @shrsi_scalar_i32(%x: i32 {check.value = -100 : i32}, %y: i32 {check.value = 3 : i32}) {
  %r = arith.shrsi %x, %y : i32
  check.eq %r, -13 : i32
  tt.return
}

tt.func public @shrsi_scalar_i64(%x: i64 {check.value = -100 : i64}, %y: i64 {check.value = 3 : i64}) {
  %r = arith.shrsi %x, %y : i64
  check.eq %r, -13 : i64
  tt.return
}
