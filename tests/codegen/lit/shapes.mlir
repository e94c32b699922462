// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 -split-input-file | FileCheck %s --implicit-check-not=shfl --implicit-check-not=shared
// Operations that rename elements: layouts follow them, so nothing moves between threads and hardly an instruction is emitted.

// A range is arithmetic of the thread's number, made in the layout in which it is stored.
// CHECK-LABEL: .entry renamed(
// CHECK: mov.u32 [[THREAD:%r[0-9]+]], %tid.x;
// CHECK: shr.u32 {{%r[0-9]+}}, [[THREAD]], 1;
// CHECK: add.s32 [[FIRST:%r[0-9]+]], [[SUM:%r[0-9]+]], 16;
// CHECK: add.s32 [[SECOND:%r[0-9]+]], [[SUM]], 48;
// CHECK: st.global.v2.b32 {{.*}}, {[[FIRST]], [[SECOND]]};
tt.func public @renamed(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j = tt.make_range {end = 80 : i32, start = 16 : i32} : tensor<64xi32>
  %s = arith.addi %i, %j : tensor<64xi32>
  %r = tt.reshape %s : tensor<64xi32> -> tensor<4x16xi32>
  %t = tt.trans %r {order = array<i32: 1, 0>} : tensor<4x16xi32> -> tensor<16x4xi32>
  %e = tt.expand_dims %t {axis = 1 : i32} : tensor<16x4xi32> -> tensor<16x1x4xi32>
  %f = tt.reshape %e : tensor<16x1x4xi32> -> tensor<64xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %a, %f : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// CHECK-LABEL: .entry repeated(
// CHECK: ld.global.b32 [[X:%r[0-9]+]],
// CHECK: st.global.b32 {{.*}}, [[X]];
// CHECK: st.global.b32 {{.*}}, [[X]];
// CHECK: st.global.b32 {{.*}}, [[X]];
// CHECK: st.global.b32 {{.*}}, [[X]];
tt.func public @repeated(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %x = tt.load %a : tensor<32x!tt.ptr<i32>>
  %e = tt.expand_dims %x {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %w = tt.broadcast %e : tensor<1x32xi32> -> tensor<4x32xi32>
  %f = tt.reshape %w : tensor<4x32xi32> -> tensor<128xi32>
  %k = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %c = tt.splat %q : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %d = tt.addptr %c, %k : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  tt.store %d, %f : tensor<128x!tt.ptr<i32>>
  tt.return
}

// -----

// CHECK-LABEL: .entry halves(
// CHECK: ld.global.b32 [[X:%r[0-9]+]], [[[P:%rd[0-9]+]]];
// CHECK: ld.global.b32 [[Y:%r[0-9]+]], [[[Q:%rd[0-9]+]]];
// CHECK: st.global.b32 [[[P]]], [[Y]];
// CHECK: st.global.b32 [[[Q]]], [[X]];
tt.func public @halves(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %x = tt.load %a : tensor<32x!tt.ptr<i32>>
  %c = tt.splat %q : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %d = tt.addptr %c, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %y = tt.load %d : tensor<32x!tt.ptr<i32>>
  %j = tt.join %x, %y : tensor<32xi32> -> tensor<32x2xi32>
  %l, %r = tt.split %j : tensor<32x2xi32> -> tensor<32xi32>
  tt.store %a, %r : tensor<32x!tt.ptr<i32>>
  tt.store %d, %l : tensor<32x!tt.ptr<i32>>
  tt.return
}

// -----

// CHECK-LABEL: .entry one_behind_the_other(
// CHECK: ld.global.b32 [[X:%r[0-9]+]],
// CHECK: shl.b32 [[Y:%r[0-9]+]], [[X]], 1;
// CHECK: st.global.b32 {{.*}}, [[X]];
// CHECK: st.global.b32 {{.*}}, [[Y]];
tt.func public @one_behind_the_other(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %x = tt.load %a : tensor<32x!tt.ptr<i32>>
  %y = arith.addi %x, %x : tensor<32xi32>
  %z = tt.cat %x, %y : tensor<32xi32> -> tensor<64xi32>
  %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %d = tt.addptr %c, %k : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %d, %z : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// CHECK-LABEL: .entry one_element(
// CHECK: ld.global.b32 [[X:%r[0-9]+]],
// CHECK: @{{%p[0-9]+}} st.global.b32 {{.*}}, [[X]];
tt.func public @one_element(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<1x!tt.ptr<i32>>
  %x = tt.load %b : tensor<1x!tt.ptr<i32>>
  %s = tt.unsplat %x : tensor<1xi32>
  tt.store %q, %s : !tt.ptr<i32>
  tt.return
}
