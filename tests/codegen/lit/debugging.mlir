// RUN: tiletwin-translate %s --emit-llvm --num-warps=1 -split-input-file | FileCheck %s
// tt.print and tt.assert: calls of what the driver provides, by the owner of each element.

// CHECK-DAG: c"pid (%u, %u, %u) idx () a: %d\0A\00"
// CHECK-DAG: c"pid (%u, %u, %u) idx (%2u) i: 0x%08x\0A\00"
// CHECK-DAG: c"pid (%u, %u, %u) idx () 100%% %f\0A\00"
// CHECK-LABEL: @printed(
// CHECK: icmp eq i32 %{{.*}}, 0
// CHECK: br i1
// CHECK: call i32 @vprintf(
// CHECK: call i32 @vprintf(
// CHECK: call i32 @vprintf(
// CHECK: br i1
// CHECK: fpext float %{{.*}} to double
// CHECK: call i32 @vprintf(
tt.func public @printed(%a: i32, %x: f32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  tt.print " a: " {hex = false, isSigned = array<i32: 1>} : %a : i32
  tt.print " i: " {hex = true, isSigned = array<i32: 0>} : %i : tensor<64xi32>
  tt.print " 100% " {hex = false, isSigned = array<i32: 0>} : %x : f32
  tt.return
}

// -----

// CHECK-DAG: c"too large\00"
// CHECK-DAG: c"kernel.py\00"
// CHECK-DAG: c"asserted\00"
// CHECK-LABEL: @asserted(
// CHECK: br i1
// CHECK: call void @__assertfail(ptr {{.*}}, ptr {{.*}}, i32 7, ptr {{.*}}, i64 1)
tt.func public @asserted(%c: i1) {
  tt.assert %c, "too large" : i1 loc("kernel.py":7:3)
  tt.return
}
