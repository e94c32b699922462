// RUN: tiletwin-opt %s -tt-add-checks=checks=undefined | FileCheck %s

// The store's mask lets lanes through that the load's mask left undefined.
// CHECK-LABEL: tt.func public @store
// CHECK: %[[X:.*]] = tt.load %{{.*}}, %[[MASK:.*]] :
// CHECK: %[[S:.*]] = arith.select %[[MASK]], %{{.*}}, %{{.*}} : tensor<8xi1>, tensor<8xi8>
// CHECK: tt.store
// CHECK-NEXT: tt.probe_lanes %[[S]], "undefined", "tt.store" {{.*}}origins = [{{.*}}id = 1 : i32{{.*}}operation = "tt.load"
tt.func public @store(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8x!tt.ptr<f32>>, %mask: tensor<8xi1>) attributes {noinline = false} {
  %x = tt.load %p, %mask : tensor<8x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<8xf32>
  tt.store %o, %y : tensor<8x!tt.ptr<f32>>
  tt.return
}

// With `other`, or no mask, there is nothing to follow.
// CHECK-LABEL: tt.func public @defined
// CHECK-NOT: tt.probe_lanes
// CHECK: tt.return
tt.func public @defined(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8x!tt.ptr<f32>>, %mask: tensor<8xi1>) attributes {noinline = false} {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %x = tt.load %p, %mask, %zero : tensor<8x!tt.ptr<f32>>
  %y = tt.load %p : tensor<8x!tt.ptr<f32>>
  %z = arith.addf %x, %y : tensor<8xf32>
  tt.store %o, %z : tensor<8x!tt.ptr<f32>>
  tt.return
}

// Stored where it was loaded: proved while compiling, also if the store's mask asks for more, or in another order.
// CHECK-LABEL: tt.func public @same_mask
// CHECK-NOT: tt.probe_lanes
// CHECK: tt.return
tt.func public @same_mask(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8x!tt.ptr<f32>>, %a: tensor<8xi1>, %b: tensor<8xi1>, %c: tensor<8xi1>) attributes {noinline = false} {
  %ab = arith.andi %a, %b : tensor<8xi1>
  %ca = arith.andi %c, %a : tensor<8xi1>
  %cab = arith.andi %ca, %b : tensor<8xi1>
  %x = tt.load %p, %ab : tensor<8x!tt.ptr<f32>>
  %y = tt.load %o, %a : tensor<8x!tt.ptr<f32>>
  %z = arith.addf %x, %y : tensor<8xf32>
  tt.store %o, %z, %ab : tensor<8x!tt.ptr<f32>>
  tt.store %o, %z, %cab : tensor<8x!tt.ptr<f32>>
  tt.return
}

// The loop hands the shadow on with its value.
// CHECK-LABEL: tt.func public @loop
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[IN:.*]] = %{{.*}}) -> (tensor<8xf32>, tensor<8xi8>)
// CHECK: arith.maxui
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xi8>
// CHECK: tt.probe_lanes
tt.func public @loop(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8x!tt.ptr<f32>>, %mask: tensor<8xi1>, %n: i32) attributes {noinline = false} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = arith.constant dense<0.0> : tensor<8xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (tensor<8xf32>)  : i32 {
    %x = tt.load %p, %mask : tensor<8x!tt.ptr<f32>>
    %next = arith.addf %acc, %x : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  tt.store %o, %sum : tensor<8x!tt.ptr<f32>>
  tt.return
}

// A sum is looked at where it is made, if its line is not undefined as a whole.
// CHECK-LABEL: tt.func public @sum
// CHECK: tt.probe_lanes %{{.*}}, "undefined", "tt.reduce"
// CHECK: tt.probe_lanes %{{.*}}, "undefined", "tt.store"
tt.func public @sum(%p: tensor<8x!tt.ptr<f32>>, %o: !tt.ptr<f32>, %mask: tensor<8xi1>) attributes {noinline = false} {
  %x = tt.load %p, %mask : tensor<8x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<8xf32>) -> f32
  tt.store %o, %s : !tt.ptr<f32>
  tt.return
}
