// RUN: tiletwin-translate %s --emit-ptx --arch=sm_75 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80,FROM80
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a -split-input-file | FileCheck %s --check-prefixes=CHECK,SM90,FROM80
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --fp-fusion=false -split-input-file | FileCheck %s --check-prefixes=APART
// Floats: every instruction that rounds says how (lit.cfg.py looks for others), so that nothing behind may fuse or approximate.

// CHECK-LABEL: .entry f32(
// CHECK: add.f32
// CHECK: sub.f32
// CHECK: mul.rn.f32
// CHECK: fma.rn.f32
// CHECK: xor.b32 {{.*}}, -2147483648;
tt.func public @f32(%p: !tt.ptr<f32>, %a: f32, %b: f32, %c: f32) {
  %0 = arith.addf %a, %b : f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = arith.subf %a, %b : f32
  tt.store %p, %1 : !tt.ptr<f32>
  %2 = arith.mulf %a, %b : f32
  tt.store %p, %2 : !tt.ptr<f32>
  %3 = math.fma %a, %b, %c : f32
  tt.store %p, %3 : !tt.ptr<f32>
  %4 = arith.negf %a : f32
  tt.store %p, %4 : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK-LABEL: .entry f64(
// CHECK: add.rn.f64
// CHECK: sub.rn.f64
// CHECK: mul.rn.f64
// CHECK: fma.rn.f64
tt.func public @f64(%p: !tt.ptr<f64>, %a: f64, %b: f64, %c: f64) {
  %0 = arith.addf %a, %b : f64
  tt.store %p, %0 : !tt.ptr<f64>
  %1 = arith.subf %a, %b : f64
  tt.store %p, %1 : !tt.ptr<f64>
  %2 = arith.mulf %a, %b : f64
  tt.store %p, %2 : !tt.ptr<f64>
  %3 = math.fma %a, %b, %c : f64
  tt.store %p, %3 : !tt.ptr<f64>
  tt.return
}

// -----

// CHECK-LABEL: .entry f16(
// CHECK: add.rn.f16
// CHECK: sub.rn.f16
// CHECK: mul.rn.f16
// CHECK: fma.rn.f16
tt.func public @f16(%p: !tt.ptr<f16>, %a: f16, %b: f16, %c: f16) {
  %0 = arith.addf %a, %b : f16
  tt.store %p, %0 : !tt.ptr<f16>
  %1 = arith.subf %a, %b : f16
  tt.store %p, %1 : !tt.ptr<f16>
  %2 = arith.mulf %a, %b : f16
  tt.store %p, %2 : !tt.ptr<f16>
  %3 = math.fma %a, %b, %c : f16
  tt.store %p, %3 : !tt.ptr<f16>
  tt.return
}

// -----

// Before sm_80 in f32, rounded once more to the nearest even; on sm_80 by the only instruction that there is; later by their own.
// CHECK-LABEL: .entry bf16(
// SM75: shl.b32 {{.*}}, 16;
// SM75: add.f32 [[SUM:%r[0-9]+]]
// SM75: bfe.u32 [[ODD:%r[0-9]+]], [[SUM]], 16, 1;
// SM75: setp.nan.f32 {{.*}}, [[SUM]], [[SUM]];
// SM75: sub.f32
// SM75: mul.rn.f32
// SM75: fma.rn.f32
// SM80: mov.b16 [[ONE:%rs[0-9]+]], 0x3F80;
// SM80: fma.rn.bf16 {{.*}}, [[ONE]],
// SM80: mov.b16 [[MINUSONE:%rs[0-9]+]], 0xBF80;
// SM80: fma.rn.bf16 {{.*}}, [[MINUSONE]],
// SM80: mov.b16 [[MINUSZERO:%rs[0-9]+]], 0x8000;
// SM80: fma.rn.bf16 {{.*}}, [[MINUSZERO]];
// SM80: fma.rn.bf16
// SM90: add.rn.bf16
// SM90: sub.rn.bf16
// SM90: mul.rn.bf16
// SM90: fma.rn.bf16
tt.func public @bf16(%p: !tt.ptr<bf16>, %a: bf16, %b: bf16, %c: bf16) {
  %0 = arith.addf %a, %b : bf16
  tt.store %p, %0 : !tt.ptr<bf16>
  %1 = arith.subf %a, %b : bf16
  tt.store %p, %1 : !tt.ptr<bf16>
  %2 = arith.mulf %a, %b : bf16
  tt.store %p, %2 : !tt.ptr<bf16>
  %3 = math.fma %a, %b, %c : bf16
  tt.store %p, %3 : !tt.ptr<bf16>
  tt.return
}

// -----

// CHECK-LABEL: .entry contracted(
// CHECK-NOT: mul.
// CHECK: fma.rn.f32
// APART-LABEL: .entry contracted(
// APART: mul.rn.f32 [[PRODUCT:%r[0-9]+]],
// APART: add.f32 {{.*}}[[PRODUCT]]
tt.func public @contracted(%p: !tt.ptr<f32>, %a: f32, %b: f32, %c: f32) {
  %0 = arith.mulf %a, %b : f32
  %1 = arith.addf %0, %c : f32
  tt.store %p, %1 : !tt.ptr<f32>
  tt.return
}

// -----

// NaN is the result, or is not, as the operation says; sm_75 has no instruction for the former.
// CHECK-LABEL: .entry extremes(
// SM75: setp.nan.f32 [[NAN:%p[0-9]+]],
// SM75: max.f32
// SM75: selp.f32 {{.*}}, 0f7FC00000, {{.*}}, [[NAN]];
// FROM80: max.NaN.f32
// FROM80: min.NaN.f32
// FROM80: max.f32
// FROM80: min.f32
tt.func public @extremes(%p: !tt.ptr<f32>, %a: f32, %b: f32) {
  %0 = arith.maximumf %a, %b : f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = arith.minimumf %a, %b : f32
  tt.store %p, %1 : !tt.ptr<f32>
  %2 = arith.maxnumf %a, %b : f32
  tt.store %p, %2 : !tt.ptr<f32>
  %3 = arith.minnumf %a, %b : f32
  tt.store %p, %3 : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK-LABEL: .entry clamp(
// CHECK: max.f32 [[RAISED:%r[0-9]+]],
// CHECK: min.f32 {{.*}}, [[RAISED]],
// FROM80: max.NaN.f32 [[RAISED2:%r[0-9]+]],
// FROM80: min.NaN.f32 {{.*}}, [[RAISED2]],
tt.func public @clamp(%p: !tt.ptr<f32>, %x: f32, %low: f32, %high: f32) {
  %0 = tt.clampf %x, %low, %high, propagateNan = none : f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = tt.clampf %x, %low, %high, propagateNan = all : f32
  tt.store %p, %1 : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK-LABEL: .entry signs_and_wholes(
// CHECK: and.b32 {{.*}}, 2147483647;
// CHECK: cvt.rpi.f32.f32
// CHECK: cvt.rmi.f32.f32
tt.func public @signs_and_wholes(%p: !tt.ptr<f32>, %a: f32) {
  %0 = math.absf %a : f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = math.ceil %a : f32
  tt.store %p, %1 : !tt.ptr<f32>
  %2 = math.floor %a : f32
  tt.store %p, %2 : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK-LABEL: .entry comparisons(
// CHECK: setp.lt.f32
// CHECK: setp.neu.f32
// CHECK: setp.nan.f32
tt.func public @comparisons(%p: !tt.ptr<i1>, %a: f32, %b: f32) {
  %0 = arith.cmpf olt, %a, %b : f32
  tt.store %p, %0 : !tt.ptr<i1>
  %1 = arith.cmpf une, %a, %b : f32
  tt.store %p, %1 : !tt.ptr<i1>
  %2 = arith.cmpf uno, %a, %b : f32
  tt.store %p, %2 : !tt.ptr<i1>
  tt.return
}
