// RUN: tiletwin-translate %s --emit-ptx --arch=sm_75 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a -split-input-file | FileCheck %s --check-prefixes=CHECK,SM90
// Conversions of numbers of 16 bits and more.

// A bf16 is the upper half of an f32, for which sm_75 has no conversion.
// CHECK-LABEL: .entry widen(
// CHECK: cvt.f32.f16
// SM75: shl.b32 {{.*}}, 16;
// SM80: cvt.f32.bf16
// SM90: cvt.f32.bf16
// CHECK: cvt.f64.f32
tt.func public @widen(%p: !tt.ptr<f32>, %q: !tt.ptr<f64>, %h: f16, %b: bf16, %f: f32) {
  %0 = arith.extf %h : f16 to f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = arith.extf %b : bf16 to f32
  tt.store %p, %1 : !tt.ptr<f32>
  %2 = arith.extf %f : f32 to f64
  tt.store %q, %2 : !tt.ptr<f64>
  tt.return
}

// -----

// sm_75 rounds to bf16 by integer arithmetic: to the nearest even, and NaN stays one.
// CHECK-LABEL: .entry narrow(
// CHECK: cvt.rn.f16.f32
// SM75: bfe.u32 [[ODD:%r[0-9]+]], [[X:%r[0-9]+]], 16, 1;
// SM75: add.s32 [[SUM:%r[0-9]+]], [[ODD]], [[X]];
// SM75: add.s32 {{.*}}, [[SUM]], 32767;
// SM75: setp.nan.f32 {{.*}}, [[X]], [[X]];
// SM80: cvt.rn.bf16.f32
// SM90: cvt.rn.bf16.f32
// CHECK: cvt.rn.f32.f64
tt.func public @narrow(%h: !tt.ptr<f16>, %b: !tt.ptr<bf16>, %p: !tt.ptr<f32>, %f: f32, %d: f64) {
  %0 = arith.truncf %f : f32 to f16
  tt.store %h, %0 : !tt.ptr<f16>
  %1 = arith.truncf %f : f32 to bf16
  tt.store %b, %1 : !tt.ptr<bf16>
  %2 = arith.truncf %d : f64 to f32
  tt.store %p, %2 : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK-LABEL: .entry toward_zero(
// CHECK: cvt.rz.f16.f32
// CHECK: setp.nan.f32 [[NAN:%p[0-9]+]], [[X:%r[0-9]+]], [[X]];
// CHECK: selp.b16 {{.*}}, 32767, {{.*}}, [[NAN]];
tt.func public @toward_zero(%h: !tt.ptr<f16>, %b: !tt.ptr<bf16>, %f: f32) {
  %0 = tt.fp_to_fp %f, rounding = rtz : f32 -> f16
  tt.store %h, %0 : !tt.ptr<f16>
  %1 = tt.fp_to_fp %f, rounding = rtz : f32 -> bf16
  tt.store %b, %1 : !tt.ptr<bf16>
  tt.return
}

// -----

// Narrower than 16 bits: the low bits of what 16 bits give.
// CHECK-LABEL: .entry to_integers(
// CHECK: cvt.rzi.s32.f32
// CHECK: cvt.rzi.u64.f64
// CHECK: cvt.rzi.s16.f32
// CHECK: st.global.b8
tt.func public @to_integers(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %c: !tt.ptr<i8>, %f: f32, %d: f64) {
  %0 = arith.fptosi %f : f32 to i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.fptoui %d : f64 to i64
  tt.store %q, %1 : !tt.ptr<i64>
  %2 = arith.fptosi %f : f32 to i8
  tt.store %c, %2 : !tt.ptr<i8>
  tt.return
}

// -----

// CHECK-LABEL: .entry from_integers(
// CHECK: cvt.rn.f32.s32
// CHECK: cvt.rn.f32.u32
// CHECK: cvt.rn.f64.s64
tt.func public @from_integers(%p: !tt.ptr<f32>, %q: !tt.ptr<f64>, %a: i32, %b: i64) {
  %0 = arith.sitofp %a : i32 to f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = arith.uitofp %a : i32 to f32
  tt.store %p, %1 : !tt.ptr<f32>
  %2 = arith.sitofp %b : i64 to f64
  tt.store %q, %2 : !tt.ptr<f64>
  tt.return
}

// -----

// CHECK-LABEL: .entry integers(
// CHECK: cvt.s64.s32 [[SIGNED:%rd[0-9]+]], [[A:%r[0-9]+]];
// CHECK: st.global.b64 {{.*}}, [[SIGNED]];
// CHECK: cvt.u64.u32 [[UNSIGNED:%rd[0-9]+]], [[A]];
// CHECK: st.global.b64 {{.*}}, [[UNSIGNED]];
// CHECK: st.global.b16
tt.func public @integers(%p: !tt.ptr<i64>, %h: !tt.ptr<i16>, %a: i32, %b: i64) {
  %0 = arith.extsi %a : i32 to i64
  tt.store %p, %0 : !tt.ptr<i64>
  %1 = arith.extui %a : i32 to i64
  tt.store %p, %1 : !tt.ptr<i64>
  %2 = arith.trunci %b : i64 to i16
  tt.store %h, %2 : !tt.ptr<i16>
  %3 = arith.index_cast %a : i32 to index
  %4 = arith.index_cast %3 : index to i64
  tt.store %p, %4 : !tt.ptr<i64>
  tt.return
}

// -----

// No instruction changes anything.
// CHECK-LABEL: .entry same_bits(
// CHECK-NOT: cvt.{{r|f}}
// CHECK: st.global.b32 {{.*}}, [[F:%r[0-9]+]];
// CHECK: st.global.b32 {{.*}}, [[F]];
// CHECK: ret;
tt.func public @same_bits(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %o: !tt.ptr<!tt.ptr<f32>>, %f: f32, %a: i64) {
  %0 = arith.bitcast %f : f32 to i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = tt.bitcast %f : f32 -> i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = tt.ptr_to_int %p : !tt.ptr<i32> -> i64
  tt.store %q, %2 : !tt.ptr<i64>
  %3 = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  tt.store %o, %3 : !tt.ptr<!tt.ptr<f32>>
  tt.return
}
