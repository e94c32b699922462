// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// scf.for: scalars, tiles and pointers carried around; no, one and many rounds; nested; swapped values.

tt.func public @sum_of_a_range(%n: i32 {check.value = 10 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    %t = arith.addi %s, %i : i32
    scf.yield %t : i32
  }
  check.eq %r, 45 : i32
  tt.return
}

tt.func public @no_round(%n: i32 {check.value = -3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<7> : tensor<4xi32>
  %r, %u = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c1, %t = %z) -> (i32, tensor<4xi32>) : i32 {
    scf.yield %i, %t : i32, tensor<4xi32>
  }
  check.eq %r, 1 : i32
  check.eq %u, dense<7> : tensor<4xi32>
  tt.return
}

tt.func public @step_that_does_not_divide(%n: i64 {check.value = 10 : i64}) {
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c0 = arith.constant 0 : i64
  %r = scf.for %i = %c1 to %n step %c4 iter_args(%s = %c0) -> (i64) : i64 {
    %t = arith.addi %s, %i : i64
    scf.yield %t : i64
  }
  check.eq %r, 15 : i64
  tt.return
}

// Close to the largest i32: the counter must not wrap around.
tt.func public @up_to_the_largest_number(%n: i32 {check.value = 2147483647 : i32}) {
  %lo = arith.constant 2147483640 : i32
  %c5 = arith.constant 5 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %lo to %n step %c5 iter_args(%s = %c0) -> (i32) : i32 {
    %t = arith.addi %s, %c1 : i32
    scf.yield %t : i32
  }
  check.eq %r, 2 : i32
  tt.return
}

tt.func public @tile_accumulator(%n: i32 {check.value = 5 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<2x4xf32>
  %one = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<2x4xf32>) : i32 {
    %f = arith.sitofp %i : i32 to f32
    %fs = tt.splat %f : f32 -> tensor<2x4xf32>
    %m = arith.mulf %one, %fs : tensor<2x4xf32>
    %t = arith.addf %s, %m : tensor<2x4xf32>
    scf.yield %t : tensor<2x4xf32>
  }
  check.eq %r, dense<[[10.0, 20.0, 30.0, 40.0], [50.0, 60.0, 70.0, 80.0]]> : tensor<2x4xf32>
  tt.return
}

tt.func public @values_that_swap(%n: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = arith.constant dense<[3, 4]> : tensor<2xi32>
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %p = %c0, %q = %c1)
      -> (tensor<2xi32>, tensor<2xi32>, i32, i32) : i32 {
    scf.yield %y, %x, %q, %p : tensor<2xi32>, tensor<2xi32>, i32, i32
  }
  check.eq %r#0, dense<[3, 4]> : tensor<2xi32>
  check.eq %r#1, dense<[1, 2]> : tensor<2xi32>
  check.eq %r#2, 1 : i32
  check.eq %r#3, 0 : i32
  tt.return
}

tt.func public @a_value_of_the_round_before(%n: i32 {check.value = 4 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0> : tensor<2xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%now = %z, %before = %z) -> (tensor<2xi32>, tensor<2xi32>) : i32 {
    %s = tt.splat %i : i32 -> tensor<2xi32>
    %t = arith.addi %now, %s : tensor<2xi32>
    scf.yield %t, %now : tensor<2xi32>, tensor<2xi32>
  }
  check.eq %r#0, dense<6> : tensor<2xi32>
  check.eq %r#1, dense<3> : tensor<2xi32>
  tt.return
}

tt.func public @pointers_that_advance(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 2 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q0 = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %step = arith.constant dense<4> : tensor<4xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z, %q = %q0) -> (tensor<4xf32>, tensor<4x!tt.ptr<f32>>) : i32 {
    %a = tt.load %q : tensor<4x!tt.ptr<f32>>
    %t = arith.addf %s, %a : tensor<4xf32>
    %next = tt.addptr %q, %step : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    scf.yield %t, %next : tensor<4xf32>, tensor<4x!tt.ptr<f32>>
  }
  check.eq %r#0, dense<[4.0, 6.0, 8.0, 10.0]> : tensor<4xf32>
  tt.return
}

tt.func public @nested(%n: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    %t = scf.for %j = %c0 to %i step %c1 iter_args(%u = %s) -> (i32) : i32 {
      %v = arith.muli %i, %j : i32
      %w = arith.addi %u, %v : i32
      scf.yield %w : i32
    }
    %x = arith.addi %t, %c1 : i32
    scf.yield %x : i32
  }
  check.eq %r, 5 : i32
  tt.return
}

// Memory that a round writes is read by the next.
tt.func public @through_memory(%p: !tt.ptr<i32> {check.data = dense<[1, 0, 0, 0, 0]> : tensor<5xi32>, check.after = dense<[1, 2, 4, 8, 16]> : tensor<5xi32>}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
    %v = tt.load %q : !tt.ptr<i32>
    %w = arith.addi %v, %v : i32
    %q1 = tt.addptr %q, %c1 : !tt.ptr<i32>, i32
    tt.store %q1, %w : !tt.ptr<i32>
  }
  tt.return
}

// A block-wise matrix product: 2 rounds of k.
tt.func public @dot_over_k(%a: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]]> : tensor<2x4xf32>},
                           %b: !tt.ptr<f32> {check.data = dense<[[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 2.0]]> : tensor<4x2xf32>}) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %r = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %ce = tt.expand_dims %r {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %f = arith.constant dense<4> : tensor<2x1xi32>
  %t = arith.constant dense<2> : tensor<2x1xi32>
  %ra = arith.muli %re, %f : tensor<2x1xi32>
  %rb = arith.muli %re, %t : tensor<2x1xi32>
  %rab = tt.broadcast %ra : tensor<2x1xi32> -> tensor<2x2xi32>
  %rbb = tt.broadcast %rb : tensor<2x1xi32> -> tensor<2x2xi32>
  %cb = tt.broadcast %ce : tensor<1x2xi32> -> tensor<2x2xi32>
  %oa = arith.addi %rab, %cb : tensor<2x2xi32>
  %ob = arith.addi %rbb, %cb : tensor<2x2xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<2x2x!tt.ptr<f32>>
  %bs = tt.splat %b : !tt.ptr<f32> -> tensor<2x2x!tt.ptr<f32>>
  %pa = tt.addptr %as, %oa : tensor<2x2x!tt.ptr<f32>>, tensor<2x2xi32>
  %pb = tt.addptr %bs, %ob : tensor<2x2x!tt.ptr<f32>>, tensor<2x2xi32>
  %da = arith.constant dense<2> : tensor<2x2xi32>
  %db = arith.constant dense<4> : tensor<2x2xi32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %q:3 = scf.for %k = %c0 to %c4 step %c2 iter_args(%acc = %z, %x = %pa, %y = %pb)
      -> (tensor<2x2xf32>, tensor<2x2x!tt.ptr<f32>>, tensor<2x2x!tt.ptr<f32>>) : i32 {
    %u = tt.load %x : tensor<2x2x!tt.ptr<f32>>
    %v = tt.load %y : tensor<2x2x!tt.ptr<f32>>
    %d = tt.dot %u, %v, %acc : tensor<2x2xf32> * tensor<2x2xf32> -> tensor<2x2xf32>
    %xn = tt.addptr %x, %da : tensor<2x2x!tt.ptr<f32>>, tensor<2x2xi32>
    %yn = tt.addptr %y, %db : tensor<2x2x!tt.ptr<f32>>, tensor<2x2xi32>
    scf.yield %d, %xn, %yn : tensor<2x2xf32>, tensor<2x2x!tt.ptr<f32>>, tensor<2x2x!tt.ptr<f32>>
  }
  check.eq %q#0, dense<[[7.0, 10.0], [0.0, 3.0]]> : tensor<2x2xf32>
  tt.return
}

// Unsigned counters: past the largest signed number, and up to the type's last one.
tt.func public @unsigned_past_the_largest_signed(%lo: i32 {check.value = 2147483640 : i32}, %n: i32 {check.value = -2147483640 : i32}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i32
  %r = scf.for unsigned %i = %lo to %n step %c1 iter_args(%s = %c0) -> (i64) : i32 {
    %w = arith.extui %i : i32 to i64
    %t = arith.addi %s, %w : i64
    scf.yield %t : i64
  }
  check.eq %r, 34359738360 : i64
  tt.return
}

tt.func public @unsigned_to_the_last_number(%lo: i32 {check.value = -5 : i32}, %n: i32 {check.value = -1 : i32}, %step: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for unsigned %i = %lo to %n step %step iter_args(%s = %c0) -> (i32) : i32 {
    %t = arith.addi %s, %c1 : i32
    scf.yield %t : i32
  }
  check.eq %r, 2 : i32
  tt.return
}

tt.func public @unsigned_with_a_step_past_the_largest_signed(%lo: i32 {check.value = 1 : i32}, %n: i32 {check.value = -1 : i32}, %step: i32 {check.value = -2147483648 : i32}) {
  %c0 = arith.constant 0 : i32
  %r = scf.for unsigned %i = %lo to %n step %step iter_args(%s = %c0) -> (i32) : i32 {
    %t = arith.addi %s, %i : i32
    scf.yield %t : i32
  }
  check.eq %r, -2147483646 : i32
  tt.return
}

tt.func public @unsigned_bytes(%lo: i8 {check.value = 120 : i8}, %n: i8 {check.value = -1 : i8}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i8
  %r = scf.for unsigned %i = %lo to %n step %c7 iter_args(%s = %c0) -> (i32) : i8 {
    %t = arith.addi %s, %c1 : i32
    scf.yield %t : i32
  }
  check.eq %r, 20 : i32
  tt.return
}

tt.func public @unsigned_that_never_begins(%lo: i32 {check.value = -1 : i32}, %n: i32 {check.value = 5 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for unsigned %i = %lo to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    scf.yield %c1 : i32
  }
  check.eq %r, 0 : i32
  tt.return
}

tt.func public @unsigned_of_64_bits(%lo: i64 {check.value = 9223372036854775800 : i64}, %n: i64 {check.value = -9223372036854775800 : i64}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i64
  %r = scf.for unsigned %i = %lo to %n step %c5 iter_args(%s = %c0) -> (i32) : i64 {
    %t = arith.addi %s, %c1 : i32
    scf.yield %t : i32
  }
  check.eq %r, 4 : i32
  tt.return
}
