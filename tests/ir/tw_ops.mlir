// RUN: tiletwin-opt %s | tiletwin-opt | FileCheck %s

// Every operation of tw prints as it is read.
// CHECK-LABEL: tt.func public @all
tt.func public @all(%x: tensor<4xf32>, %d: f64) -> f32 attributes {noinline = false} {
  // CHECK: tw.div_rn %arg0, %arg0 : tensor<4xf32>
  %0 = tw.div_rn %x, %x : tensor<4xf32>
  // CHECK: tw.div_full %arg0, %arg0 : tensor<4xf32>
  %1 = tw.div_full %x, %x : tensor<4xf32>
  // CHECK: tw.div_approx %arg0, %arg0 : tensor<4xf32>
  %2 = tw.div_approx %x, %x : tensor<4xf32>
  // CHECK: tw.sqrt_rn %arg1 : f64
  %3 = tw.sqrt_rn %d : f64
  // CHECK: tw.sqrt_approx %arg0 : tensor<4xf32>
  %4 = tw.sqrt_approx %x : tensor<4xf32>
  // CHECK: tw.sqrt_approx %arg0 ftz : tensor<4xf32>
  %5 = tw.sqrt_approx %x ftz : tensor<4xf32>
  // CHECK: tw.rsqrt_approx %arg1 : f64
  %6 = tw.rsqrt_approx %d : f64
  // CHECK: tw.ex2_approx %arg0 ftz : tensor<4xf32>
  %7 = tw.ex2_approx %x ftz : tensor<4xf32>
  // CHECK: tw.trunc %arg0 : tensor<4xf32>
  %8 = tw.trunc %x : tensor<4xf32>
  // CHECK: tw.order = array<i32: 1, 0>
  %9 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tt.reduce.return %s : f32
  }) {tw.order = array<i32: 1, 0>} : (tensor<4xf32>) -> f32
  tt.return %9 : f32
}
