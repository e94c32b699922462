// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=2 | FileCheck %s
// RUN: tiletwin-translate %s --from=ttgir --emit-facts --arch=sm_90a --num-warps=2 | FileCheck %s --check-prefix=FACTS
// twg.async_copy: 16 bytes past the L1 cache, fewer through it; where the mask is off zeros are written; `if` is a predicate. A
// wait is for groups, and a barrier tells what other threads copied.

// CHECK-LABEL: .entry copies(
// CHECK: ld.param.b32 [[K:%r[0-9]+]], [copies_param_3];
// CHECK: setp.ne.b16 [[IF:%p[0-9]+]],
// CHECK: setp.lt.s32 [[MASK:%p[0-9]+]],
// CHECK: shl.b32 {{%r[0-9]+}}, [[K]], 10;
// CHECK: cp.async.cg.shared.global [[[AT:%r[0-9]+]]], [{{%rd[0-9]+}}], 16;
// CHECK: cp.async.commit_group;
// CHECK: selp.b32 [[BYTES:%r[0-9]+]], 8, 0, [[MASK]];
// CHECK: @[[IF]] cp.async.ca.shared.global [[[AT]]], [{{%rd[0-9]+}}], 8, [[BYTES]];
// CHECK: @[[IF]] cp.async.ca.shared.global
// CHECK: cp.async.commit_group;
// CHECK: cp.async.wait_group 1;
// CHECK-NEXT: end inline asm
// CHECK-NEXT: bar{{(rier)?}}.sync
// CHECK: ld.shared.v4.b32
// CHECK: cp.async.wait_group 0;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar{{(rier)?}}.sync
// FACTS: shared 3072
#in = #twg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0]], block = []}>
#flat = #twg.linear<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128]], block = []}>
#all = #twg.shared<contiguous = 2, swizzle = 128>
#one = #twg.shared<contiguous = 1, swizzle = 128>
tt.func public @copies(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %c: i1, %k: i32) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #flat>
  %r = tt.reshape %i : tensor<256xi32, #flat> -> tensor<8x32xi32, #in>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>, #in>
  %at = tt.addptr %b, %r : tensor<8x32x!tt.ptr<f32>, #in>, tensor<8x32xi32, #in>
  %l = tt.splat %n : i32 -> tensor<8x32xi32, #in>
  %mask = arith.cmpi slt, %r, %l : tensor<8x32xi32, #in>
  %all = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<3x8x32xf32, #all>
  %m = twg.memdesc_index %all[%k] : !twg.memdesc<3x8x32xf32, #all> -> !twg.memdesc<8x32xf32, #one>
  twg.async_copy %at, %m {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #in> -> !twg.memdesc<8x32xf32, #one>
  twg.async_commit
  twg.async_copy %at, %m mask %mask if %c {twg.vector = 2 : i32} : tensor<8x32x!tt.ptr<f32>, #in> -> !twg.memdesc<8x32xf32, #one>, tensor<8x32xi1, #in>
  twg.async_commit
  twg.async_wait 1
  %x = twg.local_load %m : !twg.memdesc<8x32xf32, #one> -> tensor<8x32xf32, #in>
  twg.async_wait 0 fenced
  tt.store %at, %x {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #in>
  tt.return
}
