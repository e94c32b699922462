// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --threads=1
// tt.atomic_rmw: every lane takes effect once, in any order; what comes back is what memory held.

tt.func public @add_i32_wraps(%p: !tt.ptr<i32> {check.data = dense<[1, 2147483647, -5, 0]> : tensor<4xi32>, check.after = dense<[3, -2147483648, 0, -1]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<[2, 1, 5, -1]> : tensor<4xi32>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw add, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
  check.eq %r, dense<[1, 2147483647, -5, 0]> : tensor<4xi32>
  tt.return
}

tt.func public @add_i64_wraps(%p: !tt.ptr<i64> {check.data = dense<[9223372036854775807, 7]> : tensor<2xi64>, check.after = dense<[-9223372036854775808, -1]> : tensor<2xi64>}) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ps = tt.splat %p : !tt.ptr<i64> -> tensor<2x!tt.ptr<i64>>
  %q = tt.addptr %ps, %i : tensor<2x!tt.ptr<i64>>, tensor<2xi32>
  %v = arith.constant dense<[1, -8]> : tensor<2xi64>
  %m = arith.constant dense<true> : tensor<2xi1>
  %r = tt.atomic_rmw add, acq_rel, gpu, %q, %v, %m : (tensor<2x!tt.ptr<i64>>, tensor<2xi64>, tensor<2xi1>) -> tensor<2xi64>
  check.eq %r, dense<[9223372036854775807, 7]> : tensor<2xi64>
  tt.return
}

tt.func public @and_i32(%p: !tt.ptr<i32> {check.data = dense<[12, -1, -2147483648, 7]> : tensor<4xi32>, check.after = dense<[8, 255, -2147483648, 0]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<[10, 255, -1, 8]> : tensor<4xi32>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw and, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
  check.eq %r, dense<[12, -1, -2147483648, 7]> : tensor<4xi32>
  tt.return
}

tt.func public @or_i64(%p: !tt.ptr<i64> {check.data = dense<[12, 0]> : tensor<2xi64>, check.after = dense<[15, -9223372036854775808]> : tensor<2xi64>}) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ps = tt.splat %p : !tt.ptr<i64> -> tensor<2x!tt.ptr<i64>>
  %q = tt.addptr %ps, %i : tensor<2x!tt.ptr<i64>>, tensor<2xi32>
  %v = arith.constant dense<[3, -9223372036854775808]> : tensor<2xi64>
  %m = arith.constant dense<true> : tensor<2xi1>
  %r = tt.atomic_rmw or, acq_rel, gpu, %q, %v, %m : (tensor<2x!tt.ptr<i64>>, tensor<2xi64>, tensor<2xi1>) -> tensor<2xi64>
  check.eq %r, dense<[12, 0]> : tensor<2xi64>
  tt.return
}

tt.func public @xor_i32(%p: !tt.ptr<i32> {check.data = dense<[12, -1, 5, -2147483648]> : tensor<4xi32>, check.after = dense<[6, 0, 5, 2147483647]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<[10, -1, 0, -1]> : tensor<4xi32>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw xor, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
  check.eq %r, dense<[12, -1, 5, -2147483648]> : tensor<4xi32>
  tt.return
}

tt.func public @max_is_signed(%p: !tt.ptr<i32> {check.data = dense<[-1, 5, -2147483648, 3]> : tensor<4xi32>, check.after = dense<[1, 5, 2147483647, 3]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<[1, -7, 2147483647, 3]> : tensor<4xi32>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw max, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
  check.eq %r, dense<[-1, 5, -2147483648, 3]> : tensor<4xi32>
  tt.return
}

tt.func public @umax_is_unsigned(%p: !tt.ptr<i32> {check.data = dense<[-1, 5, -2147483648, 3]> : tensor<4xi32>, check.after = dense<[-1, -7, -2147483648, 3]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<[1, -7, 2147483647, 3]> : tensor<4xi32>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw umax, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
  check.eq %r, dense<[-1, 5, -2147483648, 3]> : tensor<4xi32>
  tt.return
}

tt.func public @min_is_signed(%p: !tt.ptr<i64> {check.data = dense<[-1, 5, -9223372036854775808, 3]> : tensor<4xi64>, check.after = dense<[-1, -7, -9223372036854775808, 3]> : tensor<4xi64>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i64> -> tensor<4x!tt.ptr<i64>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i64>>, tensor<4xi32>
  %v = arith.constant dense<[1, -7, 9223372036854775807, 3]> : tensor<4xi64>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw min, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<i64>>, tensor<4xi64>, tensor<4xi1>) -> tensor<4xi64>
  check.eq %r, dense<[-1, 5, -9223372036854775808, 3]> : tensor<4xi64>
  tt.return
}

tt.func public @umin_is_unsigned(%p: !tt.ptr<i64> {check.data = dense<[-1, 5, -9223372036854775808, 3]> : tensor<4xi64>, check.after = dense<[1, 5, 9223372036854775807, 3]> : tensor<4xi64>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i64> -> tensor<4x!tt.ptr<i64>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i64>>, tensor<4xi32>
  %v = arith.constant dense<[1, -7, 9223372036854775807, 3]> : tensor<4xi64>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw umin, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<i64>>, tensor<4xi64>, tensor<4xi1>) -> tensor<4xi64>
  check.eq %r, dense<[-1, 5, -9223372036854775808, 3]> : tensor<4xi64>
  tt.return
}

tt.func public @exch_i32(%p: !tt.ptr<i32> {check.data = dense<[1, 2, 3, 4]> : tensor<4xi32>, check.after = dense<[4, 2, 2147483647, -2147483648]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<[4, 2, 2147483647, -2147483648]> : tensor<4xi32>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw exch, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
  check.eq %r, dense<[1, 2, 3, 4]> : tensor<4xi32>
  tt.return
}

tt.func public @exch_i16(%p: !tt.ptr<i16> {check.data = dense<[1, 2]> : tensor<2xi16>, check.after = dense<[-1, 32767]> : tensor<2xi16>}) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ps = tt.splat %p : !tt.ptr<i16> -> tensor<2x!tt.ptr<i16>>
  %q = tt.addptr %ps, %i : tensor<2x!tt.ptr<i16>>, tensor<2xi32>
  %v = arith.constant dense<[-1, 32767]> : tensor<2xi16>
  %m = arith.constant dense<true> : tensor<2xi1>
  %r = tt.atomic_rmw exch, acq_rel, gpu, %q, %v, %m : (tensor<2x!tt.ptr<i16>>, tensor<2xi16>, tensor<2xi1>) -> tensor<2xi16>
  check.eq %r, dense<[1, 2]> : tensor<2xi16>
  tt.return
}

tt.func public @exch_f64(%p: !tt.ptr<f64> {check.data = dense<[1.0, 0x7FF8000000000001]> : tensor<2xf64>, check.after = dense<[-0.0, 2.5]> : tensor<2xf64>}) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ps = tt.splat %p : !tt.ptr<f64> -> tensor<2x!tt.ptr<f64>>
  %q = tt.addptr %ps, %i : tensor<2x!tt.ptr<f64>>, tensor<2xi32>
  %v = arith.constant dense<[-0.0, 2.5]> : tensor<2xf64>
  %m = arith.constant dense<true> : tensor<2xi1>
  %r = tt.atomic_rmw exch, acq_rel, gpu, %q, %v, %m : (tensor<2x!tt.ptr<f64>>, tensor<2xf64>, tensor<2xi1>) -> tensor<2xf64>
  check.eq %r, dense<[1.0, 0x7FF8000000000001]> : tensor<2xf64>
  tt.return
}

tt.func public @fadd_f32(%p: !tt.ptr<f32> {check.data = dense<[1.5, -0.0, 0x7F800000, 0x00000001]> : tensor<4xf32>, check.after = dense<[3.75, -0.0, 0x7FC00000, 0x00000002]> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %v = arith.constant dense<[2.25, -0.0, 0xFF800000, 0x00000001]> : tensor<4xf32>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  check.eq %r, dense<[1.5, -0.0, 0x7F800000, 0x00000001]> : tensor<4xf32>
  tt.return
}

tt.func public @fadd_f64(%p: !tt.ptr<f64> {check.data = dense<[0.1, 1.0e308]> : tensor<2xf64>, check.after = dense<[0.30000000000000004, 0x7FF0000000000000]> : tensor<2xf64>}) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ps = tt.splat %p : !tt.ptr<f64> -> tensor<2x!tt.ptr<f64>>
  %q = tt.addptr %ps, %i : tensor<2x!tt.ptr<f64>>, tensor<2xi32>
  %v = arith.constant dense<[0.2, 1.0e308]> : tensor<2xf64>
  %m = arith.constant dense<true> : tensor<2xi1>
  %r = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %m : (tensor<2x!tt.ptr<f64>>, tensor<2xf64>, tensor<2xi1>) -> tensor<2xf64>
  check.eq %r, dense<[0.1, 1.0e308]> : tensor<2xf64>
  tt.return
}

tt.func public @fadd_f16_rounds_once(%p: !tt.ptr<f16> {check.data = dense<[2.048000e+03, 2.050000e+03, 6.550400e+04, 0x0001]> : tensor<4xf16>, check.after = dense<[2.048000e+03, 2.052000e+03, 0x7C00, 0x0002]> : tensor<4xf16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<4x!tt.ptr<f16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f16>>, tensor<4xi32>
  %v = arith.constant dense<[1.0, 1.0, 3.2e+01, 0x0001]> : tensor<4xf16>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<f16>>, tensor<4xf16>, tensor<4xi1>) -> tensor<4xf16>
  check.eq %r, dense<[2.048000e+03, 2.050000e+03, 6.550400e+04, 0x0001]> : tensor<4xf16>
  tt.return
}

tt.func public @fadd_bf16_rounds_once(%p: !tt.ptr<bf16> {check.data = dense<[256.0, 258.0, 1.0, -1.0]> : tensor<4xbf16>, check.after = dense<[256.0, 260.0, 3.0, 0.0]> : tensor<4xbf16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<4x!tt.ptr<bf16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<bf16>>, tensor<4xi32>
  %v = arith.constant dense<[1.0, 1.0, 2.0, 1.0]> : tensor<4xbf16>
  %m = arith.constant dense<true> : tensor<4xi1>
  %r = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<bf16>>, tensor<4xbf16>, tensor<4xi1>) -> tensor<4xbf16>
  check.eq %r, dense<[256.0, 258.0, 1.0, -1.0]> : tensor<4xbf16>
  tt.return
}

tt.func public @lanes_with_one_address_all_count(%p: !tt.ptr<i32> {check.data = dense<100> : tensor<2xi32>, check.after = dense<[110, 105]> : tensor<2xi32>}) {
  %i = arith.constant dense<[0, 1, 0, 0]> : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<[1, 5, 2, 7]> : tensor<4xi32>
  %r = tt.atomic_rmw add, relaxed, cta, %q, %v : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>) -> tensor<4xi32>
  check.eq %r, dense<[100, 100, 101, 103]> : tensor<4xi32>
  tt.return
}

tt.func public @masked_lanes_touch_nothing(%p: !tt.ptr<i32> {check.data = dense<[1, 2]> : tensor<2xi32>, check.after = dense<[11, 2]> : tensor<2xi32>}) {
  // The addresses of lanes 2 and 3 are outside.
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<10> : tensor<4xi32>
  %m = arith.constant dense<[true, false, false, false]> : tensor<4xi1>
  %r = tt.atomic_rmw add, release, sys, %q, %v, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
  check.eq %r, dense<[1, 0, 0, 0]> : tensor<4xi32>
  tt.return
}

tt.func public @a_box_mask(%p: !tt.ptr<f32> {check.data = dense<1.0> : tensor<4xf32>, check.after = dense<[3.0, 3.0, 3.0, 1.0]> : tensor<4xf32>}, %n: i32 {check.value = 3 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %v = arith.constant dense<2.0> : tensor<8xf32>
  %r = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  check.eq %r, dense<[1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<8xf32>
  tt.return
}

tt.func public @a_tile_of_rank_two(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<8xi32>, check.after = dense<[1, 2, 0, 0, 3, 4, 0, 0]> : tensor<8xi32>}) {
  %o = arith.constant dense<[[0, 1], [4, 5]]> : tensor<2x2xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<2x2x!tt.ptr<i32>>
  %q = tt.addptr %ps, %o : tensor<2x2x!tt.ptr<i32>>, tensor<2x2xi32>
  %v = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %r = tt.atomic_rmw add, acq_rel, gpu, %q, %v : (tensor<2x2x!tt.ptr<i32>>, tensor<2x2xi32>) -> tensor<2x2xi32>
  tt.return
}

tt.func public @scalar_max_is_sign_extended(%p: !tt.ptr<i32> {check.data = dense<-9> : tensor<1xi32>, check.after = dense<-3> : tensor<1xi32>}) {
  %v = arith.constant -3 : i32
  %r = tt.atomic_rmw max, acquire, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %w = arith.extsi %r : i32 to i64
  check.eq %w, -9 : i64
  tt.return
}

tt.func public @scalar_fadd_f16(%p: !tt.ptr<f16> {check.data = dense<1.5> : tensor<2xf16>, check.after = dense<[1.5, 4.0]> : tensor<2xf16>}) {
  %c1 = arith.constant 1 : i32
  %q = tt.addptr %p, %c1 : !tt.ptr<f16>, i32
  %v = arith.constant 2.5 : f16
  %r = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v : (!tt.ptr<f16>, f16) -> f16
  check.eq %r, 1.5 : f16
  tt.return
}

tt.func public @scalar_masked_off(%p: !tt.ptr<i32> {check.data = dense<7> : tensor<1xi32>, check.after = dense<7> : tensor<1xi32>}) {
  %v = arith.constant 1 : i32
  %m = arith.constant false
  %r = tt.atomic_rmw exch, acq_rel, gpu, %p, %v, %m : (!tt.ptr<i32>, i32, i1) -> i32
  check.eq %r, 0 : i32
  tt.return
}

tt.func public @every_program_counts(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<1xi32>, check.after = dense<3000> : tensor<1xi32>}) attributes {check.grid = array<i32: 100, 10, 3>} {
  %v = arith.constant 1 : i32
  %r = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

tt.func public @halves_of_a_word_do_not_disturb_each_other(%p: !tt.ptr<f16> {check.data = dense<0.0> : tensor<2xf16>, check.after = dense<[1000.0, 2000.0]> : tensor<2xf16>}) attributes {check.grid = array<i32: 1000, 1, 1>} {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<2x!tt.ptr<f16>>
  %q = tt.addptr %ps, %i : tensor<2x!tt.ptr<f16>>, tensor<2xi32>
  %v = arith.constant dense<[1.0, 2.0]> : tensor<2xf16>
  %r = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v : (tensor<2x!tt.ptr<f16>>, tensor<2xf16>) -> tensor<2xf16>
  tt.return
}

tt.func public @a_store_before_is_seen(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<4xi32>, check.after = dense<[11, 12, 13, 14]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %c1 = arith.constant dense<1> : tensor<4xi32>
  %c10 = arith.constant dense<10> : tensor<4xi32>
  %before = tt.load %q : tensor<4x!tt.ptr<i32>>
  %s = arith.addi %i, %c1 : tensor<4xi32>
  tt.store %q, %s : tensor<4x!tt.ptr<i32>>
  %r = tt.atomic_rmw add, acq_rel, gpu, %q, %c10 : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>) -> tensor<4xi32>
  %after = tt.load %q : tensor<4x!tt.ptr<i32>>
  check.eq %before, dense<0> : tensor<4xi32>
  check.eq %r, dense<[1, 2, 3, 4]> : tensor<4xi32>
  check.eq %after, dense<[11, 12, 13, 14]> : tensor<4xi32>
  tt.return
}

tt.func public @outside_writes_nothing(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<3xi32>, check.after = dense<0> : tensor<3xi32>}) attributes {check.trap = "tl.atomic_add: program (0, 0, 0), element 3: writes 4 bytes at offset 12 of arg0 (12 bytes)"} {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = arith.constant dense<1> : tensor<4xi32>
  %r = tt.atomic_rmw add, acq_rel, gpu, %q, %v : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>) -> tensor<4xi32>
  tt.return
}

tt.func public @scalar_outside(%p: !tt.ptr<i64> {check.data = dense<5> : tensor<1xi64>, check.after = dense<5> : tensor<1xi64>}) attributes {check.trap = "tl.atomic_xchg: program (0, 0, 0): writes 8 bytes at offset -8 of arg0"} {
  %c = arith.constant -1 : i32
  %q = tt.addptr %p, %c : !tt.ptr<i64>, i32
  %v = arith.constant 1 : i64
  %r = tt.atomic_rmw exch, acq_rel, gpu, %q, %v : (!tt.ptr<i64>, i64) -> i64
  tt.return
}

tt.func public @misaligned(%p: !tt.ptr<i8> {check.data = dense<0> : tensor<16xi8>, check.after = dense<0> : tensor<16xi8>}) attributes {check.trap = "tl.atomic_or: program (0, 0, 0), element 0: writes 4 bytes at offset 2 of arg0 (16 bytes): an atomic operation needs an address that is a multiple of 4"} {
  %c2 = arith.constant 2 : i32
  %b = tt.addptr %p, %c2 : !tt.ptr<i8>, i32
  %w = tt.bitcast %b : !tt.ptr<i8> -> !tt.ptr<i32>
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ps = tt.splat %w : !tt.ptr<i32> -> tensor<2x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
  %v = arith.constant dense<1> : tensor<2xi32>
  %r = tt.atomic_rmw or, acq_rel, gpu, %q, %v : (tensor<2x!tt.ptr<i32>>, tensor<2xi32>) -> tensor<2xi32>
  tt.return
}

tt.func public @scalar_misaligned(%p: !tt.ptr<i8> {check.data = dense<0> : tensor<16xi8>, check.after = dense<0> : tensor<16xi8>}) attributes {check.trap = "tl.atomic_add: program (0, 0, 0): writes 2 bytes at offset 1 of arg0 (16 bytes): an atomic operation needs an address that is a multiple of 2"} {
  %c1 = arith.constant 1 : i32
  %b = tt.addptr %p, %c1 : !tt.ptr<i8>, i32
  %w = tt.bitcast %b : !tt.ptr<i8> -> !tt.ptr<bf16>
  %v = arith.constant 1.0 : bf16
  %r = tt.atomic_rmw fadd, acq_rel, gpu, %w, %v : (!tt.ptr<bf16>, bf16) -> bf16
  tt.return
}

tt.func public @read_only_memory(%p: !tt.ptr<i32> {check.data = dense<3> : tensor<1xi32>, check.after = dense<3> : tensor<1xi32>, check.readonly}) attributes {check.trap = "read-only"} {
  %v = arith.constant 1 : i32
  %r = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}
