// RUN: tiletwin-opt %s -split-input-file --twg-make-ttgir="arch=sm_80 num-warps=4" | FileCheck %s
// Reductions that a loop adds up: each thread its own elements in the loop, all threads once behind it.

// Four numbers of a row in a thread, a warp for each row: the loop carries 32 numbers a row, the neutral element first.
// CHECK-LABEL: @rows
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : tensor<16x32xf32,
// CHECK: %[[EACH:.*]] = scf.for {{.*}} iter_args(%[[MINE:.*]] = %[[NONE]]) -> (tensor<16x32xf32,
// CHECK: %[[APART:.*]] = tt.reshape {{.*}} -> tensor<16x4x32xf32,
// CHECK: %[[LAST:.*]] = tt.trans %[[APART]] {order = array<i32: 0, 2, 1>} : {{.*}} -> tensor<16x32x4xf32,
// CHECK: "tt.reduce"(%[[LAST]]) <{axis = 2 : i32}>
// CHECK: order = array<i32: 1, 0>
// CHECK: arith.addf %[[MINE]], {{.*}} : tensor<16x32xf32,
// CHECK: scf.yield
// CHECK: "tt.reduce"(%[[EACH]]) <{axis = 1 : i32}>
// CHECK: order = array<i32: 0, 1, 2, 3, 4>
// CHECK: arith.addf {{.*}} : tensor<16xf32,
tt.func public @rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>, %n: i32) {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = arith.constant dense<2.0> : tensor<16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %j = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %o = tt.reshape %j : tensor<2048xi32> -> tensor<16x128xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<16x128x!tt.ptr<f32>>
  %a = tt.addptr %b, %o : tensor<16x128x!tt.ptr<f32>>, tensor<16x128xi32>
  %s = scf.for %k = %none to %n step %one iter_args(%t = %first) -> (tensor<16xf32>) : i32 {
    %x = tt.load %a : tensor<16x128x!tt.ptr<f32>>
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %m: f32):
      %u = arith.addf %l, %m : f32
      tt.reduce.return %u : f32
    }) : (tensor<16x128xf32>) -> tensor<16xf32>
    %v = arith.addf %t, %r : tensor<16xf32>
    scf.yield %v : tensor<16xf32>
  }
  %c = tt.splat %q : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %d = tt.addptr %c, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %d, %s : tensor<16x!tt.ptr<f32>>
  tt.return
}
