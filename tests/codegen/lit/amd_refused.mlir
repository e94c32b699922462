// RUN: tiletwin-translate %s --emit-amdgcn --arch=gfx942 -split-input-file -verify-diagnostics
// What has no code for AMD GPUs is an error at its line.

tt.func public @ptx(%p: !tt.ptr<i32>, %a: i32) {
  // expected-error @below {{'tt.elementwise_inline_asm' op is not compiled for gfx942 yet}}
  %y = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a : i32 -> i32
  tt.store %p, %y : !tt.ptr<i32>
  tt.return
}

// -----

tt.func public @printed(%a: i32) {
  // expected-error @below {{'tt.print' op is not compiled for gfx942 yet}}
  tt.print " a: " {hex = false, isSigned = array<i32: 1>} : %a : i32
  tt.return
}

// -----

tt.func public @library(%p: !tt.ptr<f32>, %x: f32) {
  // expected-error @below {{calls `__nv_tanhf`, and for gfx942 there is no library of functions}}
  %0 = tt.extern_elementwise %x {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_tanhf"} : (f32) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// -----

tt.func public @prefetched(%p: !tt.ptr<i32>) {
  // expected-error @below {{'tt.prefetch' op is not compiled for gfx942 yet}}
  tt.prefetch %p : !tt.ptr<i32>
  tt.return
}

// -----

tt.func public @atomic(%p: !tt.ptr<i32>, %v: i32) {
  %true = arith.constant true
  // expected-error @below {{'tt.atomic_rmw' op is not compiled for gfx942 yet}}
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}
