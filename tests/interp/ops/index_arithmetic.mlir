// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// Index arithmetic that is not affine everywhere: quotients and remainders that change inside a tile, sums that wrap.

tt.func public @rows_and_columns_of_a_flat_index(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<8xi32>, check.after = dense<[0, 1, 2, 10, 11, 12, 20, 21]> : tensor<8xi32>}, %n: i32 {check.value = 3 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %row = arith.divsi %i, %ns : tensor<8xi32>
  %col = arith.remsi %i, %ns : tensor<8xi32>
  %ten = arith.constant dense<10> : tensor<8xi32>
  %rs = arith.muli %row, %ten : tensor<8xi32>
  %v = arith.addi %rs, %col : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %q, %v : tensor<8x!tt.ptr<i32>>
  tt.return
}

// As matmul kernels clamp their rows: (start + range) % rows.
tt.func public @rows_that_come_round(%p: !tt.ptr<i32> {check.data = dense<[10, 11, 12, 13, 14]> : tensor<5xi32>}, %start: i32 {check.value = 3 : i32}, %rows: i32 {check.value = 5 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = tt.splat %start : i32 -> tensor<4xi32>
  %n = tt.splat %rows : i32 -> tensor<4xi32>
  %j = arith.addi %i, %s : tensor<4xi32>
  %k = arith.remsi %j, %n : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %k : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  check.eq %v, dense<[13, 14, 10, 11]> : tensor<4xi32>
  tt.return
}

tt.func public @rows_that_do_not_come_round(%p: !tt.ptr<i32> {check.data = dense<[10, 11, 12, 13, 14, 15]> : tensor<6xi32>}, %start: i32 {check.value = 8 : i32}, %rows: i32 {check.value = 6 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = tt.splat %start : i32 -> tensor<4xi32>
  %n = tt.splat %rows : i32 -> tensor<4xi32>
  %j = arith.addi %i, %s : tensor<4xi32>
  %k = arith.remsi %j, %n : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %k : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  check.eq %v, dense<[12, 13, 14, 15]> : tensor<4xi32>
  tt.return
}

tt.func public @a_negative_dividend(%start: i32 {check.value = -3 : i32}, %n: i32 {check.value = 4 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %start : i32 -> tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %j = arith.addi %i, %s : tensor<8xi32>
  %q = arith.divsi %j, %ns : tensor<8xi32>
  %r = arith.remsi %j, %ns : tensor<8xi32>
  check.eq %q, dense<[0, 0, 0, 0, 0, 0, 0, 1]> : tensor<8xi32>
  check.eq %r, dense<[-3, -2, -1, 0, 1, 2, 3, 0]> : tensor<8xi32>
  tt.return
}

// Lanes whose index wraps are masked off.
tt.func public @a_sum_that_wraps_under_a_mask(%p: !tt.ptr<i32> {check.data = dense<5> : tensor<4xi32>}, %n: i32 {check.value = 2147483645 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %n : i32 -> tensor<8xi32>
  %j = arith.addi %i, %s : tensor<8xi32>
  %c4 = arith.constant dense<4> : tensor<8xi32>
  %z = arith.constant dense<-1> : tensor<8xi32>
  %low = arith.cmpi slt, %j, %c4 : tensor<8xi32>
  %high = arith.cmpi sgt, %j, %z : tensor<8xi32>
  %m = arith.andi %low, %high : tensor<8xi1>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %j : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %q, %m, %z : tensor<8x!tt.ptr<i32>>
  check.eq %v, dense<-1> : tensor<8xi32>
  tt.return
}

// i*i is no affine index: a gather.
tt.func public @squares(%p: !tt.ptr<i32> {check.data = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]> : tensor<10xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %k = arith.muli %i, %i : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %k : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  check.eq %v, dense<[0, 1, 4, 9]> : tensor<4xi32>
  tt.return
}

// One pointer added to twice, in 64 bits.
tt.func public @offsets_of_64_bits(%p: !tt.ptr<i16> {check.data = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi16>}, %s: i64 {check.value = 2 : i64}) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %w = arith.extsi %i : tensor<2xi32> to tensor<2xi64>
  %ss = tt.splat %s : i64 -> tensor<2xi64>
  %k = arith.muli %w, %ss : tensor<2xi64>
  %ps = tt.splat %p : !tt.ptr<i16> -> tensor<2x!tt.ptr<i16>>
  %q = tt.addptr %ps, %k : tensor<2x!tt.ptr<i16>>, tensor<2xi64>
  %r = tt.addptr %q, %ss : tensor<2x!tt.ptr<i16>>, tensor<2xi64>
  %v = tt.load %r : tensor<2x!tt.ptr<i16>>
  check.eq %v, dense<[2, 4]> : tensor<2xi16>
  tt.return
}
