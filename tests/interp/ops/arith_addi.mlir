// RUN: tiletwin-exec %s --backend=interp
// arith.addi: sum, wrapping.

tt.func public @addi_i8() {
  %x = arith.constant dense<[127, -128, -128, -1, 0, -7, 7, 127, -128, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi8>
  %y = arith.constant dense<[1, -128, 1, -1, 5, 2, -2, 127, 127, 1, 7, -7, 127, 51, 3, -128]> : tensor<16xi8>
  %r = arith.addi %x, %y : tensor<16xi8>
  check.eq %r, dense<[-128, 0, -127, -2, 5, -5, 5, -2, -1, 0, 107, -107, -128, -120, -125, -116]> : tensor<16xi8>
  tt.return
}

tt.func public @addi_i16() {
  %x = arith.constant dense<[32767, -32768, -32768, -1, 0, -7, 7, 32767, -32768, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi16>
  %y = arith.constant dense<[1, -32768, 1, -1, 5, 2, -2, 32767, 32767, 1, 7, -7, 32767, 51, 3, -32768]> : tensor<16xi16>
  %r = arith.addi %x, %y : tensor<16xi16>
  check.eq %r, dense<[-32768, 0, -32767, -2, 5, -5, 5, -2, -1, 0, 107, -107, -32768, 136, -125, -32756]> : tensor<16xi16>
  tt.return
}

tt.func public @addi_i32() {
  %x = arith.constant dense<[2147483647, -2147483648, -2147483648, -1, 0, -7, 7, 2147483647, -2147483648, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi32>
  %y = arith.constant dense<[1, -2147483648, 1, -1, 5, 2, -2, 2147483647, 2147483647, 1, 7, -7, 2147483647, 51, 3, -2147483648]> : tensor<16xi32>
  %r = arith.addi %x, %y : tensor<16xi32>
  check.eq %r, dense<[-2147483648, 0, -2147483647, -2, 5, -5, 5, -2, -1, 0, 107, -107, -2147483648, 136, -125, -2147483636]> : tensor<16xi32>
  tt.return
}

tt.func public @addi_i64() {
  %x = arith.constant dense<[9223372036854775807, -9223372036854775808, -9223372036854775808, -1, 0, -7, 7, 9223372036854775807, -9223372036854775808, -1, 100, -100, 1, 85, -128, 12]> : tensor<16xi64>
  %y = arith.constant dense<[1, -9223372036854775808, 1, -1, 5, 2, -2, 9223372036854775807, 9223372036854775807, 1, 7, -7, 9223372036854775807, 51, 3, -9223372036854775808]> : tensor<16xi64>
  %r = arith.addi %x, %y : tensor<16xi64>
  check.eq %r, dense<[-9223372036854775808, 0, -9223372036854775807, -2, 5, -5, 5, -2, -1, 0, 107, -107, -9223372036854775808, 136, -125, -9223372036854775796]> : tensor<16xi64>
  tt.return
}

tt.func public @addi_scalar_i8(%x: i8 {check.value = -100 : i8}, %y: i8 {check.value = 3 : i8}) {
  %r = arith.addi %x, %y : i8
  check.eq %r, -97 : i8
  tt.return
}

tt.func public @addi_scalar_i32(%x: i32 {check.value = -100 : i32}, %y: i32 {check.value = 3 : i32}) {
  %r = arith.addi %x, %y : i32
  check.eq %r, -97 : i32
  tt.return
}

tt.func public @addi_scalar_i64(%x: i64 {check.value = -100 : i64}, %y: i64 {check.value = 3 : i64}) {
  %r = arith.addi %x, %y : i64
  check.eq %r, -97 : i64
  tt.return
}

tt.func public @addi_of_ranges() {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = arith.constant dense<2147483645> : tensor<8xi32>
  %r = arith.addi %i, %c : tensor<8xi32>
  check.eq %r, dense<[2147483645, 2147483646, 2147483647, -2147483648, -2147483647, -2147483646, -2147483645, -2147483644]> : tensor<8xi32>
  tt.return
}
