// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 | FileCheck %s --implicit-check-not=mma.
// RUN: tiletwin-translate %s --emit-amdgcn --arch=gfx942 --num-warps=1 | FileCheck %s --check-prefix=AMD
// tt.dot without tensor cores (ieee): fused multiply-adds along K in ascending order, 8 sums of a thread
// from 4 products each, side by side.

// CHECK-LABEL: .entry f32(
// CHECK: fma.rn.f32 [[S0:%r[0-9]+]], {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+|0f00000000}};
// CHECK-COUNT-7: fma.rn.f32
// CHECK: fma.rn.f32 [[S1:%r[0-9]+]], {{%r[0-9]+}}, {{%r[0-9]+}}, [[S0]];
// CHECK-COUNT-7: fma.rn.f32
// CHECK: fma.rn.f32 [[S2:%r[0-9]+]], {{%r[0-9]+}}, {{%r[0-9]+}}, [[S1]];
// CHECK-COUNT-7: fma.rn.f32
// CHECK: fma.rn.f32 {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}, [[S2]];
// CHECK-COUNT-7: fma.rn.f32
// CHECK-NOT: fma.rn.f32
// CHECK: ret;
// AMD-LABEL: f32:
// AMD-COUNT-16: v_{{fma|fmac}}_f32
// AMD: s_endpgm
tt.func public @f32(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ai = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ar = tt.reshape %ai : tensor<64xi32> -> tensor<16x4xi32>
  %ab = tt.splat %a : !tt.ptr<f32> -> tensor<16x4x!tt.ptr<f32>>
  %ap = tt.addptr %ab, %ar : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
  %x = tt.load %ap : tensor<16x4x!tt.ptr<f32>>
  %bi = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %br = tt.reshape %bi : tensor<64xi32> -> tensor<4x16xi32>
  %bb = tt.splat %b : !tt.ptr<f32> -> tensor<4x16x!tt.ptr<f32>>
  %bp = tt.addptr %bb, %br : tensor<4x16x!tt.ptr<f32>>, tensor<4x16xi32>
  %y = tt.load %bp : tensor<4x16x!tt.ptr<f32>>
  %z = tt.dot %x, %y, %zero, inputPrecision = ieee : tensor<16x4xf32> * tensor<4x16xf32> -> tensor<16x16xf32>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
