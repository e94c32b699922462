// RUN: tiletwin-translate %s --emit-ptx --line-info=true | FileCheck %s
// RUN: tiletwin-translate %s --emit-ptx | FileCheck %s --check-prefix=WITHOUT
// Every instruction stands under the line of its operation; of an inlined call that is the helper's.

// CHECK-LABEL: .entry lines(
// CHECK: .loc [[KERNEL:[0-9]+]] 1 0
// CHECK: .loc [[KERNEL]] 3 7
// CHECK-NEXT: add.f32
// CHECK: .loc [[KERNEL]] 4 3
// CHECK: st.global.b32
// CHECK: .loc [[HELPERS:[0-9]+]] 11 5
// CHECK-NEXT: mul.rn.f32
// CHECK: .loc [[KERNEL]] 6 3
// CHECK: st.global.b32
// CHECK: .loc [[KERNEL]] 7 3
// CHECK-NEXT: ret;
// CHECK: .file [[KERNEL]] "kernel.py"
// CHECK: .file [[HELPERS]] "helpers.py"
// WITHOUT-NOT: .loc
// WITHOUT-NOT: .file
tt.func public @lines(%p: !tt.ptr<f32>, %x: f32) {
  %0 = arith.addf %x, %x : f32 loc("kernel.py":3:7)
  tt.store %p, %0 : !tt.ptr<f32> loc("kernel.py":4:3)
  %1 = arith.mulf %0, %x : f32 loc(callsite("helper"("helpers.py":11:5) at "kernel.py":5:9))
  tt.store %p, %1 : !tt.ptr<f32> loc("kernel.py":6:3)
  tt.return loc("kernel.py":7:3)
} loc("kernel.py":1:1)
