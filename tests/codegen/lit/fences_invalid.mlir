// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file -verify-diagnostics
// The tensor unit writes shared memory that threads have used behind a twg.proxy_barrier. Other rules: protocol_invalid.mlir.

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#b = #twg.shared<contiguous = 1, swizzle = 0>
#s = #twg.shared<contiguous = 1, swizzle = 64>
module attributes {twg.barriers_complete} {
tt.func public @behind_no_fence(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %b = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %b : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %x = arith.constant dense<0.0> : tensor<64x32xf16, #l>
  %used = twg.local_alloc %x : tensor<64x32xf16, #l> {offset = 1024 : i32} -> !twg.memdesc<64x32xf16, #s>
  ttg.barrier local
  %read = twg.local_load %used : !twg.memdesc<64x32xf16, #s> -> tensor<64x32xf16, #l>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %m = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.barrier_expect %b, 4096 : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{copies what threads have used, and no twg.proxy_barrier stands in between}}
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
tt.func public @again_behind_no_fence(%d: !tt.tensordesc<64x32xf16> {twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64) {
  %b = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %b : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %c0 = arith.constant 0 : i32
  %m = twg.local_alloc {offset = 1024 : i32} -> !twg.memdesc<64x32xf16, #s>
  twg.barrier_expect %b, 4096 : !twg.memdesc<1x1xi64, #b>
  twg.tensor_load %d[%c0, %c0], %m, %b : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>, !twg.memdesc<1x1xi64, #b>
  %phase = twg.phase %c0
  twg.barrier_wait %b phase %phase : !twg.memdesc<1x1xi64, #b>
  %after = twg.next_phase %c0
  %y = twg.local_load %m : !twg.memdesc<64x32xf16, #s> -> tensor<64x32xf16, #l>
  ttg.barrier local
  twg.barrier_expect %b, 4096 : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{copies what threads have used, and no twg.proxy_barrier stands in between}}
  twg.tensor_load %d[%c0, %c0], %m, %b : !tt.tensordesc<64x32xf16>, !twg.memdesc<64x32xf16, #s>, !twg.memdesc<1x1xi64, #b>
  %again = twg.phase %after
  twg.barrier_wait %b phase %again : !twg.memdesc<1x1xi64, #b>
  %behind = twg.next_phase %after
  %z = twg.local_load %m : !twg.memdesc<64x32xf16, #s> -> tensor<64x32xf16, #l>
  tt.return
}
}
