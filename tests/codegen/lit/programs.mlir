// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-warps=8 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a --num-warps=8 --maxnreg=96 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: tiletwin-translate %s --emit-facts -split-input-file | FileCheck %s --check-prefix=FACTS
// Where a program is in the grid, what it waits for, and what a launch passes to it.

// CHECK: .target [[ARCH:sm_80|sm_90a]]
// CHECK: .visible .entry places(
// CHECK: .reqntid 256
// SM80-NOT: .maxnreg
// SM90: .maxnreg 96
// CHECK: mov.u32 {{.*}}, %ctaid.x;
// CHECK: mov.u32 {{.*}}, %ctaid.z;
// CHECK: mov.u32 {{.*}}, %nctaid.y;
// CHECK: ret;
// FACTS: kernel places
// FACTS-NEXT: arguments ptr{{$}}
// FACTS-NEXT: shared 0
// FACTS-NEXT: scratch 0
// FACTS-NEXT: warps 4
tt.func public @places(%p: !tt.ptr<i32>) {
  %0 = tt.get_program_id x : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = tt.get_program_id z : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = tt.get_num_programs y : i32
  tt.store %p, %2 : !tt.ptr<i32>
  tt.return
}

// -----

// Before sm_90 no grid begins before the one in front of it has ended.
// CHECK-LABEL: .entry waits(
// CHECK: bar{{(rier)?}}.sync
// SM80-NOT: griddepcontrol
// SM90: griddepcontrol.wait;
// SM90: griddepcontrol.launch_dependents;
// CHECK: ret;
tt.func public @waits() {
  ttg.barrier all
  tt.grid_dependency_wait
  tt.grid_dependency_launch_dependents
  tt.return
}

// -----

// Pointers know their address space and alignment; an i1 is a byte.
// CHECK-LABEL: .entry arguments(
// CHECK: .param .u64 .ptr .global .align 16 arguments_param_0,
// CHECK: .param .u64 .ptr .global .align 1 arguments_param_1,
// CHECK: .param .{{[bu]}}8 arguments_param_2,
// CHECK: .param .{{[bu]}}8 arguments_param_3,
// CHECK: .param .align 2 .b8 arguments_param_4[2],
// CHECK: .param .align 2 .b8 arguments_param_5[2],
// CHECK: .param .{{[bf]}}32 arguments_param_6,
// CHECK: .param .{{[bu]}}64 arguments_param_7,
// CHECK: .param .{{[bf]}}64 arguments_param_8
// FACTS: kernel arguments
// FACTS-NEXT: arguments ptr ptr i1 i8 f16 bf16 f32 i64 f64{{$}}
tt.func public @arguments(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i8>, %a: i1, %b: i8, %c: f16, %d: bf16, %e: f32, %f: i64, %g: f64) {
  tt.store %q, %b : !tt.ptr<i8>
  tt.return
}
