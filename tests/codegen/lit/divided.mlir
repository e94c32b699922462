// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_100a --num-ctas=2 --copied-loads | FileCheck %s --check-prefix=TTGIR
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_100a --num-ctas=2 --copied-loads | FileCheck %s
// Two CTAs of a program: each has half of the rows of a product and half of the columns of the second matrix, and the first one
// begins the product for both. What does not depend on the product the first one stores: to the same memory, so they meet before.

// TTGIR-LABEL: @halves
// TTGIR-SAME: twg.divided
// TTGIR: %[[RANK:[a-z0-9_]+]] = twg.cta_rank
// TTGIR: arith.cmpi eq, %[[RANK]]
// TTGIR: twg.tmem_dot {{.*}} overwrites together {{.*}} : <128x64xf16, #{{[a-z0-9]+}}> * <64x32xf16, #{{[a-z0-9]+}}> -> <128x64xf32>
// TTGIR: tt.store {{.*}} : tensor<128x64x!tt.ptr<f32>
// TTGIR: twg.pair_meet
// TTGIR-NEXT: scf.if
// TTGIR: tt.store {{.*}} : tensor<64x!tt.ptr<f16>
// CHECK-LABEL: .entry halves(
// CHECK: .reqnctapercluster 2
// CHECK: barrier.cluster.arrive.relaxed; barrier.cluster.wait;
// CHECK: tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r{{[0-9]+}}], 64;
// CHECK: fence.proxy.async
// CHECK: tcgen05.fence::before_thread_sync;
// CHECK: barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
// CHECK: tcgen05.mma.cta_group::2.kind::f16
// CHECK-SAME: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r{{[0-9]+}}], both;
// CHECK: mbarrier.try_wait
// CHECK: tcgen05.ld
// CHECK: barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
// CHECK: bra
// CHECK: barrier.cluster.arrive.relaxed; barrier.cluster.wait;
// CHECK: tcgen05.dealloc.cta_group::2
tt.func public @halves(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %none = arith.constant dense<0.0> : tensor<256x64xf32>
  %wide = arith.constant dense<64> : tensor<256x1xi32>
  %short = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m = tt.expand_dims %i {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %mw = arith.muli %m, %wide : tensor<256x1xi32>
  %mb = tt.broadcast %mw : tensor<256x1xi32> -> tensor<256x64xi32>
  %n = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %nb = tt.broadcast %n : tensor<1x64xi32> -> tensor<256x64xi32>
  %ao = arith.addi %mb, %nb : tensor<256x64xi32>
  %k = tt.expand_dims %j {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %kw = arith.muli %k, %short : tensor<64x1xi32>
  %kb = tt.broadcast %kw : tensor<64x1xi32> -> tensor<64x64xi32>
  %nk = tt.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
  %bo = arith.addi %kb, %nk : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<256x64x!tt.ptr<f16>>
  %ap = tt.addptr %as, %ao : tensor<256x64x!tt.ptr<f16>>, tensor<256x64xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %bo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %ds = tt.splat %d : !tt.ptr<f32> -> tensor<256x64x!tt.ptr<f32>>
  %dp = tt.addptr %ds, %ao : tensor<256x64x!tt.ptr<f32>>, tensor<256x64xi32>
  %x = tt.load %ap : tensor<256x64x!tt.ptr<f16>>
  %y = tt.load %bp : tensor<64x64x!tt.ptr<f16>>
  %z = tt.dot %x, %y, %none : tensor<256x64xf16> * tensor<64x64xf16> -> tensor<256x64xf32>
  tt.store %dp, %z : tensor<256x64x!tt.ptr<f32>>
  %h = arith.constant dense<1.0> : tensor<64xf16>
  %e = tt.splat %d : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %f = tt.bitcast %e : tensor<64x!tt.ptr<f32>> -> tensor<64x!tt.ptr<f16>>
  %g = tt.addptr %f, %j : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  tt.store %g, %h : tensor<64x!tt.ptr<f16>>
  tt.return
}
