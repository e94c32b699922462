// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-warps=2 -split-input-file | FileCheck %s
// Tensor descriptors before sm_90: plain accesses, with predicates for what lies outside of the tensor.

// CHECK-LABEL: .entry blocks(
// CHECK: @[[INSIDE:%p[0-9]+]] ld.global.v4.b32
// CHECK: @[[INSIDE]] st.global.v4.b32
// CHECK-COUNT-4: @{{%p[0-9]+}} red.relaxed.gpu.global.add.f32
tt.func public @blocks(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %m: i32, %n: i32 {tt.divisibility = 16 : i32}, %i: i32, %j: i32 {tt.divisibility = 16 : i32}) {
  %one = arith.constant 1 : i64
  %s = arith.extsi %n : i32 to i64
  %a = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f32>, <8x32xf32>
  %b = tt.make_tensor_descriptor %q, [%m, %n], [%s, %one] : <f32>, <8x32xf32>
  %x = tt.descriptor_load %a[%i, %j] : !tt.tensordesc<8x32xf32> -> tensor<8x32xf32>
  tt.descriptor_store %b[%i, %j], %x : !tt.tensordesc<8x32xf32>, tensor<8x32xf32>
  tt.descriptor_reduce add, %b[%i, %j], %x : !tt.tensordesc<8x32xf32>, tensor<8x32xf32>
  tt.return
}

// -----

// Where the tensor may end inside of a vector its elements are accessed one by one, in a branch: of a vector that is cut
// the first is inside, the last is not.
// CHECK-LABEL: .entry cut(
// CHECK: @{{%p[0-9]+}} ld.global.v4.b32
// CHECK: bra
// CHECK: {{^[[:space:]]*}}ld.global.b32
// CHECK-COUNT-2: @{{%p[0-9]+}} ld.global.b32
// CHECK-NOT: ld.global.b32
// CHECK: {{^[[:space:]]*}}st.global.b32
// CHECK-COUNT-2: @{{%p[0-9]+}} st.global.b32
// CHECK-NOT: st.global.b32
// CHECK: bra
// CHECK: st.global.v4.b32
tt.func public @cut(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %m: i32, %n: i32, %i: i32, %j: i32 {tt.divisibility = 16 : i32}) {
  %one = arith.constant 1 : i64
  %s = arith.extsi %n : i32 to i64
  %a = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f32>, <8x32xf32>
  %b = tt.make_tensor_descriptor %q, [%m, %n], [%s, %one] : <f32>, <8x32xf32>
  %x = tt.descriptor_load %a[%i, %j] : !tt.tensordesc<8x32xf32> -> tensor<8x32xf32>
  tt.descriptor_store %b[%i, %j], %x : !tt.tensordesc<8x32xf32>, tensor<8x32xf32>
  tt.return
}

// -----

// CHECK-LABEL: .entry rows(
// CHECK: ld.global.b32
// CHECK: setp.lt.u32
// CHECK: @[[INSIDE:%p[0-9]+]] ld.global.v4.b32
// CHECK: @[[INSIDE]] st.global.v4.b32
tt.func public @rows(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %r: !tt.ptr<i32>, %m: i32, %n: i32 {tt.divisibility = 16 : i32}, %j: i32 {tt.divisibility = 16 : i32}) {
  %one = arith.constant 1 : i64
  %s = arith.extsi %n : i32 to i64
  %a = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f32>, <1x32xf32>
  %b = tt.make_tensor_descriptor %q, [%m, %n], [%s, %one] : <f32>, <1x32xf32>
  %k = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = tt.splat %r : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %d = tt.addptr %c, %k : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %rows = tt.load %d : tensor<8x!tt.ptr<i32>>
  %x = tt.descriptor_gather %a[%rows, %j] : (!tt.tensordesc<1x32xf32>, tensor<8xi32>, i32) -> tensor<8x32xf32>
  tt.descriptor_scatter %b[%rows, %j], %x : !tt.tensordesc<1x32xf32>, tensor<8xi32>, i32, tensor<8x32xf32>
  tt.return
}
