// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --threads=1
// tt.atomic_cas: compares bits and swaps in one step.

tt.func public @cas_i32(%p: !tt.ptr<i32> {check.data = dense<[3, 4, 3, -1]> : tensor<4xi32>, check.after = dense<[10, 4, 12, -1]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %c = arith.constant dense<3> : tensor<4xi32>
  %v = arith.constant dense<[10, 11, 12, 13]> : tensor<4xi32>
  %r = tt.atomic_cas acq_rel, gpu, %q, %c, %v : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  check.eq %r, dense<[3, 4, 3, -1]> : tensor<4xi32>
  tt.return
}

tt.func public @the_first_lane_wins(%p: !tt.ptr<i64> {check.data = dense<0> : tensor<1xi64>, check.after = dense<5> : tensor<1xi64>}) {
  %q = tt.splat %p : !tt.ptr<i64> -> tensor<4x!tt.ptr<i64>>
  %c = arith.constant dense<0> : tensor<4xi64>
  %v = arith.constant dense<[5, 6, 7, 8]> : tensor<4xi64>
  %r = tt.atomic_cas relaxed, cta, %q, %c, %v : (tensor<4x!tt.ptr<i64>>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  check.eq %r, dense<[0, 5, 5, 5]> : tensor<4xi64>
  tt.return
}

tt.func public @floats_are_compared_by_bits(%p: !tt.ptr<f32> {check.data = dense<[-0.0, 0x7FC00001, 0.0, 1.0]> : tensor<4xf32>, check.after = dense<[-0.0, 8.0, 8.0, 1.0]> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %c = arith.constant dense<[0.0, 0x7FC00001, 0.0, 2.0]> : tensor<4xf32>
  %v = arith.constant dense<8.0> : tensor<4xf32>
  %r = tt.atomic_cas acquire, sys, %q, %c, %v : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  check.eq %r, dense<[-0.0, 0x7FC00001, 0.0, 1.0]> : tensor<4xf32>
  tt.return
}

tt.func public @cas_i16(%p: !tt.ptr<i16> {check.data = dense<[-2, 7]> : tensor<2xi16>, check.after = dense<[-2, 9]> : tensor<2xi16>}) {
  %c1 = arith.constant 1 : i32
  %q = tt.addptr %p, %c1 : !tt.ptr<i16>, i32
  %c = arith.constant 7 : i16
  %v = arith.constant 9 : i16
  %r = tt.atomic_cas release, gpu, %q, %c, %v : (!tt.ptr<i16>, i16, i16) -> i16
  check.eq %r, 7 : i16
  tt.return
}

tt.func public @scalar_failure_is_sign_extended(%p: !tt.ptr<i32> {check.data = dense<-2> : tensor<1xi32>, check.after = dense<-2> : tensor<1xi32>}) {
  %c = arith.constant 0 : i32
  %v = arith.constant 1 : i32
  %r = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (!tt.ptr<i32>, i32, i32) -> i32
  %w = arith.extsi %r : i32 to i64
  check.eq %w, -2 : i64
  tt.return
}

// Each program adds 1 by compare-and-swap: none is lost.
tt.func public @a_loop_of_cas(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<1xi32>, check.after = dense<500> : tensor<1xi32>}) attributes {check.grid = array<i32: 500, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.while (%seen = %c0) : (i32) -> i32 {
    %next = arith.addi %seen, %c1 : i32
    %old = tt.atomic_cas acq_rel, gpu, %p, %seen, %next : (!tt.ptr<i32>, i32, i32) -> i32
    %failed = arith.cmpi ne, %old, %seen : i32
    scf.condition(%failed) %old : i32
  } do {
  ^bb0(%old: i32):
    scf.yield %old : i32
  }
  tt.return
}

tt.func public @cas_outside(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<2xi32>, check.after = dense<0> : tensor<2xi32>}) attributes {check.trap = "tl.atomic_cas: program (0, 0, 0), element 1: writes 4 bytes at offset 8 of arg0"} {
  %o = arith.constant dense<[0, 2]> : tensor<2xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<2x!tt.ptr<i32>>
  %q = tt.addptr %ps, %o : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
  %c = arith.constant dense<0> : tensor<2xi32>
  %v = arith.constant dense<1> : tensor<2xi32>
  %r = tt.atomic_cas acq_rel, gpu, %q, %c, %v : (tensor<2x!tt.ptr<i32>>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  tt.return
}
