// RUN: tiletwin-exec %s --backend=interp
// Index arithmetic wraps around as the type says, also where a plan keeps it symbolic.

// base + i crosses 2^31 inside the tile. Lanes 4..7 are negative: they compare as such.
tt.func public @comparison(%base: i32 {check.value = 2147483644 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %b = tt.splat %base : i32 -> tensor<8xi32>
  %x = arith.addi %b, %i : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %m = arith.cmpi slt, %x, %zero : tensor<8xi32>
  check.eq %m, dense<[false, false, false, false, true, true, true, true]> : tensor<8xi1>
  %w = arith.extsi %x : tensor<8xi32> to tensor<8xi64>
  check.eq %w, dense<[2147483644, 2147483645, 2147483646, 2147483647, -2147483648, -2147483647, -2147483646, -2147483645]> : tensor<8xi64>
  tt.return
}

// The same with masked-off lanes: only what the mask admits is loaded.
tt.func public @masked_load(%p: !tt.ptr<i32> {check.data = dense<[5, 6, 7, 8]> : tensor<4xi32>}, %base: i32 {check.value = 2147483644 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %b = tt.splat %base : i32 -> tensor<8xi32>
  %x = arith.addi %b, %i : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %m = arith.cmpi sge, %x, %zero : tensor<8xi32>
  %back = arith.subi %x, %b : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %back : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %q, %m : tensor<8x!tt.ptr<i32>>
  check.eq %v, dense<[5, 6, 7, 8, 0, 0, 0, 0]> : tensor<8xi32>
  tt.return
}

// Rows taken modulo the height of a matrix: inside one multiple, and across the end.
tt.func public @modulo(%p: !tt.ptr<i32> {check.data = dense<[10, 11, 12, 13, 14, 15]> : tensor<6xi32>}, %first: i32 {check.value = 1 : i32},
                       %last: i32 {check.value = 4 : i32}, %n: i32 {check.value = 6 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ns = tt.splat %n : i32 -> tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %f = tt.splat %first : i32 -> tensor<4xi32>
  %l = tt.splat %last : i32 -> tensor<4xi32>
  %a = arith.addi %f, %i : tensor<4xi32>
  %b = arith.addi %l, %i : tensor<4xi32>
  %am = arith.remsi %a, %ns : tensor<4xi32>
  %bm = arith.remsi %b, %ns : tensor<4xi32>
  %bq = arith.divsi %b, %ns : tensor<4xi32>
  %pa = tt.addptr %ps, %am : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %pb = tt.addptr %ps, %bm : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %va = tt.load %pa : tensor<4x!tt.ptr<i32>>
  %vb = tt.load %pb : tensor<4x!tt.ptr<i32>>
  check.eq %va, dense<[11, 12, 13, 14]> : tensor<4xi32>
  check.eq %vb, dense<[14, 15, 10, 11]> : tensor<4xi32>
  check.eq %bq, dense<[0, 0, 1, 1]> : tensor<4xi32>
  tt.return
}

// Multiples of large strides wrap in every lane differently; unsigned extension sees 32 bits.
tt.func public @large_stride(%s: i32 {check.value = 1431655766 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ss = tt.splat %s : i32 -> tensor<4xi32>
  %x = arith.muli %i, %ss : tensor<4xi32>
  check.eq %x, dense<[0, 1431655766, -1431655764, 2]> : tensor<4xi32>
  %u = arith.extui %x : tensor<4xi32> to tensor<4xi64>
  check.eq %u, dense<[0, 1431655766, 2863311532, 2]> : tensor<4xi64>
  tt.return
}

// Intervals from every predicate, with strides of both signs.
tt.func public @intervals(%n: i32 {check.value = 7 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %three = arith.constant dense<3> : tensor<8xi32>
  %up = arith.muli %i, %three : tensor<8xi32>
  %down = arith.subi %ns, %up : tensor<8xi32>
  %a = arith.cmpi slt, %up, %ns : tensor<8xi32>
  check.eq %a, dense<[true, true, true, false, false, false, false, false]> : tensor<8xi1>
  %b = arith.cmpi sge, %up, %ns : tensor<8xi32>
  check.eq %b, dense<[false, false, false, true, true, true, true, true]> : tensor<8xi1>
  %c = arith.cmpi sgt, %down, %three : tensor<8xi32>
  check.eq %c, dense<[true, true, false, false, false, false, false, false]> : tensor<8xi1>
  %d = arith.cmpi sle, %down, %three : tensor<8xi32>
  check.eq %d, dense<[false, false, true, true, true, true, true, true]> : tensor<8xi1>
  %one = arith.constant dense<1> : tensor<8xi32>
  %e = arith.cmpi eq, %down, %one : tensor<8xi32>
  check.eq %e, dense<[false, false, true, false, false, false, false, false]> : tensor<8xi1>
  %f = arith.cmpi eq, %up, %ns : tensor<8xi32>
  check.eq %f, dense<false> : tensor<8xi1>
  %g = arith.andi %b, %d : tensor<8xi1>
  check.eq %g, dense<[false, false, false, true, true, true, true, true]> : tensor<8xi1>
  tt.return
}
