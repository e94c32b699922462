// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a | FileCheck %s
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a --num-warps=2 | FileCheck %s --check-prefix=WARPS
// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a | FileCheck %s --check-prefix=TTGIR
// Dots by wgmma: operands in swizzled shared memory, which other threads' writes are fenced for.

// TTGIR-LABEL: @f16
// TTGIR: twg.local_alloc
// TTGIR: %[[SUM:[a-z0-9_]+]] = twg.warpgroup_fence
// TTGIR-NEXT: %[[BEGUN:[a-z0-9_]+]] = twg.warpgroup_dot {{.*}}, %[[SUM]] {instruction = "wgmma", order = array<i32: 0, 1, 2, 3, 4, 5>}
// TTGIR-NEXT: twg.warpgroup_commit
// TTGIR-NEXT: twg.warpgroup_wait 0, %[[BEGUN]]
// CHECK-LABEL: .entry f16(
// CHECK: st.shared.v4.b32
// CHECK: fence.proxy.async
// CHECK-NOT: st.shared
// CHECK: bar{{(rier)?}}.sync
// CHECK: wgmma.fence.sync.aligned;
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: st.global
// Fewer than four warps are no warpgroup.
// WARPS-LABEL: .entry f16(
// WARPS-NOT: wgmma
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
