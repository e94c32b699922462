// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: tiletwin-translate %s --emit-ptx --num-warps=4 -split-input-file | FileCheck %s --check-prefix=FOUR
// tt.gather: a shuffle where a warp holds all that its indices can name, else shared memory. Indices are cut to the extent.

// CHECK-LABEL: .entry in_a_warp(
// ONE: ld.global.b32 [[X:%r[0-9]+]],
// ONE: ld.global.b32 [[N:%r[0-9]+]],
// ONE: and.b32 [[LANE:%r[0-9]+]], [[N]], 31;
// ONE: shfl.sync.idx.b32 {{%r[0-9]+}}, [[X]], [[LANE]], 31, -1;
// ONE-NOT: shfl
// ONE: ret;
tt.func public @in_a_warp(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %x = tt.load %a : tensor<32x!tt.ptr<f32>>
  %c = tt.splat %q : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %d = tt.addptr %c, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %n = tt.load %d : tensor<32x!tt.ptr<i32>>
  %y = tt.gather %x[%n] {axis = 0 : i32} : (tensor<32xf32>, tensor<32xi32>) -> tensor<32xf32>
  %e = tt.splat %o : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %f = tt.addptr %e, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %f, %y : tensor<32x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: .entry in_the_program(
// FOUR-LABEL: .entry in_the_program(
// FOUR-NOT: shfl
// FOUR: bar{{(rier)?}}.sync
// FOUR: st.shared.b32
// FOUR: bar{{(rier)?}}.sync
// FOUR: and.b32 {{%r[0-9]+}}, {{%r[0-9]+}}, 508;
// FOUR: ld.shared.b32
// FOUR: ret;
tt.func public @in_the_program(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %x = tt.load %a : tensor<128x!tt.ptr<f32>>
  %c = tt.splat %q : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %d = tt.addptr %c, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %n = tt.load %d : tensor<128x!tt.ptr<i32>>
  %y = tt.gather %x[%n] {axis = 0 : i32} : (tensor<128xf32>, tensor<128xi32>) -> tensor<128xf32>
  %e = tt.splat %o : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %f = tt.addptr %e, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %f, %y : tensor<128x!tt.ptr<f32>>
  tt.return
}
