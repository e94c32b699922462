// RUN: tiletwin-opt %s -tt-numerics=capability=75 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: tiletwin-opt %s -tt-numerics=capability=80 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tiletwin-opt %s -tt-numerics=capability=90 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM90

// bf16 has instructions from sm_80 on, f16 everywhere, f8 nowhere.
// CHECK-LABEL: tt.func public @arithmetic
// SM75: %[[A:.*]] = arith.extf %arg0 : bf16 to f32
// SM75: %[[B:.*]] = arith.extf %arg1 : bf16 to f32
// SM75: %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// SM75: arith.truncf %[[S]] : f32 to bf16
// SM75: math.fma %{{.*}} : f32
// SM75: arith.truncf
// SM80: arith.addf %arg0, %arg1 : bf16
// SM80: math.fma %arg0, %arg1, %arg0 : bf16
// SM90: arith.addf %arg0, %arg1 : bf16
// SM90: math.fma %arg0, %arg1, %arg0 : bf16
// CHECK: arith.addf %arg2, %arg2 : f16
// CHECK: %[[E:.*]] = tt.fp_to_fp %arg3 : f8E4M3FN -> f32
// CHECK: %[[F:.*]] = tt.fp_to_fp %arg3 : f8E4M3FN -> f32
// CHECK: %[[P:.*]] = arith.mulf %[[E]], %[[F]] : f32
// CHECK: tt.fp_to_fp %[[P]], rounding = rtne : f32 -> f8E4M3FN
tt.func public @arithmetic(%a: bf16, %b: bf16, %h: f16, %f: f8E4M3FN) -> (bf16, bf16, f16, f8E4M3FN) attributes {noinline = false} {
  %0 = arith.addf %a, %b : bf16
  %1 = math.fma %a, %b, %a : bf16
  %2 = arith.addf %h, %h : f16
  %3 = arith.mulf %f, %f : f8E4M3FN
  tt.return %0, %1, %2, %3 : bf16, bf16, f16, f8E4M3FN
}

// -----

// Integers of 32 and more bits to bf16 are rounded once: before sm_90 by way of f64.
// CHECK-LABEL: tt.func public @integers
// SM80: %[[I:.*]] = arith.sitofp %arg0 : i32 to f64
// SM80: arith.truncf %[[I]] : f64 to bf16
// SM80: arith.constant 2047 : i64
// SM80: arith.constant 1024 : i64
// SM80: arith.constant 9007199254740992 : i64
// SM80: arith.constant 18014398509481984 : i64
// SM80: arith.cmpi ult
// SM80: %[[L:.*]] = arith.select
// SM80: %[[M:.*]] = arith.sitofp %[[L]] : i64 to f64
// SM80: arith.truncf %[[M]] : f64 to bf16
// SM80: arith.constant 4095 : i64
// SM80: arith.constant 2048 : i64
// SM80: arith.constant 9007199254740992 : i64
// SM80: arith.uitofp %{{.*}} : i64 to f64
// SM90: arith.sitofp %arg0 : i32 to bf16
// SM90: arith.sitofp %arg1 : i64 to bf16
// SM90: arith.uitofp %arg1 : i64 to bf16
// CHECK: arith.sitofp %arg2 : i16 to bf16
// CHECK: arith.sitofp %arg1 : i64 to f16
tt.func public @integers(%i: i32, %l: i64, %s: i16) -> (bf16, bf16, bf16, bf16, f16) attributes {noinline = false} {
  %0 = arith.sitofp %i : i32 to bf16
  %1 = arith.sitofp %l : i64 to bf16
  %2 = arith.uitofp %l : i64 to bf16
  %3 = arith.sitofp %s : i16 to bf16
  %4 = arith.sitofp %l : i64 to f16
  tt.return %0, %1, %2, %3, %4 : bf16, bf16, bf16, bf16, f16
}
