// RUN: tiletwin-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @constants_through_shapes
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<5> : tensor<4x8xi32>
// CHECK-NEXT: tt.return %[[C]]
tt.func @constants_through_shapes() -> tensor<4x8xi32> {
  %c = arith.constant 5 : i32
  %0 = tt.splat %c : i32 -> tensor<4xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %2 = tt.broadcast %1 : tensor<4x1xi32> -> tensor<4x8xi32>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  %4 = tt.reshape %3 : tensor<8x4xi32> -> tensor<4x8xi32>
  tt.return %4 : tensor<4x8xi32>
}

// CHECK-LABEL: @dense_reshape
// CHECK: dense<{{\[}}[1, 2], [3, 4]]> : tensor<2x2xi32>
tt.func @dense_reshape() -> tensor<2x2xi32> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = tt.reshape %c : tensor<4xi32> -> tensor<2x2xi32>
  tt.return %0 : tensor<2x2xi32>
}

// CHECK-LABEL: @dense_is_not_transposed
// CHECK: tt.trans
tt.func @dense_is_not_transposed() -> tensor<2x2xi32> {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = tt.trans %c {order = array<i32: 1, 0>} : tensor<2x2xi32> -> tensor<2x2xi32>
  tt.return %0 : tensor<2x2xi32>
}

// CHECK-LABEL: @splat_through_shapes
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NEXT: %[[S:.*]] = tt.splat %[[X]] : f32 -> tensor<8x4xf32>
// CHECK-NEXT: tt.return %[[S]]
tt.func @splat_through_shapes(%x: f32) -> tensor<8x4xf32> {
  %0 = tt.splat %x : f32 -> tensor<4xf32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  %2 = tt.broadcast %1 : tensor<4x1xf32> -> tensor<4x8xf32>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  tt.return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: @unsplat
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NEXT: tt.return %[[X]]
tt.func @unsplat(%x: f32) -> f32 {
  %0 = tt.splat %x : f32 -> tensor<1xf32>
  %1 = tt.unsplat %0 : tensor<1xf32>
  tt.return %1 : f32
}

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: tt.return %[[X]]
tt.func @identities(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tt.trans %x {order = array<i32: 0, 1>} : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tt.reshape %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = tt.broadcast %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = tt.bitcast %2 : tensor<4x8xf32> -> tensor<4x8xi32>
  %4 = tt.bitcast %3 : tensor<4x8xi32> -> tensor<4x8xf32>
  %5 = tt.trans %4 {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %6 = tt.trans %5 {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  %7 = tt.join %6, %6 : tensor<4x8xf32> -> tensor<4x8x2xf32>
  %8, %9 = tt.split %7 : tensor<4x8x2xf32> -> tensor<4x8xf32>
  tt.return %9 : tensor<4x8xf32>
}

// Dimension d of the result is dimension order[d] of the source, so orders compose inner[outer[d]].
// CHECK-LABEL: @transposes_compose
// CHECK: tt.trans %{{.*}} {order = array<i32: 0, 2, 1>} : tensor<2x4x8xf32> -> tensor<2x8x4xf32>
tt.func @transposes_compose(%x: tensor<2x4x8xf32>) -> tensor<2x8x4xf32> {
  %0 = tt.trans %x {order = array<i32: 2, 0, 1>} : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %1 = tt.trans %0 {order = array<i32: 1, 0, 2>} : tensor<8x2x4xf32> -> tensor<2x8x4xf32>
  tt.return %1 : tensor<2x8x4xf32>
}

// CHECK-LABEL: @reshapes_merge
// CHECK-NEXT: tt.reshape %{{.*}} : tensor<4x8xf32> -> tensor<2x16xf32>
// CHECK-NEXT: tt.return
tt.func @reshapes_merge(%x: tensor<4x8xf32>) -> tensor<2x16xf32> {
  %0 = tt.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tt.reshape %0 : tensor<32xf32> -> tensor<2x16xf32>
  tt.return %1 : tensor<2x16xf32>
}

// What was reordered freely must not be read in order by a merged reshape.
// CHECK-LABEL: @reordered_reshape_stays
// CHECK-COUNT-2: tt.reshape
tt.func @reordered_reshape_stays(%x: tensor<4x8xf32>) -> tensor<2x16xf32> {
  %0 = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tt.reshape %0 : tensor<32xf32> -> tensor<2x16xf32>
  tt.return %1 : tensor<2x16xf32>
}

// CHECK-LABEL: @pointers
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>)
// CHECK-NEXT: tt.return %[[P]]
tt.func @pointers(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %c = arith.constant 0 : i32
  %0 = tt.addptr %p, %c : !tt.ptr<f32>, i32
  %1 = tt.ptr_to_int %0 : !tt.ptr<f32> -> i64
  %2 = tt.int_to_ptr %1 : i64 -> !tt.ptr<f32>
  tt.return %2 : !tt.ptr<f32>
}

// CHECK-LABEL: @load_true_mask
// CHECK: tt.load %{{[^,]*}} : tensor<4x!tt.ptr<f32>>
tt.func @load_true_mask(%p: tensor<4x!tt.ptr<f32>>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %m = arith.constant dense<true> : tensor<4xi1>
  %0 = tt.load %p, %m, %o : tensor<4x!tt.ptr<f32>>
  tt.return %0 : tensor<4xf32>
}

// CHECK-LABEL: @load_false_mask
// CHECK-SAME: %[[O:[a-z0-9]+]]: tensor<4xf32>)
// CHECK-NEXT: tt.return %[[O]]
tt.func @load_false_mask(%p: tensor<4x!tt.ptr<f32>>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %m = arith.constant dense<false> : tensor<4xi1>
  %0 = tt.load %p, %m, %o : tensor<4x!tt.ptr<f32>>
  tt.return %0 : tensor<4xf32>
}

// CHECK-LABEL: @load_false_mask_no_other
// CHECK-NEXT: arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: tt.return
tt.func @load_false_mask_no_other(%p: tensor<4x!tt.ptr<f32>>) -> tensor<4xf32> {
  %m = arith.constant dense<false> : tensor<4xi1>
  %0 = tt.load %p, %m : tensor<4x!tt.ptr<f32>>
  tt.return %0 : tensor<4xf32>
}

// CHECK-LABEL: @volatile_load_stays
// CHECK: tt.load
tt.func @volatile_load_stays(%p: tensor<4x!tt.ptr<f32>>) {
  %m = arith.constant dense<false> : tensor<4xi1>
  %0 = tt.load %p, %m {isVolatile = true} : tensor<4x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @stores
// CHECK-NEXT: tt.store %{{[^,]*}}, %{{[^,]*}} : tensor<4x!tt.ptr<f32>>
// CHECK-NEXT: tt.return
tt.func @stores(%p: tensor<4x!tt.ptr<f32>>, %x: tensor<4xf32>) {
  %t = arith.constant dense<true> : tensor<4xi1>
  %f = arith.constant dense<false> : tensor<4xi1>
  tt.store %p, %x, %t : tensor<4x!tt.ptr<f32>>
  tt.store %p, %x, %f : tensor<4x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @asserts
// CHECK-NOT: "always"
// CHECK: tt.assert %{{.*}}, "sometimes"
tt.func @asserts(%x: tensor<4xi1>) {
  %t = arith.constant dense<true> : tensor<4xi1>
  tt.assert %t, "always" : tensor<4xi1>
  tt.assert %x, "sometimes" : tensor<4xi1>
  tt.return
}

// 0x80000000 * 6 = 0x3_00000000
// CHECK-LABEL: @mulhiui
// CHECK-NEXT: arith.constant 3 : i32
tt.func @mulhiui() -> i32 {
  %a = arith.constant -2147483648 : i32
  %b = arith.constant 6 : i32
  %0 = tt.mulhiui %a, %b : i32
  tt.return %0 : i32
}

// CHECK-LABEL: @float_bits
// CHECK: arith.constant dense<1065353216> : tensor<2xi32>
tt.func @float_bits() -> tensor<2xi32> {
  %a = arith.constant dense<1.0> : tensor<2xf32>
  %0 = tt.bitcast %a : tensor<2xf32> -> tensor<2xi32>
  tt.return %0 : tensor<2xi32>
}

// A conversion folds only if it is exact: 0.5 is an f8, 0.1, infinity and -0 in a format without it are not.
// CHECK-LABEL: @fp_to_fp_exact
// CHECK: arith.constant dense<5.000000e-01> : tensor<2xf8E4M3FN>
// CHECK-NOT: tt.fp_to_fp
tt.func @fp_to_fp_exact() -> tensor<2xf8E4M3FN> {
  %a = arith.constant dense<0.5> : tensor<2xf32>
  %0 = tt.fp_to_fp %a, rounding = rtne : tensor<2xf32> -> tensor<2xf8E4M3FN>
  tt.return %0 : tensor<2xf8E4M3FN>
}

// CHECK-LABEL: @fp_to_fp_rounded
// CHECK-COUNT-3: tt.fp_to_fp
tt.func @fp_to_fp_rounded() -> (tensor<2xf8E4M3FN>, f8E5M2, f8E4M3B11FNUZ) {
  %a = arith.constant dense<0.1> : tensor<2xf32>
  %b = arith.constant 0x7F800000 : f32
  %c = arith.constant -0.0 : f32
  %0 = tt.fp_to_fp %a, rounding = rtne : tensor<2xf32> -> tensor<2xf8E4M3FN>
  %1 = tt.fp_to_fp %b, rounding = rtne : f32 -> f8E5M2
  %2 = tt.fp_to_fp %c, rounding = rtne : f32 -> f8E4M3B11FNUZ
  tt.return %0, %1, %2 : tensor<2xf8E4M3FN>, f8E5M2, f8E4M3B11FNUZ
}
