// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file -verify-diagnostics
// What two CTAs that copy for each other owe each other, one part for each mistake; the first text has none.

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @right(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) attributes {twg.pairs} {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %none = arith.constant 0 : i32
  %both = arith.constant true
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %ready = twg.local_alloc {offset = 1056 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %ready arrivals 2 : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    scf.if %both {
      twg.pair_arrive %ready : !twg.memdesc<1x1xi64, #b>
      %r = twg.phase %none
      twg.barrier_wait %ready phase %r : !twg.memdesc<1x1xi64, #b>
    }
    twg.tensor_load %x[%zero, %zero], %m, %full turn %zero : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @not_in_pairs(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %none = arith.constant 0 : i32
  %both = arith.constant true
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %ready = twg.local_alloc {offset = 1056 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %ready arrivals 2 : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    scf.if %both {
      twg.pair_arrive %ready : !twg.memdesc<1x1xi64, #b>
      %r = twg.phase %none
      twg.barrier_wait %ready phase %r : !twg.memdesc<1x1xi64, #b>
    }
  // expected-error @below {{with a turn is for the producer of a kernel whose CTAs run in pairs (twg.pairs)}}
    twg.tensor_load %x[%zero, %zero], %m, %full turn %zero : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @no_arrival(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) attributes {twg.pairs} {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %none = arith.constant 0 : i32
  %both = arith.constant true
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %ready = twg.local_alloc {offset = 1056 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %ready : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    scf.if %both {
      %r = twg.phase %none
      twg.barrier_wait %ready phase %r : !twg.memdesc<1x1xi64, #b>
    }
  // expected-error @below {{may copy to another CTA, and no twg.pair_arrive with a wait for that CTA's stands behind its twg.barrier_expect}}
    twg.tensor_load %x[%zero, %zero], %m, %full turn %zero : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @no_wait(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) attributes {twg.pairs} {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %none = arith.constant 0 : i32
  %both = arith.constant true
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %ready = twg.local_alloc {offset = 1056 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %ready arrivals 2 : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    scf.if %both {
      twg.pair_arrive %ready : !twg.memdesc<1x1xi64, #b>
    }
  // expected-error @below {{may copy to another CTA, and no twg.pair_arrive with a wait for that CTA's stands behind its twg.barrier_expect}}
    twg.tensor_load %x[%zero, %zero], %m, %full turn %zero : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @waits_first(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) attributes {twg.pairs} {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %none = arith.constant 0 : i32
  %both = arith.constant true
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %ready = twg.local_alloc {offset = 1056 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %ready arrivals 2 : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    scf.if %both {
      %r = twg.phase %none
      twg.barrier_wait %ready phase %r : !twg.memdesc<1x1xi64, #b>
      twg.pair_arrive %ready : !twg.memdesc<1x1xi64, #b>
    }
  // expected-error @below {{may copy to another CTA, and no twg.pair_arrive with a wait for that CTA's stands behind its twg.barrier_expect}}
    twg.tensor_load %x[%zero, %zero], %m, %full turn %zero : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @expected_late(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) attributes {twg.pairs} {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %none = arith.constant 0 : i32
  %both = arith.constant true
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %ready = twg.local_alloc {offset = 1056 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %ready arrivals 2 : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    scf.if %both {
      twg.pair_arrive %ready : !twg.memdesc<1x1xi64, #b>
      %r = twg.phase %none
      twg.barrier_wait %ready phase %r : !twg.memdesc<1x1xi64, #b>
    }
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{may copy to another CTA, and no twg.pair_arrive with a wait for that CTA's stands behind its twg.barrier_expect}}
    twg.tensor_load %x[%zero, %zero], %m, %full turn %zero : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @no_meeting(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) attributes {twg.pairs} {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %none = arith.constant 0 : i32
  %both = arith.constant true
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %ready = twg.local_alloc {offset = 1056 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %ready : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{may copy to another CTA, and no twg.pair_arrive with a wait for that CTA's stands behind its twg.barrier_expect}}
    twg.tensor_load %x[%zero, %zero], %m, %full turn %zero : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  tt.return
}
}
