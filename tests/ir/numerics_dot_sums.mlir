// RUN: tiletwin-opt %s -tt-numerics -split-input-file | FileCheck %s
// RUN: tiletwin-opt %s -tt-numerics=fp-fusion=false -split-input-file | FileCheck %s
// Products of matrices that are added to something, as Triton folds them.

// Either operand of a sum; a zero of either sign, or a splat of one; the flags of the sum do not matter.
// CHECK-LABEL: tt.func public @folded
// CHECK-NOT: dense
// CHECK: %[[A:.*]] = tt.dot %arg0, %arg1, %arg2, inputPrecision = tf32 :
// CHECK-NEXT: %[[B:.*]] = tt.dot %arg0, %arg1, %[[A]] :
// CHECK-NEXT: %[[C:.*]] = tt.dot %arg0, %arg1, %[[B]] :
// CHECK-NEXT: tt.return %[[C]]
tt.func public @folded(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {noinline = false} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %minus = arith.constant dense<-0.0> : tensor<16x16xf32>
  %number = arith.constant 0.0 : f32
  %splat = tt.splat %number : f32 -> tensor<16x16xf32>
  %x = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %0 = arith.addf %x, %d : tensor<16x16xf32>
  %y = tt.dot %a, %b, %minus : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %0, %y : tensor<16x16xf32>
  %z = tt.dot %a, %b, %splat : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %2 = arith.addf %z, %1 fastmath<fast> : tensor<16x16xf32>
  tt.return %2 : tensor<16x16xf32>
}

// -----

// Behind what it is added to; of two products the one on the right.
// CHECK-LABEL: tt.func public @order
// CHECK-NEXT: %[[N:.*]] = arith.negf %arg2
// CHECK-NEXT: %[[A:.*]] = tt.dot %arg0, %arg1, %[[N]] :
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant
// CHECK-NEXT: %[[Y:.*]] = tt.dot %arg0, %arg1, %[[ZERO]] :
// CHECK-NEXT: %[[B:.*]] = tt.dot %arg1, %arg0, %[[Y]] :
// CHECK-NEXT: tt.return %[[A]], %[[B]]
tt.func public @order(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) attributes {noinline = false} {
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %x = tt.dot %a, %b, %none : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %n = arith.negf %d : tensor<16x16xf32>
  %0 = arith.addf %n, %x : tensor<16x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %y = tt.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %z = tt.dot %b, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %y, %z : tensor<16x16xf32>
  tt.return %0, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// Every type of result: f16, f64, and i32, for which imprecise sums mean nothing.
// CHECK-LABEL: tt.func public @types
// CHECK-NEXT: %[[H:.*]] = tt.dot %arg0, %arg0, %arg1 :
// CHECK-NEXT: %[[D:.*]] = tt.dot %arg2, %arg2, %arg2 :
// CHECK-NEXT: %[[I:.*]] = tt.dot %arg3, %arg3, %arg4 {maxNumImpreciseAcc = 32 : i32} :
// CHECK-NEXT: tt.return %[[H]], %[[D]], %[[I]]
tt.func public @types(%h: tensor<16x16xf16>, %hs: tensor<16x16xf16>, %d: tensor<16x16xf64>, %i: tensor<32x32xi8>, %is: tensor<32x32xi32>) -> (tensor<16x16xf16>, tensor<16x16xf64>, tensor<32x32xi32>) attributes {noinline = false} {
  %h0 = arith.constant dense<0.0> : tensor<16x16xf16>
  %d0 = arith.constant dense<0.0> : tensor<16x16xf64>
  %i0 = arith.constant dense<0> : tensor<32x32xi32>
  %x = tt.dot %h, %h, %h0 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
  %0 = arith.addf %x, %hs : tensor<16x16xf16>
  %y = tt.dot %d, %d, %d0 : tensor<16x16xf64> * tensor<16x16xf64> -> tensor<16x16xf64>
  %1 = arith.addf %d, %y : tensor<16x16xf64>
  %z = tt.dot %i, %i, %i0 {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xi8> * tensor<32x32xi8> -> tensor<32x32xi32>
  %2 = arith.addi %is, %z : tensor<32x32xi32>
  tt.return %0, %1, %2 : tensor<16x16xf16>, tensor<16x16xf64>, tensor<32x32xi32>
}

// -----

// CHECK-LABEL: tt.func public @scaled
// CHECK-NEXT: %[[A:.*]] = tt.dot_scaled %arg0 scale %arg2, %arg1, %arg3 lhs = e4m3 rhs = bf16
// CHECK-NEXT: tt.return %[[A]]
tt.func public @scaled(%a: tensor<16x32xi8>, %b: tensor<32x16xbf16>, %s: tensor<16x1xi8>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {noinline = false} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %x = tt.dot_scaled %a scale %s, %b, %zero lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xbf16> -> tensor<16x16xf32>
  %0 = arith.addf %d, %x : tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// -----

// A product that is added is contracted with no other product: what it is added to is rounded first.
// CHECK-LABEL: tt.func public @before_contraction
// CHECK-NEXT: %[[D:.*]] = arith.mulf %arg2, %arg2
// CHECK-NEXT: %[[A:.*]] = tt.dot %arg0, %arg1, %[[D]] :
// CHECK-NEXT: tt.return %[[A]]
tt.func public @before_contraction(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {noinline = false} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %dd = arith.mulf %d, %d : tensor<16x16xf32>
  %x = tt.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %0 = arith.addf %dd, %x : tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// -----

// What stays: imprecise sums of floats, products with another use or an accumulator, differences, sums behind a cast, a
// product twice.
// CHECK-LABEL: tt.func public @kept
// CHECK-COUNT-2: arith.addf
// CHECK: arith.subf
// CHECK: arith.addf
// CHECK: arith.extf
// CHECK-COUNT-2: arith.addf
// CHECK-NOT: arith.addf
// CHECK: tt.return
tt.func public @kept(%a: tensor<32x32xf8E5M2>, %h: tensor<32x32xf16>, %d: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) attributes {noinline = false} {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %narrow = arith.constant dense<0.0> : tensor<32x32xf16>
  %imprecise = tt.dot %a, %a, %zero {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf8E5M2> * tensor<32x32xf8E5M2> -> tensor<32x32xf32>
  %0 = arith.addf %d, %imprecise : tensor<32x32xf32>
  %used = tt.dot %h, %h, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %1 = arith.addf %d, %used : tensor<32x32xf32>
  %less = tt.dot %h, %h, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %2 = arith.subf %less, %d : tensor<32x32xf32>
  %more = tt.dot %h, %h, %d : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %3 = arith.addf %more, %d : tensor<32x32xf32>
  %half = tt.dot %h, %h, %narrow : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf16>
  %wide = arith.extf %half : tensor<32x32xf16> to tensor<32x32xf32>
  %4 = arith.addf %wide, %d : tensor<32x32xf32>
  %twice = tt.dot %h, %h, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %5 = arith.addf %twice, %twice : tensor<32x32xf32>
  tt.return %0, %1, %used, %2, %3, %4, %5 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// A product of before the loop is not computed in it.
// CHECK-LABEL: tt.func public @loop
// CHECK: tt.dot
// CHECK: scf.for
// CHECK-NEXT: arith.addf
// CHECK-NEXT: scf.yield
tt.func public @loop(%a: tensor<16x16xf16>, %d: tensor<16x16xf32>, %n: i32) -> tensor<16x16xf32> attributes {noinline = false} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %first = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %x = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %r = scf.for %i = %first to %n step %step iter_args(%acc = %d) -> (tensor<16x16xf32>) : i32 {
    %0 = arith.addf %acc, %x : tensor<16x16xf32>
    scf.yield %0 : tensor<16x16xf32>
  }
  tt.return %r : tensor<16x16xf32>
}
