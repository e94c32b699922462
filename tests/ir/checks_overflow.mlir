// RUN: tiletwin-opt %s -tt-add-checks=checks=overflow | FileCheck %s

// Signed numbers, unless their range is known.
// CHECK-LABEL: tt.func public @product
// CHECK: %[[R:.*]] = arith.muli %{{.*}}, %{{.*}} {tt.signs = 3 : i32} : tensor<8xi32>
// CHECK: %[[WIDE:.*]] = arith.muli %{{.*}}, %{{.*}} : tensor<8xi64>
// CHECK: arith.cmpi ne, %[[WIDE]]
// CHECK: tt.probe_lanes %{{.*}}, "overflow", "tt.store" {{.*}}at_origin
tt.func public @product(%o: tensor<8x!tt.ptr<i32>>, %x: tensor<8xi32>) attributes {noinline = false} {
  %y = arith.muli %x, %x {tt.signs = 3 : i32} : tensor<8xi32>
  tt.store %o, %y : tensor<8x!tt.ptr<i32>>
  tt.return
}

// CHECK-LABEL: tt.func public @fits
// CHECK-NOT: tt.probe_lanes
// CHECK: tt.return
tt.func public @fits(%o: tensor<8x!tt.ptr<i32>>, %x: tensor<8xi32>) attributes {noinline = false} {
  %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = arith.constant dense<1000> : tensor<8xi32>
  %y = arith.muli %range, %c {tt.signs = 3 : i32} : tensor<8xi32>
  %hash = arith.muli %x, %c {tt.signs = 0 : i32} : tensor<8xi32>
  %z = arith.xori %y, %hash : tensor<8xi32>
  tt.store %o, %z : tensor<8x!tt.ptr<i32>>
  tt.return
}

// CHECK-LABEL: tt.func public @division
// CHECK: arith.divsi
// CHECK: arith.cmpi eq
// CHECK: tt.probe_lanes %{{.*}}, "overflow", "scf.if" {{.*}}at_origin
tt.func public @division(%o: !tt.ptr<i32>, %x: i32, %y: i32) attributes {noinline = false} {
  %zero = arith.constant 0 : i32
  %q = arith.divsi %x, %y : i32
  %c = arith.cmpi sgt, %q, %zero : i32
  scf.if %c {
    tt.store %o, %zero : !tt.ptr<i32>
  }
  tt.return
}
