// RUN: tiletwin-translate %s --emit-ptx --arch=sm_100a | FileCheck %s
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_100a --num-warps=2 | FileCheck %s --check-prefix=WARPS
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_100 | FileCheck %s --check-prefix=WARPS
// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_100a | FileCheck %s --check-prefix=TTGIR
// Dots by tcgen05: operands in swizzled shared memory, sums in tensor memory, one thread that begins products.

// TTGIR: #[[ROWS:layout[0-9]*]] = #twg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = {{\[\[}}16, 0], [32, 0]], block = []}>
// TTGIR-LABEL: @f16
// TTGIR: %[[BARRIER:[a-z0-9_]+]] = twg.local_alloc {offset = {{[0-9]+}} : i32} -> <1x1xi64
// TTGIR: %[[ALL:[a-z0-9_]+]] = twg.tmem_open 64
// TTGIR: %[[SUMS:[a-z0-9_]+]] = twg.tmem_alloc %[[ALL]] {column = 0 : i32} -> <64x64xf32>
// TTGIR: ttg.barrier local
// TTGIR-NEXT: twg.tmem_dot {{.*}}, %[[SUMS]], %[[BARRIER]] overwrites {instruction = "tcgen05", order = array<i32: 0, 1, 2, 3, 4, 5>}
// TTGIR: twg.barrier_wait %[[BARRIER]] phase
// TTGIR-NEXT: twg.tmem_load %[[SUMS]] : <64x64xf32> -> tensor<64x64xf32, #[[ROWS]]>
// TTGIR: ttg.barrier local
// TTGIR-NEXT: twg.tmem_close %[[ALL]]
// TTGIR-NEXT: tt.return
// CHECK-LABEL: .entry f16(
// CHECK: @%[[FIRST:p[0-9]+]] tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r{{[0-9]+}}], 64;
// CHECK: @%[[FIRST]] tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
// CHECK: bar{{(rier)?}}.sync
// CHECK: fence.proxy.async
// CHECK: bar{{(rier)?}}.sync
// CHECK: tcgen05.fence::after_thread_sync;
// CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [%[[D:r[0-9]+]]], %rd{{[0-9]+}}, %rd{{[0-9]+}}, %[[WHAT:r[0-9]+]], anew;
// CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [%[[D]]], %rd{{[0-9]+}}, %rd{{[0-9]+}}, %[[WHAT]], adds;
// CHECK-SAME: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
// CHECK: mbarrier.try_wait.parity
// CHECK: tcgen05.fence::after_thread_sync;
// CHECK: tcgen05.ld.sync.aligned.16x32bx2.x32.b32 {{.*}}, 32;
// CHECK: tcgen05.wait::ld.sync.aligned; tcgen05.fence::before_thread_sync;
// CHECK: st.global
// CHECK: bar{{(rier)?}}.sync
// CHECK: tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r{{[0-9]+}}, 64;
// Fewer than four warps reach half of the lanes; other architectures have no tensor memory.
// WARPS-LABEL: .entry f16(
// WARPS-NOT: tcgen05
// WARPS: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
tt.func public @f16(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ai = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %ar = tt.reshape %ai : tensor<4096xi32> -> tensor<64x64xi32>
  %ab = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ap = tt.addptr %ab, %ar : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %x = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
  %bi = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %br = tt.reshape %bi : tensor<4096xi32> -> tensor<64x64xi32>
  %bb = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bp = tt.addptr %bb, %br : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %y = tt.load %bp : tensor<64x64x!tt.ptr<f16>>
  %z = tt.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %di = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %dr = tt.reshape %di : tensor<4096xi32> -> tensor<64x64xi32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %dp = tt.addptr %db, %dr : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %dp, %z : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
