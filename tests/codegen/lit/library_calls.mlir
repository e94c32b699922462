// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 | FileCheck %s --implicit-check-not=call
// tt.extern_elementwise: functions of libdevice, linked and inlined, with the fused products that are decided for them.

// CHECK-LABEL: .entry functions(
// CHECK: abs.ftz.f32
// CHECK: ex2.approx.ftz.f32
// CHECK: fma.rn.ftz.f32
// CHECK: sqrt.rn.f64
tt.func public @functions(%p: !tt.ptr<f32>, %q: !tt.ptr<f64>, %x: f32, %d: f64) {
  %0 = tt.extern_elementwise %x {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_fabsf"} : (f32) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = tt.extern_elementwise %x {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_tanhf"} : (f32) -> f32
  tt.store %p, %1 : !tt.ptr<f32>
  %2 = tt.extern_elementwise %d {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_sqrt"} : (f64) -> f64
  tt.store %q, %2 : !tt.ptr<f64>
  tt.return
}
