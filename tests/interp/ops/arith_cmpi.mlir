// RUN: tiletwin-exec %s --backend=interp
// arith.cmpi: every predicate, signed and unsigned.

tt.func public @eq_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi eq, %x, %y : tensor<8xi8>
  check.eq %r, dense<[true, false, false, false, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @eq_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi eq, %x, %y : tensor<8xi16>
  check.eq %r, dense<[true, false, false, false, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @eq_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi eq, %x, %y : tensor<8xi32>
  check.eq %r, dense<[true, false, false, false, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @eq_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi eq, %x, %y : tensor<8xi64>
  check.eq %r, dense<[true, false, false, false, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @eq_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi eq, %i, %b : tensor<8xi32>
  %q = arith.cmpi eq, %b, %i : tensor<8xi32>
  check.eq %r, dense<[false, false, false, true, false, false, false, false]> : tensor<8xi1>
  check.eq %q, dense<[false, false, false, true, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @eq_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi eq, %x, %y : i32
  check.eq %r, false
  tt.return
}

tt.func public @ne_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi ne, %x, %y : tensor<8xi8>
  check.eq %r, dense<[false, true, true, true, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ne_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi ne, %x, %y : tensor<8xi16>
  check.eq %r, dense<[false, true, true, true, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ne_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi ne, %x, %y : tensor<8xi32>
  check.eq %r, dense<[false, true, true, true, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ne_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi ne, %x, %y : tensor<8xi64>
  check.eq %r, dense<[false, true, true, true, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ne_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi ne, %i, %b : tensor<8xi32>
  %q = arith.cmpi ne, %b, %i : tensor<8xi32>
  check.eq %r, dense<[true, true, true, false, true, true, true, true]> : tensor<8xi1>
  check.eq %q, dense<[true, true, true, false, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ne_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi ne, %x, %y : i32
  check.eq %r, true
  tt.return
}

tt.func public @slt_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi slt, %x, %y : tensor<8xi8>
  check.eq %r, dense<[false, true, true, false, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @slt_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi slt, %x, %y : tensor<8xi16>
  check.eq %r, dense<[false, true, true, false, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @slt_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi slt, %x, %y : tensor<8xi32>
  check.eq %r, dense<[false, true, true, false, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @slt_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi slt, %x, %y : tensor<8xi64>
  check.eq %r, dense<[false, true, true, false, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @slt_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi slt, %i, %b : tensor<8xi32>
  %q = arith.cmpi slt, %b, %i : tensor<8xi32>
  check.eq %r, dense<[true, true, true, false, false, false, false, false]> : tensor<8xi1>
  check.eq %q, dense<[false, false, false, false, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @slt_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi slt, %x, %y : i32
  check.eq %r, true
  tt.return
}

tt.func public @sle_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi sle, %x, %y : tensor<8xi8>
  check.eq %r, dense<[true, true, true, false, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @sle_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi sle, %x, %y : tensor<8xi16>
  check.eq %r, dense<[true, true, true, false, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @sle_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi sle, %x, %y : tensor<8xi32>
  check.eq %r, dense<[true, true, true, false, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @sle_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi sle, %x, %y : tensor<8xi64>
  check.eq %r, dense<[true, true, true, false, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @sle_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi sle, %i, %b : tensor<8xi32>
  %q = arith.cmpi sle, %b, %i : tensor<8xi32>
  check.eq %r, dense<[true, true, true, true, false, false, false, false]> : tensor<8xi1>
  check.eq %q, dense<[false, false, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @sle_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi sle, %x, %y : i32
  check.eq %r, true
  tt.return
}

tt.func public @sgt_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi sgt, %x, %y : tensor<8xi8>
  check.eq %r, dense<[false, false, false, true, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sgt_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi sgt, %x, %y : tensor<8xi16>
  check.eq %r, dense<[false, false, false, true, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sgt_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi sgt, %x, %y : tensor<8xi32>
  check.eq %r, dense<[false, false, false, true, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sgt_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi sgt, %x, %y : tensor<8xi64>
  check.eq %r, dense<[false, false, false, true, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sgt_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi sgt, %i, %b : tensor<8xi32>
  %q = arith.cmpi sgt, %b, %i : tensor<8xi32>
  check.eq %r, dense<[false, false, false, false, true, true, true, true]> : tensor<8xi1>
  check.eq %q, dense<[true, true, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sgt_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi sgt, %x, %y : i32
  check.eq %r, false
  tt.return
}

tt.func public @sge_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi sge, %x, %y : tensor<8xi8>
  check.eq %r, dense<[true, false, false, true, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sge_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi sge, %x, %y : tensor<8xi16>
  check.eq %r, dense<[true, false, false, true, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sge_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi sge, %x, %y : tensor<8xi32>
  check.eq %r, dense<[true, false, false, true, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sge_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi sge, %x, %y : tensor<8xi64>
  check.eq %r, dense<[true, false, false, true, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sge_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi sge, %i, %b : tensor<8xi32>
  %q = arith.cmpi sge, %b, %i : tensor<8xi32>
  check.eq %r, dense<[false, false, false, true, true, true, true, true]> : tensor<8xi1>
  check.eq %q, dense<[true, true, true, true, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @sge_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi sge, %x, %y : i32
  check.eq %r, false
  tt.return
}

tt.func public @ult_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi ult, %x, %y : tensor<8xi8>
  check.eq %r, dense<[false, false, false, true, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi ult, %x, %y : tensor<8xi16>
  check.eq %r, dense<[false, false, false, true, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi ult, %x, %y : tensor<8xi32>
  check.eq %r, dense<[false, false, false, true, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi ult, %x, %y : tensor<8xi64>
  check.eq %r, dense<[false, false, false, true, false, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi ult, %i, %b : tensor<8xi32>
  %q = arith.cmpi ult, %b, %i : tensor<8xi32>
  check.eq %r, dense<[true, true, true, false, false, false, false, false]> : tensor<8xi1>
  check.eq %q, dense<[false, false, false, false, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ult_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi ult, %x, %y : i32
  check.eq %r, false
  tt.return
}

tt.func public @ule_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi ule, %x, %y : tensor<8xi8>
  check.eq %r, dense<[true, false, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi ule, %x, %y : tensor<8xi16>
  check.eq %r, dense<[true, false, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi ule, %x, %y : tensor<8xi32>
  check.eq %r, dense<[true, false, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi ule, %x, %y : tensor<8xi64>
  check.eq %r, dense<[true, false, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi ule, %i, %b : tensor<8xi32>
  %q = arith.cmpi ule, %b, %i : tensor<8xi32>
  check.eq %r, dense<[true, true, true, true, false, false, false, false]> : tensor<8xi1>
  check.eq %q, dense<[false, false, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}

tt.func public @ule_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi ule, %x, %y : i32
  check.eq %r, false
  tt.return
}

tt.func public @ugt_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi ugt, %x, %y : tensor<8xi8>
  check.eq %r, dense<[false, true, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi ugt, %x, %y : tensor<8xi16>
  check.eq %r, dense<[false, true, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi ugt, %x, %y : tensor<8xi32>
  check.eq %r, dense<[false, true, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi ugt, %x, %y : tensor<8xi64>
  check.eq %r, dense<[false, true, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi ugt, %i, %b : tensor<8xi32>
  %q = arith.cmpi ugt, %b, %i : tensor<8xi32>
  check.eq %r, dense<[false, false, false, false, true, true, true, true]> : tensor<8xi1>
  check.eq %q, dense<[true, true, true, false, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @ugt_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi ugt, %x, %y : i32
  check.eq %r, true
  tt.return
}

tt.func public @uge_i8() {
  %x = arith.constant dense<[0, -1, -128, 127, 5, -128, -2, 3]> : tensor<8xi8>
  %y = arith.constant dense<[0, 1, 127, -128, 5, -1, -1, 100]> : tensor<8xi8>
  %r = arith.cmpi uge, %x, %y : tensor<8xi8>
  check.eq %r, dense<[true, true, true, false, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_i16() {
  %x = arith.constant dense<[0, -1, -32768, 32767, 5, -32768, -2, 3]> : tensor<8xi16>
  %y = arith.constant dense<[0, 1, 32767, -32768, 5, -1, -1, 100]> : tensor<8xi16>
  %r = arith.cmpi uge, %x, %y : tensor<8xi16>
  check.eq %r, dense<[true, true, true, false, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_i32() {
  %x = arith.constant dense<[0, -1, -2147483648, 2147483647, 5, -2147483648, -2, 3]> : tensor<8xi32>
  %y = arith.constant dense<[0, 1, 2147483647, -2147483648, 5, -1, -1, 100]> : tensor<8xi32>
  %r = arith.cmpi uge, %x, %y : tensor<8xi32>
  check.eq %r, dense<[true, true, true, false, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_i64() {
  %x = arith.constant dense<[0, -1, -9223372036854775808, 9223372036854775807, 5, -9223372036854775808, -2, 3]> : tensor<8xi64>
  %y = arith.constant dense<[0, 1, 9223372036854775807, -9223372036854775808, 5, -1, -1, 100]> : tensor<8xi64>
  %r = arith.cmpi uge, %x, %y : tensor<8xi64>
  check.eq %r, dense<[true, true, true, false, true, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_of_a_range(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi uge, %i, %b : tensor<8xi32>
  %q = arith.cmpi uge, %b, %i : tensor<8xi32>
  check.eq %r, dense<[false, false, false, true, true, true, true, true]> : tensor<8xi1>
  check.eq %q, dense<[true, true, true, true, false, false, false, false]> : tensor<8xi1>
  tt.return
}

tt.func public @uge_scalar(%x: i32 {check.value = -1 : i32}, %y: i32 {check.value = 1 : i32}) {
  %r = arith.cmpi uge, %x, %y : i32
  check.eq %r, true
  tt.return
}

tt.func public @slt_of_a_negative_bound(%n: i32 {check.value = -5 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %r = arith.cmpi slt, %i, %b : tensor<8xi32>
  check.eq %r, dense<false> : tensor<8xi1>
  tt.return
}

tt.func public @slt_of_a_range_that_wraps(%n: i32 {check.value = 2147483644 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %b = tt.splat %n : i32 -> tensor<8xi32>
  %s = arith.addi %i, %b : tensor<8xi32>
  %z = arith.constant dense<0> : tensor<8xi32>
  %r = arith.cmpi slt, %s, %z : tensor<8xi32>
  check.eq %r, dense<[false, false, false, false, true, true, true, true]> : tensor<8xi1>
  tt.return
}
