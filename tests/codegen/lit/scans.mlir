// RUN: tiletwin-translate %s --emit-ptx --num-warps=2 -split-input-file | FileCheck %s
// tt.scan: prefixes of the lanes by Kogge-Stone, of the warps through shared memory.

// Five steps, each from a lane twice as far; lanes that have none so far keep what they have.
// CHECK-LABEL: .entry one_warp(
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK-COUNT-5: shfl.sync.idx.b32
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: ret;
tt.func public @one_warp(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %x = tt.load %a : tensor<32x!tt.ptr<i32>>
  %c = tt.splat %o : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %d = tt.addptr %c, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%l: i32, %r: i32):
    %t = arith.addi %l, %r : i32
    tt.scan.return %t : i32
  }) : (tensor<32xi32>) -> tensor<32xi32>
  tt.store %d, %s : tensor<32x!tt.ptr<i32>>
  tt.return
}

// -----

// From the end: the lane beside is the next one, and the last warp comes first.
// CHECK-LABEL: .entry several_warps(
// CHECK: add.s32 [[NEXT:%r[0-9]+]], {{%r[0-9]+}}, 1;
// CHECK: shfl.sync.idx.b32 [[OTHER:%r[0-9]+]], [[X:%r[0-9]+]], [[NEXT]], 31, -1;
// CHECK: add.f32 [[SUM:%r[0-9]+]], [[X]], [[OTHER]];
// CHECK: selp.f32 {{%r[0-9]+}}, {{.*}}[[SUM]]
// CHECK-COUNT-4: shfl.sync.idx.b32
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: @{{%p[0-9]+}} st.shared.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.b32 [[BEFORE:%r[0-9]+]],
// CHECK: add.f32 [[WHOLE:%r[0-9]+]], {{.*}}[[BEFORE]];
// CHECK: selp.f32 {{%r[0-9]+}}, [[WHOLE]],
tt.func public @several_warps(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %x = tt.load %a : tensor<64x!tt.ptr<f32>>
  %c = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %d = tt.addptr %c, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.scan.return %t : f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  tt.store %d, %s : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Lanes hold several columns: totals of neighbouring columns stand side by side, where lanes meet in no bank, and one access
// moves those of a thread.
// CHECK-LABEL: .entry columns(
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: st.shared.v4.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK-NOT: ld.shared.b32
// CHECK: ld.shared.v4.b32
// CHECK-NOT: ld.shared.b32
// CHECK: ret;
tt.func public @columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %m = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %n = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c32 = arith.constant dense<32> : tensor<16x1xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ne = tt.expand_dims %n {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ms = arith.muli %me, %c32 : tensor<16x1xi32>
  %mb = tt.broadcast %ms : tensor<16x1xi32> -> tensor<16x32xi32>
  %nb = tt.broadcast %ne : tensor<1x32xi32> -> tensor<16x32xi32>
  %at = arith.addi %mb, %nb : tensor<16x32xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
  %a = tt.addptr %b, %at : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  %x = tt.load %a : tensor<16x32x!tt.ptr<f32>>
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.scan.return %t : f32
  }) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %c = tt.splat %o : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
  %d = tt.addptr %c, %at : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  tt.store %d, %s : tensor<16x32x!tt.ptr<f32>>
  tt.return
}
