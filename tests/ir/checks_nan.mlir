// RUN: tiletwin-opt %s -tt-add-checks=checks=nan | FileCheck %s
// RUN: tiletwin-opt %s -tt-add-checks=checks=promises | FileCheck %s --check-prefix=PROMISE

// CHECK-LABEL: tt.func public @quotient
// CHECK: %[[Q:.*]] = arith.divf %[[X:.*]], %[[Y:.*]] : tensor<8xf32>
// CHECK: tt.born %[[Q]] from %[[X]], %[[Y]]
// CHECK: tt.probe_lanes %{{.*}}, "nan", "tt.store" {{.*}}at_origin
tt.func public @quotient(%o: tensor<8x!tt.ptr<f32>>, %x: tensor<8xf32>, %y: tensor<8xf32>) attributes {noinline = false} {
  %q = arith.divf %x, %y : tensor<8xf32>
  tt.store %o, %q : tensor<8x!tt.ptr<f32>>
  tt.return
}

// A product of matrices is looked at closely only if something in it is not finite.
// CHECK-LABEL: tt.func public @dot
// CHECK: %[[D:.*]] = tt.dot
// CHECK: tt.nonfinite %[[D]]
// CHECK: scf.if
// CHECK: arith.maximumf
// CHECK: tt.probe_lanes
tt.func public @dot(%o: tensor<16x16x!tt.ptr<f32>>, %a: tensor<16x16xf32>, %c: tensor<16x16xf32>) attributes {noinline = false} {
  %d = tt.dot %a, %a, %c : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.store %o, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// PROMISE-LABEL: tt.func public @promises
// PROMISE: arith.remsi
// PROMISE: tt.probe_lanes %{{.*}}, "promises", "argument"
// PROMISE: tt.probe_lanes %{{.*}}, "promises", "tt.multiple_of"
// PROMISE: tt.probe_lanes %{{.*}}, "promises", "tt.max_contiguous"
// PROMISE: tt.probe_lanes %{{.*}}, "promises", "tt.assume"
// PROMISE-NOT: tt.promise
tt.func public @promises(%n: i32 {tt.divisibility = 16 : i32}, %x: tensor<8xi32>, %c: i1) attributes {noinline = false} {
  tt.promise "multiple_of" [8], %n : i32
  tt.promise "max_contiguous" [4], %x : tensor<8xi32>
  llvm.intr.assume %c : i1
  tt.return
}
