// RUN: tiletwin-exec %s --backend=interp
// arith.extui: wider integers, filling with zeros.

tt.func public @extui_i1_to_i8() {
  %x = arith.constant dense<[false, true]> : tensor<2xi1>
  %r = arith.extui %x : tensor<2xi1> to tensor<2xi8>
  check.eq %r, dense<[0, 1]> : tensor<2xi8>
  tt.return
}

tt.func public @extui_i1_to_i16() {
  %x = arith.constant dense<[false, true]> : tensor<2xi1>
  %r = arith.extui %x : tensor<2xi1> to tensor<2xi16>
  check.eq %r, dense<[0, 1]> : tensor<2xi16>
  tt.return
}

tt.func public @extui_i1_to_i32() {
  %x = arith.constant dense<[false, true]> : tensor<2xi1>
  %r = arith.extui %x : tensor<2xi1> to tensor<2xi32>
  check.eq %r, dense<[0, 1]> : tensor<2xi32>
  tt.return
}

tt.func public @extui_i1_to_i64() {
  %x = arith.constant dense<[false, true]> : tensor<2xi1>
  %r = arith.extui %x : tensor<2xi1> to tensor<2xi64>
  check.eq %r, dense<[0, 1]> : tensor<2xi64>
  tt.return
}

tt.func public @extui_i8_to_i16() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.extui %x : tensor<8xi8> to tensor<8xi16>
  check.eq %r, dense<[0, 1, 255, 5, 156, 127, 128, 77]> : tensor<8xi16>
  tt.return
}

tt.func public @extui_i8_to_i32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.extui %x : tensor<8xi8> to tensor<8xi32>
  check.eq %r, dense<[0, 1, 255, 5, 156, 127, 128, 77]> : tensor<8xi32>
  tt.return
}

tt.func public @extui_i8_to_i64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 127, -128, 77]> : tensor<8xi8>
  %r = arith.extui %x : tensor<8xi8> to tensor<8xi64>
  check.eq %r, dense<[0, 1, 255, 5, 156, 127, 128, 77]> : tensor<8xi64>
  tt.return
}

tt.func public @extui_i16_to_i32() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.extui %x : tensor<8xi16> to tensor<8xi32>
  check.eq %r, dense<[0, 1, 65535, 5, 65436, 32767, 32768, 77]> : tensor<8xi32>
  tt.return
}

tt.func public @extui_i16_to_i64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 32767, -32768, 77]> : tensor<8xi16>
  %r = arith.extui %x : tensor<8xi16> to tensor<8xi64>
  check.eq %r, dense<[0, 1, 65535, 5, 65436, 32767, 32768, 77]> : tensor<8xi64>
  tt.return
}

tt.func public @extui_i32_to_i64() {
  %x = arith.constant dense<[0, 1, -1, 5, -100, 2147483647, -2147483648, 77]> : tensor<8xi32>
  %r = arith.extui %x : tensor<8xi32> to tensor<8xi64>
  check.eq %r, dense<[0, 1, 4294967295, 5, 4294967196, 2147483647, 2147483648, 77]> : tensor<8xi64>
  tt.return
}

tt.func public @extui_scalar(%x: i8 {check.value = -100 : i8}) {
  %r = arith.extui %x : i8 to i64
  check.eq %r, 156 : i64
  tt.return
}

tt.func public @extui_of_a_comparison(%x: i8 {check.value = -100 : i8}) {
  %c = arith.cmpi slt, %x, %x : i8
  %d = arith.cmpi sle, %x, %x : i8
  %r = arith.extui %c : i1 to i32
  %s = arith.extui %d : i1 to i32
  check.eq %r, 0 : i32
  check.eq %s, 1 : i32
  tt.return
}
