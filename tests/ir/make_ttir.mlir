// RUN: tiletwin-opt %s -tt-make-ttir | FileCheck %s
// RUN: tiletwin-opt %s -tt-inline-everything | FileCheck %s --check-prefix=ALL

// A call inside a reduction's region, and a callee that calls.
// CHECK-LABEL: tt.func public @nested
// CHECK: "tt.reduce"
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: tt.reduce.return %[[S]]
// CHECK-NOT: tt.call
tt.func public @nested(%p: !tt.ptr<f32>, %x: tensor<4xf32>) attributes {noinline = false} {
  %0 = tt.call @sum(%x) : (tensor<4xf32>) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}
tt.func private @sum(%x: tensor<4xf32>) -> f32 attributes {noinline = false} {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = tt.call @plus(%a, %b) : (f32, f32) -> f32
    tt.reduce.return %1 : f32
  }) : (tensor<4xf32>) -> f32
  tt.return %0 : f32
}
tt.func private @plus(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
  %0 = arith.addf %a, %b : f32
  tt.return %0 : f32
^bb1:  // no predecessors
  %1 = ub.poison : f32
  tt.return %1 : f32
}

// The callee returns early: its returns become branches.
// CHECK-LABEL: tt.func public @early
// CHECK: cf.cond_br
// CHECK: tt.store
// CHECK-NOT: tt.call
tt.func public @early(%p: !tt.ptr<f32>, %x: f32, %c: i1) attributes {noinline = false} {
  %0 = tt.call @pick(%p, %x, %c) : (!tt.ptr<f32>, f32, i1) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}
tt.func private @pick(%p: !tt.ptr<f32>, %x: f32, %c: i1) -> f32 attributes {noinline = false} {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return %x : f32
^bb2:
  tt.store %p, %x : !tt.ptr<f32>
  %0 = arith.mulf %x, %x : f32
  tt.return %0 : f32
}

// Where its blocks have no place, the call stays; where it must go, they get a region of their own.
// CHECK-LABEL: tt.func public @early_in_a_loop
// CHECK: scf.for
// CHECK: tt.call @pick
// ALL-LABEL: tt.func public @early_in_a_loop
// ALL: scf.for
// ALL: scf.execute_region -> f32
// ALL: cf.cond_br
// ALL: scf.yield
// ALL-NOT: tt.call
tt.func public @early_in_a_loop(%p: !tt.ptr<f32>, %x: f32, %c: i1, %n: i32) attributes {noinline = false} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (f32) : i32 {
    %1 = tt.call @pick(%p, %s, %c) : (!tt.ptr<f32>, f32, i1) -> f32
    scf.yield %1 : f32
  }
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func public @keeps_noinline
// CHECK: tt.call @outlined
// ALL-LABEL: tt.func public @keeps_noinline
// ALL-NOT: tt.call
tt.func public @keeps_noinline(%p: !tt.ptr<i32>, %x: i32) attributes {noinline = false} {
  %0 = tt.call @outlined(%x) : (i32) -> i32
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
}
// CHECK: tt.func private @outlined
// CHECK-NOT: tt.func private
// ALL-NOT: tt.func private
tt.func private @outlined(%x: i32) -> i32 attributes {noinline = true} {
  %0 = arith.muli %x, %x : i32
  tt.return %0 : i32
}
tt.func private @unused(%x: i32) -> i32 attributes {noinline = true} {
  tt.return %x : i32
}

// One load is not done twice, unless something was written between; equal pure operations are one.
// CHECK-LABEL: tt.func public @common
// CHECK-COUNT-2: tt.load
// CHECK-NOT: tt.load
// CHECK-LABEL: tt.func public @unreachable
tt.func public @common(%p: !tt.ptr<i32>) attributes {noinline = false} {
  %0 = tt.load %p : !tt.ptr<i32>
  %1 = tt.load %p : !tt.ptr<i32>
  %2 = arith.addi %0, %1 : i32
  tt.store %p, %2 : !tt.ptr<i32>
  %3 = tt.load %p : !tt.ptr<i32>
  tt.store %p, %3 : !tt.ptr<i32>
  tt.return
}

// CHECK-NEXT: tt.return
// CHECK-NOT: ^bb
tt.func public @unreachable(%p: !tt.ptr<i32>) attributes {noinline = false} {
  tt.return
^bb1:  // no predecessors
  %c = arith.constant 1 : i32
  tt.store %p, %c : !tt.ptr<i32>
  tt.return
}
