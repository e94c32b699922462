// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file -verify-diagnostics
// What a twg.producer is, one part for each message.

#t = #twg.linear<{register = [[0, 1], [0, 2], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [], block = []}>
#m = #twg.shared<contiguous = 1, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @tiles(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
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
  // expected-error @below {{is for the warps of a program, not for those of a twg.producer}}
    %z = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
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
tt.func public @few_warps(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  // expected-error @below {{has warps in groups of four, not 1}}
  twg.producer 1 {
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
tt.func public @few_registers(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
  %zero = arith.constant 0 : i32
  %free = arith.constant -1 : i32
  %full = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<1x1xi64, #b>
  %empty = twg.local_alloc {offset = 1040 : i32} -> !twg.memdesc<1x1xi64, #b>
  %m = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<8x32xf32, #m>
  twg.barrier_init %full : !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %empty : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  // expected-error @below {{needs two numbers of registers, multiples of 8 from 24 to 256}}
  twg.producer 4 registers [20, 100] {
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
tt.func public @second(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
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
  // expected-error @below {{is the second one of its kernel}}
  twg.producer 4 {
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
tt.func public @inside(%x: !tt.tensordesc<8x32xf32> {twg.tensor_map = #twg.tensor_map<element = "float32", box = [8, 32], swizzle = 128>}, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64) {
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
  %true = arith.constant true
  scf.if %true {
  // expected-error @below {{stands in the first block of a kernel}}
    twg.producer 4 {
    }
  }
  %q = twg.phase %zero
  twg.barrier_wait %full phase %q : !twg.memdesc<1x1xi64, #b>
  %y = twg.local_load %m : !twg.memdesc<8x32xf32, #m> -> tensor<8x32xf32, #t>
  twg.barrier_arrive %empty : !twg.memdesc<1x1xi64, #b>
  tt.return
}
}
