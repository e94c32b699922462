// RUN: tiletwin-exec %s --backend=interp
// arith.remui: unsigned remainder.

tt.func public @remui_i8() {
  %x = arith.constant dense<[127, -128, -128, -1, 0, -7, 7, 127, -128, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi8>
  %y = arith.constant dense<[1, -128, 1, -1, 5, 2, -2, 127, 127, 1, 7, -7, 127, 51, 3, -128]> : tensor<16xi8>
  %r = arith.remui %x, %y : tensor<16xi8>
  check.eq %r, dense<[0, 0, 0, 0, 0, 1, 7, 0, 1, 0, 2, -100, 1, 34, 2, 12]> : tensor<16xi8>
  tt.return
}

tt.func public @remui_i16() {
  %x = arith.constant dense<[32767, -32768, -32768, -1, 0, -7, 7, 32767, -32768, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi16>
  %y = arith.constant dense<[1, -32768, 1, -1, 5, 2, -2, 32767, 32767, 1, 7, -7, 32767, 51, 3, -32768]> : tensor<16xi16>
  %r = arith.remui %x, %y : tensor<16xi16>
  check.eq %r, dense<[0, 0, 0, 0, 0, 1, 7, 0, 1, 0, 2, -100, 1, 34, 2, 12]> : tensor<16xi16>
  tt.return
}

tt.func public @remui_i32() {
  %x = arith.constant dense<[2147483647, -2147483648, -2147483648, -1, 0, -7, 7, 2147483647, -2147483648, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi32>
  %y = arith.constant dense<[1, -2147483648, 1, -1, 5, 2, -2, 2147483647, 2147483647, 1, 7, -7, 2147483647, 51, 3, -2147483648]> : tensor<16xi32>
  %r = arith.remui %x, %y : tensor<16xi32>
  check.eq %r, dense<[0, 0, 0, 0, 0, 1, 7, 0, 1, 0, 2, -100, 1, 34, 2, 12]> : tensor<16xi32>
  tt.return
}

tt.func public @remui_i64() {
  %x = arith.constant dense<[9223372036854775807, -9223372036854775808, -9223372036854775808, -1, 0, -7, 7, 9223372036854775807, -9223372036854775808, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi64>
  %y = arith.constant dense<[1, -9223372036854775808, 1, -1, 5, 2, -2, 9223372036854775807, 9223372036854775807, 1, 7, -7, 9223372036854775807, 51, 3, -9223372036854775808]> : tensor<16xi64>
  %r = arith.remui %x, %y : tensor<16xi64>
  check.eq %r, dense<[0, 0, 0, 0, 0, 1, 7, 0, 1, 0, 2, -100, 1, 34, 2, 12]> : tensor<16xi64>
  tt.return
}

tt.func public @remui_scalar_i8(%x: i8 {check.value = -100 : i8}, %y: i8 {check.value = 3 : i8}) {
  %r = arith.remui %x, %y : i8
  check.eq %r, 0 : i8
  tt.return
}

tt.func public @remui_scalar_i32(%x: i32 {check.value = -100 : i32}, %y: i32 {check.value = 3 : i32}) {
  %r = arith.remui %x, %y : i32
  check.eq %r, 0 : i32
  tt.return
}

tt.func public @remui_scalar_i64(%x: i64 {check.value = -100 : i64}, %y: i64 {check.value = 3 : i64}) {
  %r = arith.remui %x, %y : i64
  check.eq %r, 0 : i64
  tt.return
}
