// RUN: tiletwin-exec %s --backend=interp
// Index arithmetic after a program has written memory: it cannot start again, and must give every element its value at once.

// A store, then rows taken modulo the height, across the end.
tt.func public @modulo(%p: !tt.ptr<i32> {check.data = dense<[10, 11, 12, 13, 14, 15]> : tensor<6xi32>,
                                         check.after = dense<[0, 1, 2, 3, 14, 15]> : tensor<6xi32>},
                       %last: i32 {check.value = 4 : i32}, %n: i32 {check.value = 6 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ns = tt.splat %n : i32 -> tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %q, %i : tensor<4x!tt.ptr<i32>>
  %first = tt.load %q : tensor<4x!tt.ptr<i32>>
  check.eq %first, dense<[0, 1, 2, 3]> : tensor<4xi32>
  %l = tt.splat %last : i32 -> tensor<4xi32>
  %b = arith.addi %l, %i : tensor<4xi32>
  %bm = arith.remsi %b, %ns : tensor<4xi32>
  %bq = arith.divsi %b, %ns : tensor<4xi32>
  %pb = tt.addptr %ps, %bm : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = tt.load %pb : tensor<4x!tt.ptr<i32>>
  check.eq %v, dense<[14, 15, 0, 1]> : tensor<4xi32>
  check.eq %bq, dense<[0, 0, 1, 1]> : tensor<4xi32>
  tt.return
}

// In a loop whose store comes last; only the third round crosses the end.
tt.func public @modulo_in_a_loop(%p: !tt.ptr<i32> {check.data = dense<[10, 11, 12, 13, 14, 15]> : tensor<6xi32>},
                                 %o: !tt.ptr<i32> {check.data = dense<0> : tensor<12xi32>,
                                   check.after = dense<[10, 11, 12, 13, 14, 15, 10, 11, 12, 13, 14, 15]> : tensor<12xi32>},
                                 %n: i32 {check.value = 6 : i32}, %rounds: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ns = tt.splat %n : i32 -> tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  scf.for %k = %c0 to %rounds step %c1 : i32 {
    %start = arith.muli %k, %c4 : i32
    %s = tt.splat %start : i32 -> tensor<4xi32>
    %x = arith.addi %s, %i : tensor<4xi32>
    %m = arith.remsi %x, %ns : tensor<4xi32>
    %q = tt.addptr %ps, %m : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    %v = tt.load %q : tensor<4x!tt.ptr<i32>>
    %r = tt.addptr %os, %x : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    tt.store %r, %v : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}

// The same with blocks that branch back.
tt.func public @modulo_in_blocks(%p: !tt.ptr<i32> {check.data = dense<[10, 11, 12, 13, 14, 15]> : tensor<6xi32>},
                                 %o: !tt.ptr<i32> {check.data = dense<0> : tensor<12xi32>,
                                   check.after = dense<[10, 11, 12, 13, 14, 15, 10, 11, 12, 13, 14, 15]> : tensor<12xi32>},
                                 %n: i32 {check.value = 6 : i32}, %end: i32 {check.value = 12 : i32}) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  cf.br ^bb1(%c0 : i32)
^bb1(%start: i32):
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ns = tt.splat %n : i32 -> tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %s = tt.splat %start : i32 -> tensor<4xi32>
  %x = arith.addi %s, %i : tensor<4xi32>
  %m = arith.remsi %x, %ns : tensor<4xi32>
  %q = tt.addptr %ps, %m : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  %r = tt.addptr %os, %x : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %r, %v : tensor<4x!tt.ptr<i32>>
  %next = arith.addi %start, %c4 : i32
  %more = arith.cmpi slt, %next, %end : i32
  cf.cond_br %more, ^bb1(%next : i32), ^bb2
^bb2:
  tt.return
}

// Values that wrap around are no indices: compared, widened and stored after a store.
tt.func public @values(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<8xi32>, check.after = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>},
                       %base: i32 {check.value = 2147483644 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %q, %i : tensor<8x!tt.ptr<i32>>
  %v = tt.load %q : tensor<8x!tt.ptr<i32>>
  check.eq %v, dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
  %b = tt.splat %base : i32 -> tensor<8xi32>
  %x = arith.addi %b, %i : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %m = arith.cmpi slt, %x, %zero : tensor<8xi32>
  check.eq %m, dense<[false, false, false, false, true, true, true, true]> : tensor<8xi1>
  %w = arith.extsi %x : tensor<8xi32> to tensor<8xi64>
  check.eq %w, dense<[2147483644, 2147483645, 2147483646, 2147483647, -2147483648, -2147483647, -2147483646, -2147483645]> : tensor<8xi64>
  %u = arith.extui %x : tensor<8xi32> to tensor<8xi64>
  check.eq %u, dense<[2147483644, 2147483645, 2147483646, 2147483647, 2147483648, 2147483649, 2147483650, 2147483651]> : tensor<8xi64>
  tt.return
}

// The mask of a store wraps around and is an interval still.
tt.func public @mask(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<8xi32>, check.after = dense<[7, 7, 7, 7, 4, 5, 6, 7]> : tensor<8xi32>},
                     %base: i32 {check.value = 2147483644 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %q, %i : tensor<8x!tt.ptr<i32>>
  %v = tt.load %q : tensor<8x!tt.ptr<i32>>
  check.eq %v, dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
  %b = tt.splat %base : i32 -> tensor<8xi32>
  %x = arith.addi %b, %i : tensor<8xi32>
  %one = arith.constant dense<1> : tensor<8xi32>
  %seven = arith.constant dense<7> : tensor<8xi32>
  %m = arith.cmpi sgt, %x, %one : tensor<8xi32>
  tt.store %q, %seven, %m : tensor<8x!tt.ptr<i32>>
  tt.return
}

// An arm that does not run checks nothing, though its offsets depend on nothing inside of it.
tt.func public @branch_not_taken(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<4xi32>, check.after = dense<[0, 1, 2, 3]> : tensor<4xi32>},
                                 %base: i32 {check.value = 2147483646 : i32}, %never: i1 {check.value = false}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %q, %i : tensor<4x!tt.ptr<i32>>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  check.eq %v, dense<[0, 1, 2, 3]> : tensor<4xi32>
  scf.if %never {
    %b = tt.splat %base : i32 -> tensor<4xi32>
    %x = arith.addi %b, %i : tensor<4xi32>
    %r = tt.addptr %ps, %x : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    tt.store %r, %i : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}
