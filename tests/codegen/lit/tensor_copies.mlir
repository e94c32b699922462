// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a -split-input-file | FileCheck %s --check-prefix=TTGIR
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a -split-input-file | FileCheck %s
// RUN: tiletwin-translate %s --emit-facts --arch=sm_90a -split-input-file | FileCheck %s --check-prefix=FACTS
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 -split-input-file | FileCheck %s --check-prefix=SM80
// Descriptors among the arguments from sm_90 on: tensor maps, through which blocks are copied to and from shared memory.

// One thread takes a branch, begins the copy and says how many bytes will come; all wait for the barrier's phase. Nobody has used shared
// memory before. What is stored lies there first, and the copies see it behind a fence.
// TTGIR-LABEL: @copied
// TTGIR-SAME: twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 64], swizzle = 128>
// TTGIR: twg.barrier_init %[[BARRIER:[a-z0-9_]+]]
// TTGIR-NEXT: ttg.barrier local
// TTGIR-NOT: twg.proxy_barrier
// TTGIR: twg.barrier_expect %[[BARRIER]]{{.*}}, 8192
// TTGIR: twg.tensor_load
// TTGIR: %[[PHASE:[a-z0-9_]+]] = twg.phase %c0_i32
// TTGIR: twg.barrier_wait %[[BARRIER]] phase %[[PHASE]]
// TTGIR: twg.local_load
// TTGIR: twg.proxy_barrier
// TTGIR: %[[ISSUER:[a-z0-9_]+]] = twg.tensor_store
// TTGIR-NEXT: twg.tensor_commit %[[ISSUER]]
// TTGIR-NEXT: twg.tensor_wait 0, %[[ISSUER]]
// TTGIR: %[[REDUCER:[a-z0-9_]+]] = twg.tensor_store {{.*}} reduce "add"
// TTGIR-NEXT: twg.tensor_commit %[[REDUCER]]
// TTGIR-NEXT: twg.tensor_wait 0, %[[REDUCER]]
// CHECK-LABEL: .entry copied(
// CHECK: mbarrier.init.shared::cta.b64 [{{%r[0-9]+}}], 1;
// CHECK: fence.proxy.async
// CHECK: elect.sync
// CHECK: @%p{{[0-9]+}} bra [[END:.*]];
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{%r[0-9]+}}], 8192;
// CHECK-NOT: elect.sync
// CHECK: {{^[[:space:]]}}cp.async.bulk.tensor.2d.shared::cluster.global{{(.tile)?}}.mbarrier::complete_tx::bytes
// CHECK: [[END]]:
// CHECK: mbarrier.try_wait
// CHECK: st.shared
// CHECK: fence.proxy.async
// CHECK: @{{%p[0-9]+}} cp.async.bulk.tensor.2d.global.shared::cta
// CHECK: cp.async.bulk.commit_group
// CHECK: cp.async.bulk.wait_group
// CHECK: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add
// CHECK: cp.async.bulk.wait_group
// FACTS: arguments tensormap<float16, 64x64, 128> i32 i32 i64 i64 tensormap
// SM80-LABEL: .entry copied(
// SM80-NOT: bulk
// SM80: ld.global
tt.func public @copied(%x: !tt.tensordesc<64x64xf16>, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64, %y: !tt.tensordesc<64x64xf16>, %y0: i32, %y1: i32, %ys0: i64, %ys1: i64) {
  %c0 = arith.constant 0 : i32
  %b = tt.descriptor_load %x[%c0, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
  %d = arith.addf %b, %b : tensor<64x64xf16>
  tt.descriptor_store %y[%c0, %c0], %d : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  tt.descriptor_reduce add, %y[%c0, %c0], %d : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  tt.return
}

// -----

// A dot reads a transposed block where it arrived, by a view of the same bytes.
// TTGIR-LABEL: @multiplied
// TTGIR: twg.tensor_load
// TTGIR: scf.for {{.*}} iter_args({{.*}}%[[CARRIED:[a-z0-9_]+]] = %{{[a-z0-9_]+}})
// TTGIR: %[[PHASE:[a-z0-9_]+]] = twg.phase %[[CARRIED]][%[[SLOT:[a-z0-9_]+]]]
// TTGIR: twg.barrier_wait %{{[a-z0-9_]+}} phase %[[PHASE]]
// TTGIR: %[[NEXT:[a-z0-9_]+]] = twg.next_phase %[[CARRIED]][%[[SLOT]]]
// TTGIR: twg.memdesc_view
// TTGIR: twg.warpgroup_dot
// CHECK-LABEL: .entry multiplied(
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK: mbarrier.try_wait
// CHECK: wgmma.mma_async
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta
// SM80-LABEL: .entry multiplied(
// SM80-NOT: bulk
// SM80: mma.sync
tt.func public @multiplied(%a: !tt.tensordesc<64x64xf16>, %a0: i32, %a1: i32, %as0: i64, %as1: i64, %b: !tt.tensordesc<64x64xf16>, %b0: i32, %b1: i32, %bs0: i64, %bs1: i64, %c: !tt.tensordesc<64x64xf32>, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %y = tt.descriptor_load %b[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %z = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %z : tensor<64x64xf32>
  }
  tt.descriptor_store %c[%c0, %c0], %r : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  tt.return
}

// -----

// A block of more dimensions lies there as rows by columns. A dot reads a reshape to just that where the block arrived.
// TTGIR-LABEL: @batched
// TTGIR: twg.tensor_load
// TTGIR-NOT: twg.local_load
// TTGIR: twg.warpgroup_dot
// SM80-LABEL: .entry batched(
tt.func public @batched(%a: !tt.tensordesc<1x64x64xf16>, %a0: i32, %a1: i32, %a2: i32, %as0: i64, %as1: i64, %as2: i64, %b: !tt.tensordesc<64x64xf16>, %b0: i32, %b1: i32, %bs0: i64, %bs1: i64, %c: !tt.tensordesc<64x64xf32>, %d0: i32, %d1: i32, %ds0: i64, %ds1: i64, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %a[%c0, %c0, %i] : !tt.tensordesc<1x64x64xf16> -> tensor<1x64x64xf16>
    %m = tt.reshape %x : tensor<1x64x64xf16> -> tensor<64x64xf16>
    %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %z = tt.dot %m, %y, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %z : tensor<64x64xf32>
  }
  tt.descriptor_store %c[%c0, %c0], %r : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  tt.return
}

// -----

// What a flag in memory, a volatile load, says is written copies must see: it was written by plain stores.
// TTGIR-LABEL: @behind_a_flag
// TTGIR: twg.proxy_barrier global
// CHECK-LABEL: .entry behind_a_flag(
// CHECK: ld.volatile.global
// CHECK: fence.proxy.async;
// CHECK: cp.async.bulk.tensor
// SM80-LABEL: .entry behind_a_flag(
tt.func public @behind_a_flag(%x: !tt.tensordesc<64x64xf16>, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64, %y: !tt.tensordesc<64x64xf16>, %y0: i32, %y1: i32, %ys0: i64, %ys1: i64, %flag: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  scf.while : () -> () {
    %f = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
    %waits = arith.cmpi eq, %f, %c0 : i32
    scf.condition(%waits)
  } do {
    scf.yield
  }
  %b = tt.descriptor_load %x[%c0, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
  tt.descriptor_store %y[%c0, %c0], %b : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  tt.return
}

// -----

// Nor is a copy begun in the iteration before the one that looks at the flag.
// TTGIR-LABEL: @flags_of_a_loop
// TTGIR-NOT: twg.tensor_load {{.*}} if
// TTGIR: scf.for
// CHECK-LABEL: .entry flags_of_a_loop(
// SM80-LABEL: .entry flags_of_a_loop(
tt.func public @flags_of_a_loop(%x: !tt.tensordesc<64x64xf16>, %x0: i32, %x1: i32, %xs0: i64, %xs1: i64, %y: !tt.tensordesc<64x64xf16>, %y0: i32, %y1: i32, %ys0: i64, %ys1: i64, %flag: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %none) -> (tensor<64x64xf16>) : i32 {
    scf.while : () -> () {
      %f = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
      %waits = arith.cmpi slt, %f, %i : i32
      scf.condition(%waits)
    } do {
      scf.yield
    }
    %b = tt.descriptor_load %x[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %t = arith.addf %s, %b : tensor<64x64xf16>
    scf.yield %t : tensor<64x64xf16>
  }
  tt.descriptor_store %y[%c0, %c0], %r : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  tt.return
}
