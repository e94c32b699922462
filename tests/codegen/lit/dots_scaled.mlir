// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-warps=1 | FileCheck %s
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a --num-warps=1 | FileCheck %s
// tt.dot_scaled: codes of 4 bits become bf16 by integer operations, are multiplied by their group's power of two, and then as
// bf16. A scale of 0 is 2^-127, one of 255 a NaN.

// CHECK-LABEL: .entry mxfp4(
// CHECK: max.u16 [[POWER:%rs[0-9]+]], {{%rs[0-9]+}}, 64;
// CHECK: selp.b16 {{%rs[0-9]+}}, 32704, [[POWER]],
// CHECK: {{mul|fma}}.rn.bf16
// CHECK-COUNT-4: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: ret;
tt.func public @mxfp4(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ai = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ar = tt.reshape %ai : tensor<256xi32> -> tensor<16x16xi32>
  %ab = tt.splat %a : !tt.ptr<i8> -> tensor<16x16x!tt.ptr<i8>>
  %ap = tt.addptr %ab, %ar : tensor<16x16x!tt.ptr<i8>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<i8>>
  %si = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %sr = tt.reshape %si : tensor<16xi32> -> tensor<16x1xi32>
  %sb = tt.splat %s : !tt.ptr<i8> -> tensor<16x1x!tt.ptr<i8>>
  %sp = tt.addptr %sb, %sr : tensor<16x1x!tt.ptr<i8>>, tensor<16x1xi32>
  %e = tt.load %sp : tensor<16x1x!tt.ptr<i8>>
  %bi = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %br = tt.reshape %bi : tensor<512xi32> -> tensor<32x16xi32>
  %bb = tt.splat %b : !tt.ptr<bf16> -> tensor<32x16x!tt.ptr<bf16>>
  %bp = tt.addptr %bb, %br : tensor<32x16x!tt.ptr<bf16>>, tensor<32x16xi32>
  %y = tt.load %bp : tensor<32x16x!tt.ptr<bf16>>
  %z = tt.dot_scaled %x scale %e, %y, %zero lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x16xi8>, tensor<16x1xi8> * tensor<32x16xbf16> -> tensor<16x16xf32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %dp = tt.addptr %db, %ar : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
