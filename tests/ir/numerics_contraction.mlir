// RUN: tiletwin-opt %s -tt-numerics -split-input-file | FileCheck %s
// RUN: tiletwin-opt %s -tt-numerics=fp-fusion=false -split-input-file | FileCheck %s --check-prefix=APART

// The six signs of a product and a sum.
// CHECK-LABEL: tt.func public @signs
// CHECK-NEXT: %[[A:.*]] = math.fma %arg0, %arg1, %arg2 : f32
// CHECK-NEXT: %[[B:.*]] = math.fma %arg0, %arg1, %arg2 : f32
// CHECK-NEXT: %[[NZ:.*]] = arith.negf %arg2 : f32
// CHECK-NEXT: %[[C:.*]] = math.fma %arg0, %arg1, %[[NZ]] : f32
// CHECK-NEXT: %[[NX:.*]] = arith.negf %arg0 : f32
// CHECK-NEXT: %[[D:.*]] = math.fma %[[NX]], %arg1, %arg2 : f32
// CHECK-NEXT: %[[NX2:.*]] = arith.negf %arg0 : f32
// CHECK-NEXT: %[[E:.*]] = math.fma %[[NX2]], %arg1, %arg2 : f32
// CHECK-NEXT: %[[F:.*]] = math.fma %arg0, %arg1, %arg2 : f32
// CHECK-NEXT: tt.return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]]
// APART-LABEL: tt.func public @signs
// APART-NOT: fma
// APART: tt.return
tt.func public @signs(%x: f32, %y: f32, %z: f32) -> (f32, f32, f32, f32, f32, f32) attributes {noinline = false} {
  %xy = arith.mulf %x, %y : f32
  %0 = arith.addf %xy, %z : f32
  %1 = arith.addf %z, %xy : f32
  %2 = arith.subf %xy, %z : f32
  %3 = arith.subf %z, %xy : f32
  %n = arith.negf %xy : f32
  %4 = arith.addf %n, %z : f32
  %5 = arith.subf %z, %n : f32
  tt.return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}

// -----

// A product that is used otherwise stays; of two products the one with fewer uses is fused.
// CHECK-LABEL: tt.func public @two_products
// CHECK-NEXT: %[[XY:.*]] = arith.mulf %arg0, %arg1 : tensor<4xbf16>
// CHECK-NEXT: math.fma %arg0, %arg0, %[[XY]] : tensor<4xbf16>
// CHECK-NEXT: arith.addf %[[XY]], %[[XY]] : tensor<4xbf16>
// CHECK-NEXT: tt.return
tt.func public @two_products(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) attributes {noinline = false} {
  %xy = arith.mulf %x, %y : tensor<4xbf16>
  %xx = arith.mulf %x, %x : tensor<4xbf16>
  %0 = arith.addf %xy, %xx : tensor<4xbf16>
  %1 = arith.addf %xy, %xy : tensor<4xbf16>
  tt.return %0, %1 : tensor<4xbf16>, tensor<4xbf16>
}

// -----

// A value twice: fused in f32 and f64 if nothing else needs it, and never subtracted from itself.
// CHECK-LABEL: tt.func public @twice
// CHECK-NEXT: %[[A:.*]] = arith.mulf %arg0, %arg1 : f32
// CHECK-NEXT: math.fma %arg0, %arg1, %[[A]] : f32
// CHECK-NEXT: %[[B:.*]] = arith.mulf %arg0, %arg0 : f32
// CHECK-NEXT: arith.addf %[[B]], %[[B]] : f32
// CHECK-NEXT: %[[C:.*]] = arith.mulf %arg1, %arg1 : f32
// CHECK-NEXT: arith.subf %[[C]], %[[C]] : f32
// CHECK-NEXT: %[[H:.*]] = arith.mulf %arg2, %arg2 : f16
// CHECK-NEXT: arith.addf %[[H]], %[[H]] : f16
// CHECK-NEXT: tt.return
tt.func public @twice(%x: f32, %y: f32, %h: f16) -> (f32, f32, f32, f32, f16) attributes {noinline = false} {
  %a = arith.mulf %x, %y : f32
  %0 = arith.addf %a, %a : f32
  %b = arith.mulf %x, %x : f32
  %1 = arith.addf %b, %b : f32
  %c = arith.mulf %y, %y : f32
  %2 = arith.subf %c, %c : f32
  %hh = arith.mulf %h, %h : f16
  %3 = arith.addf %hh, %hh : f16
  tt.return %0, %1, %b, %2, %3 : f32, f32, f32, f32, f16
}

// -----

// A product before a negated product.
// CHECK-LABEL: tt.func public @negated
// CHECK-NEXT: %[[XY:.*]] = arith.mulf %arg0, %arg1 : f32
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[XY]] : f32
// CHECK-NEXT: %[[NX:.*]] = arith.negf %arg0 : f32
// CHECK-NEXT: math.fma %[[NX]], %arg0, %[[N]] : f32
tt.func public @negated(%x: f32, %y: f32) -> f32 attributes {noinline = false} {
  %xy = arith.mulf %x, %y : f32
  %n = arith.negf %xy : f32
  %xx = arith.mulf %x, %x : f32
  %0 = arith.subf %n, %xx : f32
  tt.return %0 : f32
}

// -----

// From the last sum to the first: when the first one is looked at, it is the only one left that uses x * y.
// CHECK-LABEL: tt.func public @last_sum_first
// CHECK-NEXT: %[[XX:.*]] = arith.mulf %arg0, %arg0 : f32
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[XX]] : f32
// CHECK-NEXT: math.fma %arg0, %arg1, %[[N]] : f32
// CHECK-NEXT: math.fma %arg0, %arg1, %arg1 : f32
// CHECK-NEXT: math.fma %arg0, %arg1, %arg2 : f32
tt.func public @last_sum_first(%x: f32, %y: f32, %z: f32) -> (f32, f32, f32, f32) attributes {noinline = false} {
  %xy = arith.mulf %x, %y : f32
  %xx = arith.mulf %x, %x : f32
  %0 = arith.subf %xy, %xx : f32
  %1 = arith.addf %xy, %y : f32
  %2 = arith.addf %xy, %z : f32
  tt.return %0, %1, %2, %xx : f32, f32, f32, f32
}

// -----

// Of products with as many uses the first is fused, and what is left is a product.
// CHECK-LABEL: tt.func public @equal_products
// CHECK-NEXT: %[[YY:.*]] = arith.mulf %arg1, %arg1 : f64
// CHECK-NEXT: math.fma %arg0, %arg0, %[[YY]] : f64
tt.func public @equal_products(%x: f64, %y: f64) -> f64 attributes {noinline = false} {
  %xx = arith.mulf %x, %x : f64
  %yy = arith.mulf %y, %y : f64
  %0 = arith.addf %xx, %yy : f64
  tt.return %0 : f64
}

// -----

// Not from another block, and not through a broadcast. A region of a reduction is a block like others.
// CHECK-LABEL: tt.func public @blocks
// CHECK: %[[P:.*]] = arith.mulf %arg0, %arg1 : f32
// CHECK: scf.if
// CHECK: arith.addf %[[P]], %arg0 : f32
// CHECK: %[[S:.*]] = tt.splat %[[P]]
// CHECK: arith.addf %[[S]], %arg3 : tensor<4xf32>
// CHECK: "tt.reduce"
// CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: tt.reduce.return
tt.func public @blocks(%x: f32, %y: f32, %c: i1, %t: tensor<4xf32>) -> (f32, tensor<4xf32>, f32) attributes {noinline = false} {
  %p = arith.mulf %x, %y : f32
  %0 = scf.if %c -> (f32) {
    %s = arith.addf %p, %x : f32
    scf.yield %s : f32
  } else {
    scf.yield %x : f32
  }
  %b = tt.splat %p : f32 -> tensor<4xf32>
  %1 = arith.addf %b, %t : tensor<4xf32>
  %2 = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %rr = arith.mulf %r, %r : f32
    %s = arith.addf %l, %rr : f32
    tt.reduce.return %s : f32
  }) : (tensor<4xf32>) -> f32
  tt.return %0, %1, %2 : f32, tensor<4xf32>, f32
}

// -----

// Fast-math flags of foreign text mean nothing. A quotient by a constant is a product too.
// CHECK-LABEL: tt.func public @flags
// CHECK: %[[M:.*]] = arith.mulf %arg0, %arg0 : f32
// CHECK: tt.splat
// CHECK: math.fma
// APART-LABEL: tt.func public @flags
// APART: arith.mulf %arg0, %arg0 : f32
// APART: arith.mulf
// APART: arith.addf
tt.func public @flags(%x: f32, %t: tensor<4xf32>) -> (f32, tensor<4xf32>) attributes {noinline = false} {
  %0 = arith.mulf %x, %x fastmath<fast> : f32
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %q = arith.divf %t, %three : tensor<4xf32>
  %1 = arith.addf %q, %t : tensor<4xf32>
  tt.return %0, %1 : f32, tensor<4xf32>
}
