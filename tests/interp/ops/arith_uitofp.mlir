// RUN: tiletwin-exec %s --backend=interp
// arith.uitofp: unsigned integers to floats, rounded once to nearest even.

tt.func public @uitofp_i8_to_f16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.uitofp %x : tensor<8xi8> to tensor<8xf16>
  check.eq %r, dense<[0.0, 1.0, 255.0, 5.0, 156.0, 127.0, 128.0, 77.0]> : tensor<8xf16>
  tt.return
}

tt.func public @uitofp_i8_to_bf16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.uitofp %x : tensor<8xi8> to tensor<8xbf16>
  check.eq %r, dense<[0.0, 1.0, 255.0, 5.0, 156.0, 127.0, 128.0, 77.0]> : tensor<8xbf16>
  tt.return
}

tt.func public @uitofp_i8_to_f32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.uitofp %x : tensor<8xi8> to tensor<8xf32>
  check.eq %r, dense<[0.0, 1.0, 255.0, 5.0, 156.0, 127.0, 128.0, 77.0]> : tensor<8xf32>
  tt.return
}

tt.func public @uitofp_i8_to_f64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.uitofp %x : tensor<8xi8> to tensor<8xf64>
  check.eq %r, dense<[0.0, 1.0, 255.0, 5.0, 156.0, 127.0, 128.0, 77.0]> : tensor<8xf64>
  tt.return
}

tt.func public @uitofp_i16_to_f16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.uitofp %x : tensor<8xi16> to tensor<8xf16>
  check.eq %r, dense<[0.0, 1.0, 0x7C00, 5.0, 65440.0, 32770.0, 32770.0, 77.0]> : tensor<8xf16>
  tt.return
}

tt.func public @uitofp_i16_to_bf16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.uitofp %x : tensor<8xi16> to tensor<8xbf16>
  check.eq %r, dense<[0.0, 1.0, 65500.0, 5.0, 65500.0, 32800.0, 32800.0, 77.0]> : tensor<8xbf16>
  tt.return
}

tt.func public @uitofp_i16_to_f32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.uitofp %x : tensor<8xi16> to tensor<8xf32>
  check.eq %r, dense<[0.0, 1.0, 65535.0, 5.0, 65436.0, 32767.0, 32768.0, 77.0]> : tensor<8xf32>
  tt.return
}

tt.func public @uitofp_i16_to_f64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.uitofp %x : tensor<8xi16> to tensor<8xf64>
  check.eq %r, dense<[0.0, 1.0, 65535.0, 5.0, 65436.0, 32767.0, 32768.0, 77.0]> : tensor<8xf64>
  tt.return
}

tt.func public @uitofp_i32_to_f16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77, 16777217, -16777219, 3, 3, 3, 3, 3, 3]> : tensor<16xi32>
  %r = arith.uitofp %x : tensor<16xi32> to tensor<16xf16>
  check.eq %r, dense<[0.0, 1.0, 0x7C00, 5.0, 0x7C00, 0x7C00, 0x7C00, 77.0, 0x7C00, 0x7C00, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]> : tensor<16xf16>
  tt.return
}

tt.func public @uitofp_i32_to_bf16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77, 16777217, -16777219, 3, 3, 3, 3, 3, 3]> : tensor<16xi32>
  %r = arith.uitofp %x : tensor<16xi32> to tensor<16xbf16>
  check.eq %r, dense<[0.0, 1.0, 4300000000.0, 5.0, 4300000000.0, 2150000000.0, 2150000000.0, 77.0, 16800000.0, 4280000000.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]> : tensor<16xbf16>
  tt.return
}

tt.func public @uitofp_i32_to_f32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77, 16777217, -16777219, 3, 3, 3, 3, 3, 3]> : tensor<16xi32>
  %r = arith.uitofp %x : tensor<16xi32> to tensor<16xf32>
  check.eq %r, dense<[0.0, 1.0, 4294967300.0, 5.0, 4294967300.0, 2147483600.0, 2147483600.0, 77.0, 16777216.0, 4278190000.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]> : tensor<16xf32>
  tt.return
}

tt.func public @uitofp_i32_to_f64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77, 16777217, -16777219, 3, 3, 3, 3, 3, 3]> : tensor<16xi32>
  %r = arith.uitofp %x : tensor<16xi32> to tensor<16xf64>
  check.eq %r, dense<[0.0, 1.0, 4294967295.0, 5.0, 4294967196.0, 2147483647.0, 2147483648.0, 77.0, 16777217.0, 4278190077.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]> : tensor<16xf64>
  tt.return
}

tt.func public @uitofp_i64_to_f16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77, 16777217, -16777219, 9007199254740993, -4611686018427387905, 9223372036854775807, 3, 3, 3]> : tensor<16xi64>
  %r = arith.uitofp %x : tensor<16xi64> to tensor<16xf16>
  check.eq %r, dense<[0.0, 1.0, 0x7C00, 5.0, 0x7C00, 0x7C00, 0x7C00, 77.0, 0x7C00, 0x7C00, 0x7C00, 0x7C00, 0x7C00, 3.0, 3.0, 3.0]> : tensor<16xf16>
  tt.return
}

tt.func public @uitofp_i64_to_bf16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77, 16777217, -16777219, 9007199254740993, -4611686018427387905, 9223372036854775807, 3, 3, 3]> : tensor<16xi64>
  %r = arith.uitofp %x : tensor<16xi64> to tensor<16xbf16>
  check.eq %r, dense<[0.0, 1.0, 1.845e+19, 5.0, 1.845e+19, 9.22e+18, 9.22e+18, 77.0, 16800000.0, 1.845e+19, 9000000000000000.0, 1.38e+19, 9.22e+18, 3.0, 3.0, 3.0]> : tensor<16xbf16>
  tt.return
}

tt.func public @uitofp_i64_to_f32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77, 16777217, -16777219, 9007199254740993, -4611686018427387905, 9223372036854775807, 3, 3, 3]> : tensor<16xi64>
  %r = arith.uitofp %x : tensor<16xi64> to tensor<16xf32>
  check.eq %r, dense<[0.0, 1.0, 1.8446744e+19, 5.0, 1.8446744e+19, 9.223372e+18, 9.223372e+18, 77.0, 16777216.0, 1.8446744e+19, 9007199000000000.0, 1.3835058e+19, 9.223372e+18, 3.0, 3.0, 3.0]> : tensor<16xf32>
  tt.return
}

tt.func public @uitofp_i64_to_f64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77, 16777217, -16777219, 9007199254740993, -4611686018427387905, 9223372036854775807, 3, 3, 3]> : tensor<16xi64>
  %r = arith.uitofp %x : tensor<16xi64> to tensor<16xf64>
  check.eq %r, dense<[0.0, 1.0, 1.8446744073709552e+19, 5.0, 1.8446744073709552e+19, 9.223372036854776e+18, 9.223372036854776e+18, 77.0, 16777217.0, 1.8446744073692774e+19, 9007199254740992.0, 1.3835058055282164e+19, 9.223372036854776e+18, 3.0, 3.0, 3.0]> : tensor<16xf64>
  tt.return
}

tt.func public @uitofp_i1_to_f32() {
  %x = arith.constant dense<[false, true]> : tensor<2xi1>
  %r = arith.uitofp %x : tensor<2xi1> to tensor<2xf32>
  check.eq %r, dense<[0.0, 1.0]> : tensor<2xf32>
  tt.return
}

tt.func public @uitofp_scalar(%x: i32 {check.value = -5 : i32}) {
  %r = arith.uitofp %x : i32 to f32
  check.eq %r, 4294967300.0 : f32
  tt.return
}
