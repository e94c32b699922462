// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 | FileCheck %s
// tt.histogram: counters in shared memory, cleared, added to, read, with a barrier before each.

// CHECK-LABEL: .entry counted(
// CHECK: bar{{(rier)?}}.sync
// CHECK-COUNT-2: st.shared.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: setp.lt.u32 [[INSIDE:%p[0-9]+]], {{%r[0-9]+}}, 64;
// CHECK: setp.lt.s32 [[MASK:%p[0-9]+]],
// CHECK: and.pred [[COUNTED:%p[0-9]+]], [[MASK]], [[INSIDE]];
// CHECK: @[[COUNTED]] red.shared.add.u32
// CHECK-COUNT-3: red.shared.add.u32
// CHECK: bar{{(rier)?}}.sync
// CHECK-COUNT-2: ld.shared.b32
tt.func public @counted(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %x = tt.load %a : tensor<128x!tt.ptr<i32>>
  %l = tt.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %l : tensor<128xi32>
  %h = tt.histogram %x, %m : tensor<128xi32> -> tensor<64xi32>
  %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %e = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %f = tt.addptr %e, %k : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %f, %h : tensor<64x!tt.ptr<i32>>
  tt.return
}
