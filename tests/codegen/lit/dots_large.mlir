// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 | FileCheck %s
// Operands that registers cannot hold, of one tile both: it is written to shared memory once and read where the products
// need it, so one barrier is enough. Sums advance side by side: what a step reads is not needed behind it.
// CHECK-LABEL: .entry large(
// CHECK: st.shared.v4.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK-NOT: st.shared
// CHECK: ld.shared.v4.b32
// CHECK: fma.rn.f32 [[L0:%r[0-9]+]],
// CHECK-NOT: fma.rn.f32 {{.*}}, [[L0]];
// CHECK: fma.rn.f32
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: ret;
tt.func public @large(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ai = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ar = tt.reshape %ai : tensor<1024xi32> -> tensor<32x32xi32>
  %ab = tt.splat %a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %ap = tt.addptr %ab, %ar : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %x = tt.load %ap : tensor<32x32x!tt.ptr<f32>>
  %z = tt.dot %x, %x, %zero, inputPrecision = ieee : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %dp = tt.addptr %db, %ar : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %dp, %z : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
