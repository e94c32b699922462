// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a -split-input-file | FileCheck %s
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a -split-input-file | FileCheck %s --check-prefix=PTX
// Loops that ask for it (tt.warp_specialize) give their copies to warps of their own.

// The producer runs both loops with the numbers that the copies need: it waits until a slot is free, and fills it. The program
// waits until it is full. A product in flight is done with its slot in the next iteration, and behind the loop. Both loops carry
// the slot's number on, and each side the phases that it waits for. The store is waited for where its memory is written again.
// CHECK-LABEL: @blocks
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[FREE:.*]] = arith.constant -1 : i32
// CHECK-DAG: twg.barrier_init %[[FULL:.*]] : <3x1x1xi64
// CHECK-DAG: twg.barrier_init %[[EMPTY:.*]] arrivals 4 : <3x1x1xi64
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: twg.producer 4 registers [24, 104] {
// CHECK: scf.for {{.*}} iter_args(%[[TURN0:[a-z0-9_]+]] = %[[ZERO]], %[[WORD0:[a-z0-9_]+]] = %[[FREE]])
// CHECK: scf.for {{.*}} iter_args(%[[TURN:[a-z0-9_]+]] = %[[TURN0]], %[[WORD:[a-z0-9_]+]] = %[[WORD0]])
// CHECK: %[[SLOT:.*]] = twg.memdesc_index %[[EMPTY]][%[[TURN]]]
// CHECK: %[[PHASE:.*]] = twg.phase %[[WORD]][%[[TURN]]]
// CHECK: twg.barrier_wait %[[SLOT]] free phase %[[PHASE]]
// CHECK: %[[SLOT:.*]] = twg.memdesc_index %[[FULL]][%[[TURN]]]
// CHECK: twg.barrier_expect %[[SLOT]], 8192
// CHECK-COUNT-2: twg.tensor_load
// CHECK-NOT: warpgroup
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NOT: twg.tensor_load
// CHECK: scf.for {{.*}} iter_args(%[[TURN0:[a-z0-9_]+]] = %[[ZERO]], %[[WORD0:[a-z0-9_]+]] = %[[ZERO]])
// CHECK: scf.for {{.*}} %[[TURN:[a-z0-9_]+]] = %[[TURN0]], %[[WORD:[a-z0-9_]+]] = %[[WORD0]])
// CHECK: %[[SLOT:.*]] = twg.memdesc_index %[[FULL]][%[[TURN]]]
// CHECK: %[[PHASE:.*]] = twg.phase %[[WORD]][%[[TURN]]]
// CHECK: twg.barrier_wait %[[SLOT]] phase %[[PHASE]]
// CHECK: twg.warpgroup_dot {{.*}} in_flight
// CHECK: twg.warpgroup_wait 1
// CHECK-NOT: ttg.barrier
// CHECK: %[[LATER:.*]] = arith.cmpi ne
// CHECK: %[[LAST:.*]] = twg.memdesc_index %[[EMPTY]]
// CHECK: twg.barrier_arrive %[[LAST]] if %[[LATER]]
// CHECK: twg.warpgroup_wait 0
// CHECK: twg.barrier_arrive
// CHECK: twg.tensor_wait 0
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: twg.local_alloc
// CHECK-NEXT: twg.proxy_barrier
// CHECK-NEXT: twg.tensor_store
// CHECK-NEXT: twg.tensor_commit
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: twg.tensor_wait 0
// PTX-LABEL: .entry blocks(
// PTX: .reqntid 256
// PTX: .maxnreg 64
// PTX: bar.sync 0;
// PTX: shfl.sync.idx
// PTX: setmaxnreg.dec.sync.aligned.u32 24;
// PTX: elect.sync
// PTX: mbarrier.try_wait
// PTX-NOT: @{{%p[0-9]+}} mbarrier
// PTX: mbarrier.arrive.expect_tx
// PTX-NOT: @{{%p[0-9]+}} cp
// PTX: cp.async.bulk.tensor
// PTX: mbarrier
// PTX: setmaxnreg.inc.sync.aligned.u32 104;
// PTX-NOT: bar.sync 0
// PTX: bar.sync 1, 128;
// PTX: fence.proxy.async
// PTX: bar.sync 1, 128;
// PTX: wgmma.wait_group.sync.aligned 1
// PTX: bar.warp.sync -1;
// PTX: elect.sync
// PTX: @{{%p[0-9]+}} mbarrier.arrive.shared::cta.b64 _,
tt.func public @blocks(%a: !tt.tensordesc<64x32xf16>, %a0: i32, %a1: i32, %as0: i64, %as1: i64, %b: !tt.tensordesc<64x32xf16>, %b0: i32, %b1: i32, %bs0: i64, %bs1: i64, %c: !tt.tensordesc<64x64xf32>, %c0: i32, %c1: i32, %cs0: i64, %cs1: i64, %M: i32, %K: i32) {
  %zero = arith.constant 0 : i32
  %n32 = arith.constant 32 : i32
  %n64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %row = %zero to %M step %n64 : i32 {
    %sums = scf.for %k = %zero to %K step %n32 iter_args(%sum = %none) -> (tensor<64x64xf32>) : i32 {
      %x = tt.descriptor_load %a[%row, %k] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
      %y = tt.descriptor_load %b[%zero, %k] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
      %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
      %d = tt.dot %x, %t, %sum, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tt.descriptor_store %c[%row, %zero], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  } {tt.warp_specialize}
  tt.return
}

// -----

// Blocks that threads read: each warp arrives behind its reads, in the same iteration. A loop that stands in a branch begins
// with the first slot, and the producer takes the branch, too.
// CHECK-LABEL: @lines
// CHECK: twg.producer 4 registers [24, 104] {
// CHECK: scf.if
// CHECK: twg.barrier_wait {{.*}} free
// CHECK: twg.tensor_load
// CHECK: scf.if
// CHECK: twg.barrier_wait %[[SLOT:[a-z0-9_]+]] phase
// CHECK: %[[LOADED:.*]] = twg.local_load
// CHECK: twg.barrier_arrive %{{[a-z0-9_]+}} : <1x1xi64
// PTX-LABEL: .entry lines(
// PTX: mbarrier
tt.func public @lines(%a: !tt.tensordesc<64x64xf32>, %a0: i32, %a1: i32, %as0: i64, %as1: i64, %c: !tt.tensordesc<64x64xf32>, %c0: i32, %c1: i32, %cs0: i64, %cs1: i64, %M: i32, %take: i1) {
  %zero = arith.constant 0 : i32
  %n64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.if %take {
    %sums = scf.for %row = %zero to %M step %n64 iter_args(%sum = %none) -> (tensor<64x64xf32>) : i32 {
      %x = tt.descriptor_load %a[%row, %zero] : !tt.tensordesc<64x64xf32> -> tensor<64x64xf32>
      %d = arith.addf %x, %sum : tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } {tt.warp_specialize}
    tt.descriptor_store %c[%zero, %zero], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  }
  tt.return
}
