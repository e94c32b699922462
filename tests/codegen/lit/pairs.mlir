// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=1 | FileCheck %s
// Two CTAs that copy a block for each other. Each sees the other one's barriers before it copies, tells it that the slot is free,
// and waits until it is told. The block has one box, which the CTA copies whose turn is 0.
// CHECK-LABEL: .entry right(
// CHECK: .explicitcluster
// CHECK-NEXT: .reqnctapercluster 2
// CHECK-COUNT-3: mbarrier.init
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: barrier.cluster.arrive.relaxed; barrier.cluster.wait;
// CHECK: mbarrier.try_wait
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r{{[0-9]+}}], 1024;
// CHECK: mov.u32 %[[RANK:r[0-9]+]], %cluster_ctarank;
// CHECK: xor.b32 %[[OTHER:r[0-9]+]], %[[RANK]], 1;
// CHECK: mapa.shared::cluster.u32 there, %[[READY:r[0-9]+]], %[[OTHER]]; mbarrier.arrive.shared::cta.b64 _, [%[[READY]]]; mbarrier.arrive.shared::cluster.b64 _, [there];
// CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [%[[READY]]]
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r{{[0-9]+}}], [%rd{{[0-9]+}}, {%r{{[0-9]+}}, %r{{[0-9]+}}}], [%r{{[0-9]+}}], 3;
// CHECK-NOT: cp.async.bulk
// CHECK: bra.uni

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
