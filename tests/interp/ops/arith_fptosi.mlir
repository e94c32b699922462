// RUN: tiletwin-exec %s --backend=interp
// arith.fptosi: floats to signed integers, truncated toward zero. Out of range: the nearest integer of 16, 32
// or 64 bits; an 8-bit result is the low half of the 16-bit one. NaN: 0, or the sign bit alone if a side has 64 bits.

tt.func public @fptosi_f16_to_i8() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf16>
  %r = arith.fptosi %x : tensor<8xf16> to tensor<8xi8>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi8>
  tt.return
}

tt.func public @fptosi_f16_to_i16() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf16>
  %r = arith.fptosi %x : tensor<8xf16> to tensor<8xi16>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi16>
  tt.return
}

tt.func public @fptosi_f16_to_i32() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf16>
  %r = arith.fptosi %x : tensor<8xf16> to tensor<8xi32>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi32>
  tt.return
}

tt.func public @fptosi_f16_to_i64() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf16>
  %r = arith.fptosi %x : tensor<8xf16> to tensor<8xi64>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi64>
  tt.return
}

tt.func public @fptosi_bf16_to_i8() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 1.0, 42.0]> : tensor<8xbf16>
  %r = arith.fptosi %x : tensor<8xbf16> to tensor<8xi8>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 1, 42]> : tensor<8xi8>
  tt.return
}

tt.func public @fptosi_bf16_to_i16() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 1.0, 42.0]> : tensor<8xbf16>
  %r = arith.fptosi %x : tensor<8xbf16> to tensor<8xi16>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 1, 42]> : tensor<8xi16>
  tt.return
}

tt.func public @fptosi_bf16_to_i32() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 1.0, 42.0]> : tensor<8xbf16>
  %r = arith.fptosi %x : tensor<8xbf16> to tensor<8xi32>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 1, 42]> : tensor<8xi32>
  tt.return
}

tt.func public @fptosi_bf16_to_i64() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 1.0, 42.0]> : tensor<8xbf16>
  %r = arith.fptosi %x : tensor<8xbf16> to tensor<8xi64>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 1, 42]> : tensor<8xi64>
  tt.return
}

tt.func public @fptosi_f32_to_i8() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf32>
  %r = arith.fptosi %x : tensor<8xf32> to tensor<8xi8>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi8>
  tt.return
}

tt.func public @fptosi_f32_to_i16() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf32>
  %r = arith.fptosi %x : tensor<8xf32> to tensor<8xi16>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi16>
  tt.return
}

tt.func public @fptosi_f32_to_i32() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf32>
  %r = arith.fptosi %x : tensor<8xf32> to tensor<8xi32>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi32>
  tt.return
}

tt.func public @fptosi_f32_to_i64() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf32>
  %r = arith.fptosi %x : tensor<8xf32> to tensor<8xi64>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi64>
  tt.return
}

tt.func public @fptosi_f64_to_i8() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf64>
  %r = arith.fptosi %x : tensor<8xf64> to tensor<8xi8>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi8>
  tt.return
}

tt.func public @fptosi_f64_to_i16() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf64>
  %r = arith.fptosi %x : tensor<8xf64> to tensor<8xi16>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi16>
  tt.return
}

tt.func public @fptosi_f64_to_i32() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf64>
  %r = arith.fptosi %x : tensor<8xf64> to tensor<8xi32>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi32>
  tt.return
}

tt.func public @fptosi_f64_to_i64() {
  %x = arith.constant dense<[0.0, -0.0, 1.9, -1.9, 100.5, 127.0, 0.999, 42.0]> : tensor<8xf64>
  %r = arith.fptosi %x : tensor<8xf64> to tensor<8xi64>
  check.eq %r, dense<[0, 0, 1, -1, 100, 127, 0, 42]> : tensor<8xi64>
  tt.return
}

tt.func public @fptosi_f32_to_i32_out_of_range() {
  %x = arith.constant dense<[3000000000.0, -3000000000.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e+20, -1.0e+20, 300.0]> : tensor<8xf32>
  %r = arith.fptosi %x : tensor<8xf32> to tensor<8xi32>
  check.eq %r, dense<[2147483647, -2147483648, 2147483647, -2147483648, 0, 2147483647, -2147483648, 300]> : tensor<8xi32>
  tt.return
}

tt.func public @fptosi_f32_to_i64_out_of_range() {
  %x = arith.constant dense<[3000000000.0, -3000000000.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e+20, -1.0e+20, 300.0]> : tensor<8xf32>
  %r = arith.fptosi %x : tensor<8xf32> to tensor<8xi64>
  check.eq %r, dense<[3000000000, -3000000000, 9223372036854775807, -9223372036854775808, -9223372036854775808, 9223372036854775807, -9223372036854775808, 300]> : tensor<8xi64>
  tt.return
}

tt.func public @fptosi_f64_to_i32_out_of_range() {
  %x = arith.constant dense<[3000000000.0, -3000000000.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0e+20, -1.0e+20, 300.0]> : tensor<8xf64>
  %r = arith.fptosi %x : tensor<8xf64> to tensor<8xi32>
  check.eq %r, dense<[2147483647, -2147483648, 2147483647, -2147483648, -2147483648, 2147483647, -2147483648, 300]> : tensor<8xi32>
  tt.return
}

tt.func public @fptosi_f32_to_i8_out_of_range() {
  %x = arith.constant dense<[3000000000.0, -3000000000.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e+20, -1.0e+20, 300.0]> : tensor<8xf32>
  %r = arith.fptosi %x : tensor<8xf32> to tensor<8xi8>
  check.eq %r, dense<[-1, 0, -1, 0, 0, -1, 0, 44]> : tensor<8xi8>
  tt.return
}

tt.func public @fptosi_f32_to_i16_out_of_range() {
  %x = arith.constant dense<[3000000000.0, -3000000000.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e+20, -1.0e+20, 300.0]> : tensor<8xf32>
  %r = arith.fptosi %x : tensor<8xf32> to tensor<8xi16>
  check.eq %r, dense<[32767, -32768, 32767, -32768, 0, 32767, -32768, 300]> : tensor<8xi16>
  tt.return
}

tt.func public @fptosi_scalar(%x: f32 {check.value = 7.9 : f32}) {
  %r = arith.fptosi %x : f32 to i32
  check.eq %r, 7 : i32
  tt.return
}
