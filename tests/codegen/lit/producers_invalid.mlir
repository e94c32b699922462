// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file -verify-diagnostics
// What a producer and the program owe each other, one part for each message; texts without one are complete.

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @right(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
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
tt.func public @not_free(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{fills a slot that may be read, and no twg.barrier_wait free of its own stands in front}}
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
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
tt.func public @not_given_back(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{reads a slot that no twg.barrier_arrive behind it gives back to its producer}}
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @too_early(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{reads a slot that no twg.barrier_arrive behind it gives back to its producer}}
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @not_full(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  // expected-error @below {{reads what tensor copies bring, and no twg.barrier_wait for their barrier stands in front}}
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
tt.func public @too_many(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{waits for 4 arrivals at each barrier; there are 1}}
  twg.barrier_init %empty arrivals 4 : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
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
tt.func public @other_phase(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant 2 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
  // expected-error @below {{begins with phases 2; free, it begins with -1}}
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
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
tt.func public @of_threads(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{fills memory of which threads write, too; a producer has memory of its own}}
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.local_store %y, %m : tensor<8x32xf32, #t> -> !twg.memdesc<8x32xf32, #m>
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @stored(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64, %z: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %z0: i32, %z1: i32, %zs0: i64, %zs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %x0 step %one : i32 {
    twg.tensor_wait 0
    ttg.barrier local
    %o = twg.local_alloc %y : tensor<8x32xf32, #t> {offset = 2048 : i32} -> !twg.memdesc<8x32xf32, #m>
    twg.proxy_barrier
    %s = twg.tensor_store %z[%zero, %zero], %o : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>
    twg.tensor_commit %s
  }
  twg.tensor_wait 0
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @stored_again(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64, %z: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %z0: i32, %z1: i32, %zs0: i64, %zs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %x0 step %one : i32 {
    ttg.barrier local
    %o = twg.local_alloc %y : tensor<8x32xf32, #t> {offset = 2048 : i32} -> !twg.memdesc<8x32xf32, #m>
    twg.proxy_barrier
    // expected-error @below {{is on its way when its shared memory is used again: no twg.tensor_wait and barrier stand in between}}
    %s = twg.tensor_store %z[%zero, %zero], %o : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>
    twg.tensor_commit %s
  }
  twg.tensor_wait 0
  tt.return
}
}

// -----

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @stored_at_the_end(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64, %z: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %z0: i32, %z1: i32, %zs0: i64, %zs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.producer 4 {
    %p = twg.phase %free
    twg.barrier_wait %empty free phase %p : !twg.memdesc<1x1xi64, #b>
    twg.barrier_expect %full, 1024 : !twg.memdesc<1x1xi64, #b>
    twg.tensor_load %x[%zero, %zero], %m, %full : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>, !twg.memdesc<1x1xi64, #b>
    twg.producer_end
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  %one = arith.constant 1 : i32
  // expected-error @below {{ends while a store is on its way, and no twg.tensor_wait stands behind}}
  scf.for %i = %zero to %x0 step %one : i32 {
    twg.tensor_wait 0
    ttg.barrier local
    %o = twg.local_alloc %y : tensor<8x32xf32, #t> {offset = 2048 : i32} -> !twg.memdesc<8x32xf32, #m>
    twg.proxy_barrier
    %s = twg.tensor_store %z[%zero, %zero], %o : !tt.tensordesc<8x32xf32>, !twg.memdesc<8x32xf32, #m>
    twg.tensor_commit %s
  }
  tt.return
}
}
