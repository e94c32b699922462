// RUN: tiletwin-translate %s --emit-ptx --num-warps=4 -split-input-file | FileCheck %s --check-prefix=PTX
// RUN: tiletwin-translate %s --emit-ttgir --num-warps=4 -split-input-file | FileCheck %s
// Weights that wait for a reduction wait as they were loaded.
// CHECK-LABEL: tt.func public @weighted
// CHECK: tt.load
// CHECK-NOT: arith.extf
// CHECK: %[[X:.*]] = tt.load
// CHECK: arith.extf %[[X]]
// CHECK-NOT: arith.extf
// CHECK: "tt.reduce"
// CHECK: arith.extf
// CHECK-NEXT: arith.mulf
// PTX-LABEL: .entry weighted(
// PTX-COUNT-8: cvt.f32.f16
// PTX-NOT: cvt.f32.f16
// PTX: bar{{(rier)?}}.sync
// PTX-COUNT-8: cvt.f32.f16
tt.func public @weighted(%w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %at = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %wp = tt.addptr %ws, %at : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %narrow = tt.load %wp : tensor<1024x!tt.ptr<f16>>
  %weights = arith.extf %narrow : tensor<1024xf16> to tensor<1024xf32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %at : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %row = tt.load %xp : tensor<1024x!tt.ptr<f16>>
  %wide = arith.extf %row : tensor<1024xf16> to tensor<1024xf32>
  %sum = "tt.reduce"(%wide) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<1024xf32>) -> f32
  %all = tt.splat %sum : f32 -> tensor<1024xf32>
  %y = arith.mulf %weights, %all : tensor<1024xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %op, %y : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// What a loop uses is made once, in front of it.
// CHECK-LABEL: tt.func public @looped
// CHECK: arith.extf
// CHECK: scf.for
// CHECK-NOT: arith.extf
// CHECK: tt.return
tt.func public @looped(%w: !tt.ptr<f16>, %o: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>
  %wp = tt.addptr %ws, %at : tensor<128x!tt.ptr<f16>>, tensor<128xi32>
  %narrow = tt.load %wp : tensor<128x!tt.ptr<f16>>
  %weights = arith.extf %narrow : tensor<128xf16> to tensor<128xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %weights) -> (tensor<128xf32>) : i32 {
    %s = arith.mulf %a, %weights : tensor<128xf32>
    scf.yield %s : tensor<128xf32>
  }
  tt.store %op, %r : tensor<128x!tt.ptr<f32>>
  tt.return
}
