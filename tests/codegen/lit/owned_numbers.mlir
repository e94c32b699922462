// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a | FileCheck %s --check-prefix=TTGIR
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a | FileCheck %s
// A number of memory that the kernel writes: one thread loads it in front of the loop, the others are told behind the loop, where it is
// used, together with what is computed from it.

// TTGIR-LABEL: @late
// TTGIR: tt.load %{{.*}} {twg.shared_late}
// TTGIR-NOT: twg.share
// TTGIR: scf.for
// TTGIR: }
// TTGIR: twg.share %{{.*}} {twg.scratch = #twg.scratch<offset = 0, bytes = 4, barriers = 2>} : f32 -> f32
// TTGIR-NEXT: math.fma
// CHECK-LABEL: .entry late(
// CHECK: ld.global.b32
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: bra
// CHECK: bar{{(rier)?}}.sync
// CHECK: st.shared.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.b32
// CHECK: st.global
tt.func public @late(%x: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2.0 : f32
  %v = tt.load %x : !tt.ptr<f32>
  %w = arith.mulf %v, %two : f32
  %s = scf.for %i = %zero to %n step %one iter_args(%t = %two) -> (f32) : i32 {
    %u = arith.mulf %t, %two : f32
    scf.yield %u : f32
  }
  %r = arith.addf %s, %w : f32
  tt.store %x, %r : !tt.ptr<f32>
  tt.return
}
