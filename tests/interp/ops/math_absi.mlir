// RUN: tiletwin-exec %s --backend=interp
// math.absi: the magnitude; the most negative number stays as it is.

tt.func public @absi_i8() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 7]> : tensor<8xi8>
  %r = math.absi %x : tensor<8xi8>
  check.eq %r, dense<[0, 1, 1, 5, 100, 127, -128, 7]> : tensor<8xi8>
  tt.return
}

tt.func public @absi_i16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 7]> : tensor<8xi16>
  %r = math.absi %x : tensor<8xi16>
  check.eq %r, dense<[0, 1, 1, 5, 100, 32767, -32768, 7]> : tensor<8xi16>
  tt.return
}

tt.func public @absi_i32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 7]> : tensor<8xi32>
  %r = math.absi %x : tensor<8xi32>
  check.eq %r, dense<[0, 1, 1, 5, 100, 2147483647, -2147483648, 7]> : tensor<8xi32>
  tt.return
}

tt.func public @absi_i64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 9223372036854775807, -9223372036854775808, 7]> : tensor<8xi64>
  %r = math.absi %x : tensor<8xi64>
  check.eq %r, dense<[0, 1, 1, 5, 100, 9223372036854775807, -9223372036854775808, 7]> : tensor<8xi64>
  tt.return
}

tt.func public @absi_scalar(%x: i64 {check.value = 0 : i64}) {
  %r = math.absi %x : i64
  check.eq %r, 0 : i64
  tt.return
}
