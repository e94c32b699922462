// RUN: tiletwin-exec %s --backend=interp
// arith.trunci: the low bits.

tt.func public @trunci_i8_to_i1() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.trunci %x : tensor<8xi8> to tensor<8xi1>
  check.eq %r, dense<[false, true, true, true, false, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @trunci_i16_to_i1() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.trunci %x : tensor<8xi16> to tensor<8xi1>
  check.eq %r, dense<[false, true, true, true, false, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @trunci_i16_to_i8() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.trunci %x : tensor<8xi16> to tensor<8xi8>
  check.eq %r, dense<[0, 1, -1, 5, -100, -1, 0, 77]> : tensor<8xi8>
  tt.return
}

tt.func public @trunci_i32_to_i1() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77]> : tensor<8xi32>
  %r = arith.trunci %x : tensor<8xi32> to tensor<8xi1>
  check.eq %r, dense<[false, true, true, true, false, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @trunci_i32_to_i8() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77]> : tensor<8xi32>
  %r = arith.trunci %x : tensor<8xi32> to tensor<8xi8>
  check.eq %r, dense<[0, 1, -1, 5, -100, -1, 0, 77]> : tensor<8xi8>
  tt.return
}

tt.func public @trunci_i32_to_i16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77]> : tensor<8xi32>
  %r = arith.trunci %x : tensor<8xi32> to tensor<8xi16>
  check.eq %r, dense<[0, 1, -1, 5, -100, -1, 0, 77]> : tensor<8xi16>
  tt.return
}

tt.func public @trunci_i64_to_i1() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77]> : tensor<8xi64>
  %r = arith.trunci %x : tensor<8xi64> to tensor<8xi1>
  check.eq %r, dense<[false, true, true, true, false, true, false, true]> : tensor<8xi1>
  tt.return
}

tt.func public @trunci_i64_to_i8() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77]> : tensor<8xi64>
  %r = arith.trunci %x : tensor<8xi64> to tensor<8xi8>
  check.eq %r, dense<[0, 1, -1, 5, -100, -1, 0, 77]> : tensor<8xi8>
  tt.return
}

tt.func public @trunci_i64_to_i16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77]> : tensor<8xi64>
  %r = arith.trunci %x : tensor<8xi64> to tensor<8xi16>
  check.eq %r, dense<[0, 1, -1, 5, -100, -1, 0, 77]> : tensor<8xi16>
  tt.return
}

tt.func public @trunci_i64_to_i32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77]> : tensor<8xi64>
  %r = arith.trunci %x : tensor<8xi64> to tensor<8xi32>
  check.eq %r, dense<[0, 1, -1, 5, -100, -1, 0, 77]> : tensor<8xi32>
  tt.return
}

tt.func public @trunci_scalar(%x: i32 {check.value = 511 : i32}) {
  %r = arith.trunci %x : i32 to i8
  %s = arith.extsi %r : i8 to i32
  check.eq %s, -1 : i32
  tt.return
}
