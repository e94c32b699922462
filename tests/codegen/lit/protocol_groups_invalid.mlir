// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file -verify-diagnostics
// Text that says that its barriers are complete, and in which a product or a store to a tensor misses its fence, group or wait:
// one part for each message.

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @no_fence() {
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %b = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %c = ub.poison : tensor<64x32xf32, #l>
  ttg.barrier local
  // expected-error @below {{reads registers that went through no twg.warpgroup_fence of its own}}
  %d = twg.warpgroup_dot %a, %b, %c : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s>, tensor<64x32xf32, #l> -> tensor<64x32xf32, #l>
  twg.warpgroup_commit
  %w = twg.warpgroup_wait 0, %d : tensor<64x32xf32, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @product_of_no_group() {
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %b = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %c = ub.poison : tensor<64x32xf32, #l>
  ttg.barrier local
  %f = twg.warpgroup_fence %c : tensor<64x32xf32, #l>
  // expected-error @below {{is part of no group: no twg.warpgroup_commit follows}}
  %d = twg.warpgroup_dot %a, %b, %f : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s>, tensor<64x32xf32, #l> -> tensor<64x32xf32, #l>
  %w = twg.warpgroup_wait 0, %d : tensor<64x32xf32, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @product_behind_a_barrier() {
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %b = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %c = ub.poison : tensor<64x32xf32, #l>
  ttg.barrier local
  %f = twg.warpgroup_fence %c : tensor<64x32xf32, #l>
  // expected-error @below {{is on its way when the next barrier is reached: no twg.warpgroup_wait for its group stands in between}}
  %d = twg.warpgroup_dot %a, %b, %f : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s>, tensor<64x32xf32, #l> -> tensor<64x32xf32, #l>
  twg.warpgroup_commit
  ttg.barrier local
  %w = twg.warpgroup_wait 0, %d : tensor<64x32xf32, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @sum_used_too_early() {
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %b = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %c = ub.poison : tensor<64x32xf32, #l>
  ttg.barrier local
  %f = twg.warpgroup_fence %c : tensor<64x32xf32, #l>
  // expected-error @below {{has a sum that arith.addf uses before twg.warpgroup_wait 0}}
  %d = twg.warpgroup_dot %a, %b, %f : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s>, tensor<64x32xf32, #l> -> tensor<64x32xf32, #l>
  twg.warpgroup_commit
  %e = arith.addf %d, %d : tensor<64x32xf32, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @sum_not_waited_for() {
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %b = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %c = ub.poison : tensor<64x32xf32, #l>
  ttg.barrier local
  %f = twg.warpgroup_fence %c : tensor<64x32xf32, #l>
  // expected-error @below {{has a sum that twg.warpgroup_wait uses before twg.warpgroup_wait 0}}
  %d = twg.warpgroup_dot %a, %b, %f : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s>, tensor<64x32xf32, #l> -> tensor<64x32xf32, #l>
  twg.warpgroup_commit
  %w = twg.warpgroup_wait 1, %d : tensor<64x32xf32, #l>
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @store_of_no_group(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %c0 = arith.constant 0 : i32
  %x = ub.poison : tensor<64x32xf16, #l>
  %m = twg.local_alloc %x : tensor<64x32xf16, #l> {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  // expected-error @below {{is part of no group: no twg.tensor_commit follows}}
  %by = twg.tensor_store %d[%c0, %c0], %m : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>
  twg.tensor_wait 0, %by
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @store_behind_a_barrier(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %c0 = arith.constant 0 : i32
  %x = ub.poison : tensor<64x32xf16, #l>
  %m = twg.local_alloc %x : tensor<64x32xf16, #l> {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  // expected-error @below {{is on its way when the next barrier is reached: no twg.tensor_wait for its group stands in between}}
  %by = twg.tensor_store %d[%c0, %c0], %m : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>
  twg.tensor_commit %by
  ttg.barrier local
  twg.tensor_wait 0, %by
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @store_waited_for_too_little(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %c0 = arith.constant 0 : i32
  %x = ub.poison : tensor<64x32xf16, #l>
  %m = twg.local_alloc %x : tensor<64x32xf16, #l> {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  // expected-error @below {{is on its way when the next barrier is reached: no twg.tensor_wait for its group stands in between}}
  %by = twg.tensor_store %d[%c0, %c0], %m : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>
  twg.tensor_commit %by
  twg.tensor_wait 1, %by
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @store_of_another_thread(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64, %other: i1) {
  %c0 = arith.constant 0 : i32
  %x = ub.poison : tensor<64x32xf16, #l>
  %m = twg.local_alloc %x : tensor<64x32xf16, #l> {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.proxy_barrier
  %by = twg.tensor_store %d[%c0, %c0], %m : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>
  // expected-error @below {{needs the thread that began the stores: the result of a twg.tensor_store}}
  twg.tensor_commit %other
  twg.tensor_wait 0, %by
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @half_a_fence() {
  %b = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %a = ub.poison : tensor<64x32xf16, #l>
  %c = ub.poison : tensor<64x32xf32, #l>
  ttg.barrier local
  %f = twg.warpgroup_fence %c : tensor<64x32xf32, #l>
  // expected-error @below {{reads registers that went through no twg.warpgroup_fence of its own}}
  %d = twg.warpgroup_dot %a, %b, %f : tensor<64x32xf16, #l> * !twg.memdesc<32x32xf16, #s>, tensor<64x32xf32, #l> -> tensor<64x32xf32, #l>
  twg.warpgroup_commit
  %w = twg.warpgroup_wait 0, %d : tensor<64x32xf32, #l>
  tt.return
}
}
