// RUN: tiletwin-exec %s --backend=interp
// arith.sitofp: signed integers to floats, rounded once to nearest even.

tt.func public @sitofp_i8_to_f16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.sitofp %x : tensor<8xi8> to tensor<8xf16>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 127.0, -128.0, 77.0]> : tensor<8xf16>
  tt.return
}

tt.func public @sitofp_i8_to_bf16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.sitofp %x : tensor<8xi8> to tensor<8xbf16>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 127.0, -128.0, 77.0]> : tensor<8xbf16>
  tt.return
}

tt.func public @sitofp_i8_to_f32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.sitofp %x : tensor<8xi8> to tensor<8xf32>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 127.0, -128.0, 77.0]> : tensor<8xf32>
  tt.return
}

tt.func public @sitofp_i8_to_f64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.sitofp %x : tensor<8xi8> to tensor<8xf64>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 127.0, -128.0, 77.0]> : tensor<8xf64>
  tt.return
}

tt.func public @sitofp_i16_to_f16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.sitofp %x : tensor<8xi16> to tensor<8xf16>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 32770.0, -32770.0, 77.0]> : tensor<8xf16>
  tt.return
}

tt.func public @sitofp_i16_to_bf16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.sitofp %x : tensor<8xi16> to tensor<8xbf16>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 32800.0, -32800.0, 77.0]> : tensor<8xbf16>
  tt.return
}

tt.func public @sitofp_i16_to_f32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.sitofp %x : tensor<8xi16> to tensor<8xf32>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 32767.0, -32768.0, 77.0]> : tensor<8xf32>
  tt.return
}

tt.func public @sitofp_i16_to_f64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.sitofp %x : tensor<8xi16> to tensor<8xf64>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 32767.0, -32768.0, 77.0]> : tensor<8xf64>
  tt.return
}

tt.func public @sitofp_i32_to_f16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77, 16777217, -16777219, 3, 3, 3, 3, 3, 3]> : tensor<16xi32>
  %r = arith.sitofp %x : tensor<16xi32> to tensor<16xf16>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 0x7C00, 0xFC00, 77.0, 0x7C00, 0xFC00, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]> : tensor<16xf16>
  tt.return
}

tt.func public @sitofp_i32_to_bf16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77, 16777217, -16777219, 3, 3, 3, 3, 3, 3]> : tensor<16xi32>
  %r = arith.sitofp %x : tensor<16xi32> to tensor<16xbf16>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 2150000000.0, -2150000000.0, 77.0, 16800000.0, -16800000.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]> : tensor<16xbf16>
  tt.return
}

tt.func public @sitofp_i32_to_f32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77, 16777217, -16777219, 3, 3, 3, 3, 3, 3]> : tensor<16xi32>
  %r = arith.sitofp %x : tensor<16xi32> to tensor<16xf32>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 2147483600.0, -2147483600.0, 77.0, 16777216.0, -16777220.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]> : tensor<16xf32>
  tt.return
}

tt.func public @sitofp_i32_to_f64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77, 16777217, -16777219, 3, 3, 3, 3, 3, 3]> : tensor<16xi32>
  %r = arith.sitofp %x : tensor<16xi32> to tensor<16xf64>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 2147483647.0, -2147483648.0, 77.0, 16777217.0, -16777219.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]> : tensor<16xf64>
  tt.return
}

tt.func public @sitofp_i64_to_f16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77, 16777217, -16777219, 9007199254740993, -4611686018427387905, 9223372036854775807, 3, 3, 3]> : tensor<16xi64>
  %r = arith.sitofp %x : tensor<16xi64> to tensor<16xf16>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 0x7C00, 0xFC00, 77.0, 0x7C00, 0xFC00, 0x7C00, 0xFC00, 0x7C00, 3.0, 3.0, 3.0]> : tensor<16xf16>
  tt.return
}

tt.func public @sitofp_i64_to_bf16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77, 16777217, -16777219, 9007199254740993, -4611686018427387905, 9223372036854775807, 3, 3, 3]> : tensor<16xi64>
  %r = arith.sitofp %x : tensor<16xi64> to tensor<16xbf16>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 9.22e+18, -9.22e+18, 77.0, 16800000.0, -16800000.0, 9000000000000000.0, -4.61e+18, 9.22e+18, 3.0, 3.0, 3.0]> : tensor<16xbf16>
  tt.return
}

tt.func public @sitofp_i64_to_f32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77, 16777217, -16777219, 9007199254740993, -4611686018427387905, 9223372036854775807, 3, 3, 3]> : tensor<16xi64>
  %r = arith.sitofp %x : tensor<16xi64> to tensor<16xf32>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 9.223372e+18, -9.223372e+18, 77.0, 16777216.0, -16777220.0, 9007199000000000.0, -4.611686e+18, 9.223372e+18, 3.0, 3.0, 3.0]> : tensor<16xf32>
  tt.return
}

tt.func public @sitofp_i64_to_f64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 77, 16777217, -16777219, 9007199254740993, -4611686018427387905, 9223372036854775807, 3, 3, 3]> : tensor<16xi64>
  %r = arith.sitofp %x : tensor<16xi64> to tensor<16xf64>
  check.eq %r, dense<[0.0, 1.0, -1.0, 5.0, -100.0, 9.223372036854776e+18, -9.223372036854776e+18, 77.0, 16777217.0, -16777219.0, 9007199254740992.0, -4.611686018427388e+18, 9.223372036854776e+18, 3.0, 3.0, 3.0]> : tensor<16xf64>
  tt.return
}

tt.func public @sitofp_i1_to_f32() {
  %x = arith.constant dense<[false, true]> : tensor<2xi1>
  %r = arith.sitofp %x : tensor<2xi1> to tensor<2xf32>
  check.eq %r, dense<[0.0, -1.0]> : tensor<2xf32>
  tt.return
}

tt.func public @sitofp_scalar(%x: i32 {check.value = -5 : i32}) {
  %r = arith.sitofp %x : i32 to f32
  check.eq %r, -5.0 : f32
  tt.return
}
