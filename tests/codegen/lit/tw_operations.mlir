// RUN: tiletwin-translate %s --from=ttgir --emit-ptx -split-input-file | FileCheck %s
// Operations of tw: the PTX instruction that each names, and nothing else.

// CHECK-LABEL: .entry quotients(
// CHECK: div.approx.f32
// CHECK: div.full.f32
// CHECK: div.rn.f32
// CHECK: div.rn.f64
tt.func public @quotients(%p: !tt.ptr<f32>, %q: !tt.ptr<f64>, %a: f32, %b: f32, %c: f64, %d: f64) {
  %0 = tw.div_approx %a, %b : f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = tw.div_full %a, %b : f32
  tt.store %p, %1 : !tt.ptr<f32>
  %2 = tw.div_rn %a, %b : f32
  tt.store %p, %2 : !tt.ptr<f32>
  %3 = tw.div_rn %c, %d : f64
  tt.store %q, %3 : !tt.ptr<f64>
  tt.return
}

// -----

// CHECK-LABEL: .entry functions(
// CHECK: ex2.approx.f32
// CHECK: ex2.approx.ftz.f32
// CHECK: rsqrt.approx.f32
// CHECK: sqrt.approx.ftz.f32
// CHECK: sqrt.rn.f32
// CHECK: sqrt.rn.f64
// CHECK: cvt.rzi.f32.f32
// CHECK: cvt.rzi.f64.f64
tt.func public @functions(%p: !tt.ptr<f32>, %q: !tt.ptr<f64>, %a: f32, %c: f64) {
  %0 = tw.ex2_approx %a : f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = tw.ex2_approx %a ftz : f32
  tt.store %p, %1 : !tt.ptr<f32>
  %2 = tw.rsqrt_approx %a : f32
  tt.store %p, %2 : !tt.ptr<f32>
  %3 = tw.sqrt_approx %a ftz : f32
  tt.store %p, %3 : !tt.ptr<f32>
  %4 = tw.sqrt_rn %a : f32
  tt.store %p, %4 : !tt.ptr<f32>
  %5 = tw.sqrt_rn %c : f64
  tt.store %q, %5 : !tt.ptr<f64>
  %6 = tw.trunc %a : f32
  tt.store %p, %6 : !tt.ptr<f32>
  %7 = tw.trunc %c : f64
  tt.store %q, %7 : !tt.ptr<f64>
  tt.return
}
