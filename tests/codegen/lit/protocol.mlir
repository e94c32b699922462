// RUN: tiletwin-opt %s -split-input-file --twg-phases --twg-shared-memory="arch=sm_80 num-warps=2" --twg-barriers="arch=sm_80 num-warps=2" | FileCheck %s
// RUN: tiletwin-translate %s -split-input-file --from=ttgir --emit-ptx --arch=sm_80 --num-warps=2 | FileCheck %s --check-prefix=PTX
// ttgir says who waits for whom: barriers are operations, and what an operation has inside its twg.scratch counts.

// Two conversions through the same bytes: threads write, wait for each other inside, and read; the second one's writes wait for the
// first one's readers.
// CHECK: module attributes {{.*}}twg.barriers_complete
// CHECK-LABEL: @chain
// CHECK: ttg.barrier local
// CHECK-NEXT: twg.convert_layout {{.*}} {twg.scratch = #twg.scratch<offset = 0, bytes = 256, barriers = 1>}
// CHECK: ttg.barrier local
// CHECK-NEXT: twg.convert_layout {{.*}} {twg.scratch = #twg.scratch<offset = 0, bytes = 256, barriers = 1>}
// CHECK-NOT: ttg.barrier
// PTX-LABEL: .entry chain(
// PTX-COUNT-4: bar{{(rier)?}}.sync
// PTX-NOT: bar{{(rier)?}}.sync
// PTX: ret;
#a = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], block = []}>
#b = #twg.linear<{register = [], lane = [[32], [2], [4], [8], [16]], warp = [[1]], block = []}>
tt.func public @chain(%p: !tt.ptr<i32>) {
  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #a>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #a>
  %a = tt.addptr %b, %x : tensor<64x!tt.ptr<i32>, #a>, tensor<64xi32, #a>
  %y = twg.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
  %d = arith.addi %y, %y : tensor<64xi32, #b>
  %z = twg.convert_layout %d : tensor<64xi32, #b> -> tensor<64xi32, #a>
  tt.store %a, %z : tensor<64x!tt.ptr<i32>, #a>
  tt.return
}

// -----

// Each warp leaves its part, and all threads combine the parts.
// CHECK-LABEL: @across_warps
// CHECK: tt.reduce
// CHECK: twg.scratch = #twg.scratch<offset = 0, bytes = 16, barriers = 1>
// CHECK-NOT: ttg.barrier
// PTX-LABEL: .entry across_warps(
// PTX: shfl.sync
// PTX: st.shared
// PTX: bar{{(rier)?}}.sync
// PTX: ld.shared
// PTX-NOT: bar{{(rier)?}}.sync
#a = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], block = []}>
tt.func public @across_warps(%p: !tt.ptr<f32>) {
  %x = arith.constant dense<1.0> : tensor<64xf32, #a>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<64xf32, #a>) -> f32
  tt.store %p, %s : !tt.ptr<f32>
  tt.return
}

// -----

// Reductions take turns at two places, so that none waits for the readers of the one before it. Where a loop has one of them
// only, it waits for its own readers, of the iteration before. Behind a loop there is a barrier.
// CHECK-LABEL: @reductions_in_turn
// CHECK: scf.for
// CHECK-NOT: ttg.barrier
// CHECK: twg.scratch = #twg.scratch<offset = 0, bytes = 16, barriers = 2>
// CHECK: ttg.barrier local
// CHECK-NEXT: scf.for
// CHECK-NOT: ttg.barrier
// CHECK: twg.scratch = #twg.scratch<offset = 16, bytes = 16, barriers = 1>
// CHECK-NOT: ttg.barrier
// CHECK: twg.scratch = #twg.scratch<offset = 0, bytes = 16, barriers = 1>
// CHECK-NOT: ttg.barrier
// PTX-LABEL: .entry reductions_in_turn(
// PTX-COUNT-5: bar{{(rier)?}}.sync
// PTX-NOT: bar{{(rier)?}}.sync
// PTX: ret;
#a = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], block = []}>
tt.func public @reductions_in_turn(%p: !tt.ptr<f32>, %n: i32) {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = arith.constant dense<1.0> : tensor<64xf32, #a>
  %first = arith.constant 0.0 : f32
  %sum = scf.for %i = %none to %n step %one iter_args(%t = %first) -> (f32) : i32 {
    %y = tt.splat %t : f32 -> tensor<64xf32, #a>
    %z = arith.addf %x, %y : tensor<64xf32, #a>
    %s = "tt.reduce"(%z) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %m = arith.maximumf %l, %r : f32
      tt.reduce.return %m : f32
    }) : (tensor<64xf32, #a>) -> f32
    scf.yield %s : f32
  }
  %all = scf.for %i = %none to %n step %one iter_args(%t = %sum) -> (f32) : i32 {
    %y = tt.splat %t : f32 -> tensor<64xf32, #a>
    %z = arith.addf %x, %y : tensor<64xf32, #a>
    %s = "tt.reduce"(%z) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %m = arith.maximumf %l, %r : f32
      tt.reduce.return %m : f32
    }) : (tensor<64xf32, #a>) -> f32
    %w = tt.splat %s : f32 -> tensor<64xf32, #a>
    %v = arith.subf %z, %w : tensor<64xf32, #a>
    %u = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %m = arith.minimumf %l, %r : f32
      tt.reduce.return %m : f32
    }) : (tensor<64xf32, #a>) -> f32
    scf.yield %u : f32
  }
  tt.store %p, %all : !tt.ptr<f32>
  tt.return
}

// -----

// A tile in shared memory: a barrier between its writers and readers, and one before its bytes are another tile's. An atomic
// access that releases and acquires waits for the program's threads on both sides.
// CHECK-LABEL: @reused
// CHECK: twg.local_alloc %{{.*}} {offset = 0 : i32}
// CHECK: ttg.barrier local
// CHECK-NEXT: twg.local_load
// CHECK: ttg.barrier local
// CHECK-NEXT: twg.local_alloc %{{.*}} {offset = 0 : i32}
// CHECK: ttg.barrier local
// CHECK-NEXT: twg.local_load
// CHECK: ttg.barrier local
// CHECK-NEXT: tt.atomic_rmw
// CHECK-NEXT: ttg.barrier local
// PTX-LABEL: .entry reused(
#t = #twg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0]], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
tt.func public @reused(%p: !tt.ptr<f32>) {
  %x = arith.constant dense<1.0> : tensor<8x32xf32, #t>
  %m = twg.local_alloc %x : tensor<8x32xf32, #t> -> !twg.memdesc<8x32xf32, #m>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  %n = twg.local_alloc %y : tensor<8x32xf32, #t> -> !twg.memdesc<8x32xf32, #m>
  %z = twg.local_load %n : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>, #t>
  tt.store %q, %z : tensor<8x32x!tt.ptr<f32>, #t>
  %one = arith.constant 1.0 : f32
  %true = arith.constant true
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32
  tt.return
}

// -----

// What a loop only reads, and was there before it began, needs no barrier in it.
// CHECK-LABEL: @read_again
// CHECK: twg.local_alloc
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: twg.local_load
// CHECK: scf.for
// CHECK-NOT: ttg.barrier
// CHECK: twg.local_load
// CHECK: scf.yield
#t = #twg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0]], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
tt.func public @read_again(%p: !tt.ptr<f32>, %n: i32) {
  %x = arith.constant dense<1.0> : tensor<8x32xf32, #t>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %m = twg.local_alloc %x : tensor<8x32xf32, #t> -> !twg.memdesc<8x32xf32, #m>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %y) -> (tensor<8x32xf32, #t>) : i32 {
    %z = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
    %t = arith.addf %s, %z : tensor<8x32xf32, #t>
    scf.yield %t : tensor<8x32xf32, #t>
  }
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>, #t>
  tt.store %q, %sum : tensor<8x32x!tt.ptr<f32>, #t>
  tt.return
}
