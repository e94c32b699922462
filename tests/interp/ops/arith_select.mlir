// RUN: tiletwin-exec %s --backend=interp
// arith.select: lane by lane by an i1, or whole tiles by a scalar i1.

tt.func public @select_i1() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %b = arith.constant dense<[false, true, true, false]> : tensor<4xi1>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xi1>
  check.eq %r, dense<[true, true, true, false]> : tensor<4xi1>
  tt.return
}

tt.func public @select_i8() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[1, -2, 3, -4]> : tensor<4xi8>
  %b = arith.constant dense<[10, 20, 30, 40]> : tensor<4xi8>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xi8>
  check.eq %r, dense<[1, 20, 30, -4]> : tensor<4xi8>
  tt.return
}

tt.func public @select_i16() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[1, -2, 3, -4]> : tensor<4xi16>
  %b = arith.constant dense<[10, 20, 30, 40]> : tensor<4xi16>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xi16>
  check.eq %r, dense<[1, 20, 30, -4]> : tensor<4xi16>
  tt.return
}

tt.func public @select_i32() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[1, -2, 3, -4]> : tensor<4xi32>
  %b = arith.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xi32>
  check.eq %r, dense<[1, 20, 30, -4]> : tensor<4xi32>
  tt.return
}

tt.func public @select_i64() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[1, -2, 3, -4]> : tensor<4xi64>
  %b = arith.constant dense<[10, 20, 30, 40]> : tensor<4xi64>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xi64>
  check.eq %r, dense<[1, 20, 30, -4]> : tensor<4xi64>
  tt.return
}

tt.func public @select_f16() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[1.5, 0x7E00, -0.0, 0x7C00]> : tensor<4xf16>
  %b = arith.constant dense<[10.0, 20.0, 0x7E00, 40.0]> : tensor<4xf16>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xf16>
  check.eq %r, dense<[1.5, 20.0, 0x7E00, 0x7C00]> : tensor<4xf16>
  tt.return
}

tt.func public @select_bf16() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[1.5, 0x7FC0, -0.0, 0x7F80]> : tensor<4xbf16>
  %b = arith.constant dense<[10.0, 20.0, 0x7FC0, 40.0]> : tensor<4xbf16>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xbf16>
  check.eq %r, dense<[1.5, 20.0, 0x7FC0, 0x7F80]> : tensor<4xbf16>
  tt.return
}

tt.func public @select_f32() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[1.5, 0x7FC00000, -0.0, 0x7F800000]> : tensor<4xf32>
  %b = arith.constant dense<[10.0, 20.0, 0x7FC00000, 40.0]> : tensor<4xf32>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>
  check.eq %r, dense<[1.5, 20.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  tt.return
}

tt.func public @select_f64() {
  %c = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %a = arith.constant dense<[1.5, 0x7FF8000000000000, -0.0, 0x7FF0000000000000]> : tensor<4xf64>
  %b = arith.constant dense<[10.0, 20.0, 0x7FF8000000000000, 40.0]> : tensor<4xf64>
  %r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xf64>
  check.eq %r, dense<[1.5, 20.0, 0x7FF8000000000000, 0x7FF0000000000000]> : tensor<4xf64>
  tt.return
}

tt.func public @select_by_a_range_s_mask(%n: i32 {check.value = 5 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %n4 = tt.splat %n : i32 -> tensor<8xi32>
  %c = arith.cmpi slt, %i, %n4 : tensor<8xi32>
  %z = arith.constant dense<-1> : tensor<8xi32>
  %r = arith.select %c, %i, %z : tensor<8xi1>, tensor<8xi32>
  check.eq %r, dense<[0, 1, 2, 3, 4, -1, -1, -1]> : tensor<8xi32>
  tt.return
}

tt.func public @select_whole_tiles(%c: i1 {check.value = false}) {
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = arith.constant dense<[3, 4]> : tensor<2xi32>
  %r = arith.select %c, %a, %b : tensor<2xi32>
  check.eq %r, dense<[3, 4]> : tensor<2xi32>
  tt.return
}

tt.func public @select_scalar(%c: i1 {check.value = true}, %a: f32 {check.value = 2.0 : f32}, %b: f32 {check.value = 3.0 : f32}) {
  %r = arith.select %c, %a, %b : f32
  check.eq %r, 2.0 : f32
  tt.return
}
