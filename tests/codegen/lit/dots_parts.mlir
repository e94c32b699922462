// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-warps=1 -split-input-file | FileCheck %s
// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_80 --num-warps=1 -split-input-file | FileCheck %s --check-prefix=TTGIR
// f32 dots as dots of parts: the smallest products first, NaN that they give dropped before the largest.

// CHECK-LABEL: .entry tf32x3(
// CHECK: cvt.rna.tf32.f32 [[HIGH:%r[0-9]+]], [[X:%r[0-9]+]];
// CHECK: sub.f32 {{%r[0-9]+}}, [[X]], [[HIGH]];
// CHECK-COUNT-8: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK: setp.{{(nan|num)}}.f32
// CHECK-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// TTGIR-LABEL: @tf32x3
// TTGIR: %[[AHIGH:.*]] = twg.round_to_tf32 %[[A:[^ ]+]]
// TTGIR: %[[ALOW:.*]] = arith.subf %[[A]], %[[AHIGH]]
// TTGIR: %[[BHIGH:.*]] = twg.round_to_tf32
// TTGIR: %[[BLOW:.*]] = arith.subf
// TTGIR: tt.dot
// TTGIR: tt.dot
// TTGIR: arith.cmpf uno
// TTGIR: arith.select
// TTGIR: tt.dot
tt.func public @tf32x3(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ai = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ar = tt.reshape %ai : tensor<256xi32> -> tensor<16x16xi32>
  %ab = tt.splat %a : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ap = tt.addptr %ab, %ar : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<f32>>
  %bi = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %br = tt.reshape %bi : tensor<256xi32> -> tensor<16x16xi32>
  %bb = tt.splat %b : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %bp = tt.addptr %bb, %br : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<f32>>
  %z = tt.dot %x, %y, %zero, inputPrecision = tf32x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: .entry bf16x3(
// CHECK: cvt.rn.bf16.f32
// CHECK: sub.f32
// CHECK-COUNT-4: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: setp.{{(nan|num)}}.f32
// CHECK-COUNT-2: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// TTGIR-LABEL: @bf16x3
// TTGIR-NOT: round_to_tf32
tt.func public @bf16x3(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ai = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ar = tt.reshape %ai : tensor<256xi32> -> tensor<16x16xi32>
  %ab = tt.splat %a : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ap = tt.addptr %ab, %ar : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<f32>>
  %bi = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %br = tt.reshape %bi : tensor<256xi32> -> tensor<16x16xi32>
  %bb = tt.splat %b : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %bp = tt.addptr %bb, %br : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<f32>>
  %z = tt.dot %x, %y, %zero, inputPrecision = bf16x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
