// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file -verify-diagnostics
// Text that says that its barriers are complete (twg.barriers_complete) and misses one, or a part of a copy's protocol, is refused:
// one part for each message.

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @unwritten() {
  %x = ub.poison : tensor<8x32xf32, #t>
  %m = twg.local_alloc %x : tensor<8x32xf32, #t> {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  // expected-error @below {{reads shared memory that is written before, and no barrier stands in between}}
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @unread() {
  %x = ub.poison : tensor<8x32xf32, #t>
  %m = twg.local_alloc %x : tensor<8x32xf32, #t> {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  ttg.barrier local
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  // expected-error @below {{writes shared memory that is used before, and no barrier stands in between}}
  twg.local_store %x, %m : tensor<8x32xf32, #t> -> !twg.memdesc<8x32xf32, #m>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @iterations(%n: i32) {
  %x = ub.poison : tensor<8x32xf32, #t>
  %m = twg.local_alloc %x : tensor<8x32xf32, #t> {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @below {{reads shared memory that is written before, and no barrier stands in between}}
    %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
    ttg.barrier local
    twg.local_store %y, %m : tensor<8x32xf32, #t> -> !twg.memdesc<8x32xf32, #m>
  }
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @behind(%n: i32) {
  %x = ub.poison : tensor<8x32xf32, #t>
  %m = twg.local_alloc %x : tensor<8x32xf32, #t> {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
  }
  // expected-error @below {{reads shared memory that another iteration or branch may have used, and no barrier stands in between}}
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @released(%p: !tt.ptr<f32>) {
  %one = arith.constant 1.0 : f32
  %true = arith.constant true
  // expected-error @below {{releases what the program has written, and no barrier of its threads stands in front}}
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32
  ttg.barrier local
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @acquired(%p: !tt.ptr<f32>) {
  %one = arith.constant 1.0 : f32
  %true = arith.constant true
  ttg.barrier local
  // expected-error @below {{tells one thread what all have to know, and no barrier stands behind}}
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @waited_for() {
  // expected-error @below {{tells one thread what all have to know, and no barrier stands behind}}
  twg.async_wait 0
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @nowhere() {
  // expected-error @below {{has no offset in shared memory}}
  %m = twg.local_alloc -> !twg.memdesc<8x32xf32, #m>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @crooked() {
  // expected-error @below {{needs an offset that 1024 divides}}
  %m = twg.local_alloc {offset = 16 : i32} -> !twg.memdesc<8x32xf32, #m>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @twice() {
  %x = ub.poison : tensor<8x32xf32, #t>
  // expected-error @below {{uses bytes 0 to 1024 of shared memory, where another allocation lives}}
  %m = twg.local_alloc %x : tensor<8x32xf32, #t> {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  %n = twg.local_alloc %x : tensor<8x32xf32, #t> {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  ttg.barrier local
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  %z = twg.local_load %n : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  tt.return
}
}

// -----

#a = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [], block = []}>
module attributes {twg.barriers_complete} {
tt.func public @no_scratch() {
  %x = ub.poison : tensor<32xi32, #a>
  ttg.barrier local
  // expected-error @below {{needs twg.scratch of 128 bytes with 2 barriers inside}}
  %h = tt.histogram %x : tensor<32xi32, #a> -> tensor<32xi32, #a>
  tt.return
}
}

// -----

#a = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [], block = []}>
module attributes {twg.barriers_complete} {
tt.func public @idle_scratch() {
  %x = ub.poison : tensor<32xi32, #a>
  ttg.barrier local
  // expected-error @below {{has a twg.scratch, but its elements stay in their warps}}
  %h = twg.convert_layout %x {twg.scratch = #twg.scratch<offset = 0, bytes = 128, barriers = 1>} : tensor<32xi32, #a> -> tensor<32xi32, #a>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @no_group() {
  %p = ub.poison : tensor<8x32x!tt.ptr<f32>, #t>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  // expected-error @below {{is part of no group: no twg.async_commit follows}}
  twg.async_copy %p, %m {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #t> -> !twg.memdesc<8x32xf32, #m>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @no_wait() {
  %p = ub.poison : tensor<8x32x!tt.ptr<f32>, #t>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.async_copy %p, %m {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #t> -> !twg.memdesc<8x32xf32, #m>
  twg.async_commit
  ttg.barrier local
  // expected-error @below {{reads what copies bring, and no twg.async_wait stands in front}}
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @too_many(%n: i32) {
  %p = ub.poison : tensor<8x32x!tt.ptr<f32>, #t>
  %all = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<3x8x32xf32, #r>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %s0 = twg.memdesc_index %all[%c0] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
  twg.async_copy %p, %s0 {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #t> -> !twg.memdesc<8x32xf32, #m>
  twg.async_commit
  %s1 = twg.memdesc_index %all[%c1] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
  twg.async_copy %p, %s1 {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #t> -> !twg.memdesc<8x32xf32, #m>
  twg.async_commit
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%now = %c0, %next = %c2) -> (i32, i32) : i32 {
    // expected-error @below {{leaves 2 groups on their way; what is read next is among the last 2}}
    twg.async_wait 2
    ttg.barrier local
    %f = twg.memdesc_index %all[%next] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
    twg.async_copy %p, %f {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #t> -> !twg.memdesc<8x32xf32, #m>
    twg.async_commit
    %m = twg.memdesc_index %all[%now] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
    %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
    scf.yield %next, %now : i32, i32
  }
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @begun_too_late(%n: i32) {
  %p = ub.poison : tensor<8x32x!tt.ptr<f32>, #t>
  %all = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<3x8x32xf32, #r>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %s0 = twg.memdesc_index %all[%c0] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
  twg.async_copy %p, %s0 {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #t> -> !twg.memdesc<8x32xf32, #m>
  twg.async_commit
  // expected-error @below {{reads slots that 2 groups fill before it begins; twg.async_commit makes 1}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%now = %c0, %next = %c2) -> (i32, i32) : i32 {
    twg.async_wait 1
    ttg.barrier local
    %f = twg.memdesc_index %all[%next] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
    twg.async_copy %p, %f {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #t> -> !twg.memdesc<8x32xf32, #m>
    twg.async_commit
    %m = twg.memdesc_index %all[%now] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
    %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
    scf.yield %next, %now : i32, i32
  }
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @refilled(%n: i32) {
  %x = ub.poison : tensor<8x32xf32, #t>
  %all = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<3x8x32xf32, #r>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%now = %c0, %next = %c2) -> (i32, i32) : i32 {
    %f = twg.memdesc_index %all[%next] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
    // expected-error @below {{fills a slot that threads may still read, and no barrier of the loop stands in between}}
    twg.local_store %x, %f : tensor<8x32xf32, #t> -> !twg.memdesc<8x32xf32, #m>
    ttg.barrier local
    %m = twg.memdesc_index %all[%now] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
    %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
    scf.yield %next, %now : i32, i32
  }
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#r = #twg.shared<contiguous = 2, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @stored() {
  %x = ub.poison : tensor<8x32xf32, #t>
  %c0 = arith.constant 0 : i32
  %all = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<3x8x32xf32, #r>
  %m = twg.memdesc_index %all[%c0] : !twg.memdesc<3x8x32xf32, #r> -> !twg.memdesc<8x32xf32, #m>
  twg.local_store %x, %m : tensor<8x32xf32, #t> -> !twg.memdesc<8x32xf32, #m>
  // expected-error @below {{reads a slot that threads have stored to, and no barrier stands in between}}
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#b = #twg.shared<contiguous = 1, swizzle = 0>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @expects_nothing(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %b = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %b : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %m = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  // expected-error @below {{arrives on a barrier that no twg.barrier_expect in front tells of its bytes}}
  twg.tensor_load %d[%c0, %c0], %m, %b : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>, !twg.memdesc<1x1xi64, #b>
  %phase = twg.phase %c0
  twg.barrier_wait %b phase %phase : !twg.memdesc<1x1xi64, #b>
  %after = twg.next_phase %c0
  %y = twg.local_load %m : !twg.memdesc<64x32xf16, #s> -> tensor<64x32xf16, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#b = #twg.shared<contiguous = 1, swizzle = 0>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @expects_less(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %b = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %b : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %m = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  // expected-error @below {{expects 2048 bytes; the copies that arrive bring 4096}}
  twg.barrier_expect %b, 2048 : !twg.memdesc<1x1xi64, #b>
  twg.tensor_load %d[%c0, %c0], %m, %b : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>, !twg.memdesc<1x1xi64, #b>
  %phase = twg.phase %c0
  twg.barrier_wait %b phase %phase : !twg.memdesc<1x1xi64, #b>
  %after = twg.next_phase %c0
  %y = twg.local_load %m : !twg.memdesc<64x32xf16, #s> -> tensor<64x32xf16, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#b = #twg.shared<contiguous = 1, swizzle = 0>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @no_phase(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %b = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %b : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %m = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  twg.barrier_expect %b, 4096 : !twg.memdesc<1x1xi64, #b>
  twg.tensor_load %d[%c0, %c0], %m, %b : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>, !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{needs the phase of its barrier: twg.phase of the barrier's number}}
  twg.barrier_wait %b phase %c0 : !twg.memdesc<1x1xi64, #b>
  %after = twg.next_phase %c0
  %y = twg.local_load %m : !twg.memdesc<64x32xf16, #s> -> tensor<64x32xf16, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#b = #twg.shared<contiguous = 1, swizzle = 0>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @same_phase(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %b = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %b : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %m = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  twg.barrier_expect %b, 4096 : !twg.memdesc<1x1xi64, #b>
  twg.tensor_load %d[%c0, %c0], %m, %b : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>, !twg.memdesc<1x1xi64, #b>
  %phase = twg.phase %c0
  // expected-error @below {{ends a phase that another wait ends too: twg.next_phase stands between them}}
  twg.barrier_wait %b phase %phase : !twg.memdesc<1x1xi64, #b>
  %again = twg.phase %c0
  twg.barrier_wait %b phase %again : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<64x32xf16, #s> -> tensor<64x32xf16, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#b = #twg.shared<contiguous = 1, swizzle = 0>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @not_waited_for(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %b = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %b : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %m = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  twg.barrier_expect %b, 4096 : !twg.memdesc<1x1xi64, #b>
  twg.tensor_load %d[%c0, %c0], %m, %b : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>, !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{reads what tensor copies bring, and no twg.barrier_wait for their barrier stands in front}}
  %y = twg.local_load %m : !twg.memdesc<64x32xf16, #s> -> tensor<64x32xf16, #l>
  tt.return
}
}
