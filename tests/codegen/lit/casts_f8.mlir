// RUN: tiletwin-translate %s --emit-ptx --arch=sm_75 --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,ARITHMETIC
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,ARITHMETIC
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_89 --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,PAIRS
// Floats of 8 bits: in pairs by cvt where there is one, by arithmetic of integers elsewhere.

// The largest finite numbers are 126 and 123.
// CHECK-LABEL: .entry narrow(
// ARITHMETIC-NOT: cvt.{{.*}}e4m3
// ARITHMETIC: add.f32 {{.*}}, 0f46800000;
// ARITHMETIC: min.u32 {{.*}}, 126;
// ARITHMETIC: add.f32 {{.*}}, 0f43000000;
// ARITHMETIC: min.u32 {{.*}}, 123;
// PAIRS: cvt.rn.satfinite.e4m3x2.f32
// PAIRS: cvt.rn.satfinite.e5m2x2.f32
tt.func public @narrow(%e: !tt.ptr<f8E4M3FN>, %f: !tt.ptr<f8E5M2>, %x: f32) {
  %0 = tt.fp_to_fp %x, rounding = rtne : f32 -> f8E4M3FN
  tt.store %e, %0 : !tt.ptr<f8E4M3FN>
  %1 = tt.fp_to_fp %x, rounding = rtne : f32 -> f8E5M2
  tt.store %f, %1 : !tt.ptr<f8E5M2>
  tt.return
}

// -----

// e5m2 is the upper half of an f16 everywhere.
// CHECK-LABEL: .entry widen(
// ARITHMETIC: mul.rn.f32 {{.*}}, 0f7B800000;
// ARITHMETIC: cvt.rn.f16.f32
// PAIRS: cvt.rn.f16x2.e4m3x2
// CHECK: shl.b16 {{.*}}, 8;
tt.func public @widen(%h: !tt.ptr<f16>, %x: !tt.ptr<f8E4M3FN>, %y: !tt.ptr<f8E5M2>) {
  %0 = tt.load %x : !tt.ptr<f8E4M3FN>
  %1 = tt.fp_to_fp %0 : f8E4M3FN -> f16
  tt.store %h, %1 : !tt.ptr<f16>
  %2 = tt.load %y : !tt.ptr<f8E5M2>
  %3 = tt.fp_to_fp %2 : f8E5M2 -> f16
  tt.store %h, %3 : !tt.ptr<f16>
  tt.return
}

// -----

// Neighbours of a thread fill a pair.
// CHECK-LABEL: .entry two(
// PAIRS: cvt.rn.satfinite.e4m3x2.f32 {{%rs[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}};
// PAIRS-NOT: satfinite
// CHECK: st.global.b16
tt.func public @two(%e: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %x: f32, %y: f32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %b = tt.splat %e : !tt.ptr<f8E4M3FN> -> tensor<64x!tt.ptr<f8E4M3FN>>
  %at = tt.addptr %b, %i : tensor<64x!tt.ptr<f8E4M3FN>>, tensor<64xi32>
  %f = arith.sitofp %i : tensor<64xi32> to tensor<64xf32>
  %0 = tt.fp_to_fp %f, rounding = rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  tt.store %at, %0 : tensor<64x!tt.ptr<f8E4M3FN>>
  tt.return
}

// -----

// No target has an instruction for this format; its only NaN is 128.
// CHECK-LABEL: .entry other_format(
// CHECK-NOT: satfinite
// CHECK: min.u32 {{.*}}, 127;
// CHECK: selp.b32 {{.*}}, 128,
tt.func public @other_format(%e: !tt.ptr<f8E4M3B11FNUZ>, %x: f32) {
  %0 = tt.fp_to_fp %x, rounding = rtne : f32 -> f8E4M3B11FNUZ
  tt.store %e, %0 : !tt.ptr<f8E4M3B11FNUZ>
  tt.return
}
