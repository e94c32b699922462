// RUN: tiletwin-translate %s --emit-ptx --arch=sm_75 --num-warps=2 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-warps=2 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// tt.reduce: halves in registers, by shuffles between lanes, through shared memory between warps, in the order that ttgir states.

// CHECK-LABEL: .entry float_sum(
// CHECK: ld.global.v4.b32 {[[X0:%r[0-9]+]], [[X1:%r[0-9]+]], [[X2:%r[0-9]+]], [[X3:%r[0-9]+]]},
// CHECK: add.f32 [[X02:%r[0-9]+]], [[X0]], [[X2]];
// CHECK: add.f32 [[X13:%r[0-9]+]], [[X1]], [[X3]];
// CHECK: add.f32 [[S:%r[0-9]+]], [[X02]], [[X13]];
// CHECK: shfl.sync.bfly.b32 [[OTHER:%r[0-9]+]], [[S]], 1, 31, -1;
// CHECK: add.f32 [[S2:%r[0-9]+]], [[S]], [[OTHER]];
// CHECK: shfl.sync.bfly.b32 {{%r[0-9]+}}, [[S2]], 2, 31, -1;
// CHECK: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1;
// CHECK: shfl.sync.bfly.b32 {{.*}}, 8, 31, -1;
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: @{{%p[0-9]+}} st.shared.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.v2.b32 {[[LEFT:%r[0-9]+]], [[RIGHT:%r[0-9]+]]},
// CHECK: add.f32 {{%r[0-9]+}}, [[LEFT]], [[RIGHT]];
tt.func public @float_sum(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %x = tt.load %a : tensor<256x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<256xf32>) -> f32
  tt.store %o, %s : !tt.ptr<f32>
  tt.return
}

// -----

// From sm_80 on one instruction combines the integers of a warp.
// CHECK-LABEL: .entry integer_maximum(
// SM75-COUNT-5: shfl.sync.bfly.b32
// SM80-NOT: shfl
// SM80: redux.sync.max.s32
// CHECK: st.shared.b32
// CHECK: ld.shared.v2.b32
// CHECK: max.s32
tt.func public @integer_maximum(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %x = tt.load %a : tensor<64x!tt.ptr<i32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %t = arith.maxsi %l, %r : i32
    tt.reduce.return %t : i32
  }) : (tensor<64xi32>) -> i32
  tt.store %o, %s : !tt.ptr<i32>
  tt.return
}

// -----

// The element of the lower index is on the left in both lanes.
// CHECK-LABEL: .entry not_commutative(
// CHECK: ld.global.b32 [[MINE:%r[0-9]+]],
// CHECK: setp.{{eq|ne}}.b32 [[SIDE:%p[0-9]+]],
// CHECK: shfl.sync.bfly.b32 [[OTHER:%r[0-9]+]], [[MINE]], 1, 31, -1;
// CHECK-DAG: selp.b32 [[LEFT:%r[0-9]+]], [[MINE]], [[OTHER]], [[SIDE]];
// CHECK-DAG: selp.b32 [[RIGHT:%r[0-9]+]], [[OTHER]], [[MINE]], [[SIDE]];
// CHECK: sub.s32 {{%r[0-9]+}}, [[LEFT]], [[RIGHT]];
tt.func public @not_commutative(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<2x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
  %x = tt.load %a : tensor<2x!tt.ptr<i32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %t = arith.subi %l, %r : i32
    tt.reduce.return %t : i32
  }) : (tensor<2xi32>) -> i32
  tt.store %o, %s : !tt.ptr<i32>
  tt.return
}
