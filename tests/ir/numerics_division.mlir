// RUN: tiletwin-opt %s -tt-numerics -split-input-file | FileCheck %s

// CHECK-LABEL: tt.func public @quotients
// CHECK: tw.div_full %arg0, %arg1 : tensor<8xf32>
// CHECK: tw.div_rn %arg2, %arg2 : f64
// CHECK: tw.div_rn %arg0, %arg1 : tensor<8xf32>
// CHECK: tw.div_approx %arg0, %arg1 : tensor<8xf32>
tt.func public @quotients(%x: tensor<8xf32>, %y: tensor<8xf32>, %d: f64) -> (tensor<8xf32>, f64, tensor<8xf32>, tensor<8xf32>) attributes {noinline = false} {
  %0 = arith.divf %x, %y : tensor<8xf32>
  %1 = arith.divf %d, %d : f64
  %2 = tt.precise_divf %x, %y : tensor<8xf32>
  %3 = tt.approx_divf %x, %y : tensor<8xf32>
  tt.return %0, %1, %2, %3 : tensor<8xf32>, f64, tensor<8xf32>, tensor<8xf32>
}

// -----

// By a constant: its reciprocal, which is exact for powers of two; of scalars too.
// CHECK-LABEL: tt.func public @by_constants
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[R:.*]] = tw.div_approx %[[ONE]], %[[THREE]] : f32
// CHECK: %[[S:.*]] = tt.splat %[[R]] : f32 -> tensor<8xf32>
// CHECK: arith.mulf %arg0, %[[S]] : tensor<8xf32>
// CHECK: %[[Q:.*]] = arith.constant dense<-2.500000e-01> : tensor<8xf32>
// CHECK: arith.mulf %arg0, %[[Q]] : tensor<8xf32>
// CHECK: %[[T:.*]] = tw.div_approx %{{.*}}, %{{.*}} : f32
// CHECK: arith.mulf %arg1, %[[T]] : f32
// CHECK: tw.div_rn %arg2
tt.func public @by_constants(%x: tensor<8xf32>, %s: f32, %d: f64) -> (tensor<8xf32>, tensor<8xf32>, f32, f64) attributes {noinline = false} {
  %three = arith.constant dense<3.0> : tensor<8xf32>
  %four = arith.constant dense<-4.0> : tensor<8xf32>
  %seven = arith.constant -7.0 : f32
  %eight = arith.constant 8.0 : f64
  %0 = arith.divf %x, %three : tensor<8xf32>
  %1 = arith.divf %x, %four : tensor<8xf32>
  %2 = arith.divf %s, %seven : f32
  %3 = arith.divf %d, %eight : f64
  tt.return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, f32, f64
}

// -----

// The limits: 2^126 has a reciprocal, the next number is beyond what div_approx can divide by; 2^-126 has one, the number
// before has none. Zero and infinity have none.
// CHECK-LABEL: tt.func public @limits
// CHECK: arith.mulf %arg0
// CHECK: tw.div_full %arg0
// CHECK: arith.mulf %arg0
// CHECK: tw.div_full %arg0
// CHECK: tw.div_full %arg0
// CHECK: tw.div_full %arg0
tt.func public @limits(%x: f32) -> (f32, f32, f32, f32, f32, f32) attributes {noinline = false} {
  %large = arith.constant 0x7E800000 : f32
  %larger = arith.constant 0x7E800001 : f32
  %small = arith.constant 0x00800000 : f32
  %smaller = arith.constant 0x007FFFFF : f32
  %zero = arith.constant 0.0 : f32
  %infinity = arith.constant 0x7F800000 : f32
  %0 = arith.divf %x, %large : f32
  %1 = arith.divf %x, %larger : f32
  %2 = arith.divf %x, %small : f32
  %3 = arith.divf %x, %smaller : f32
  %4 = arith.divf %x, %zero : f32
  %5 = arith.divf %x, %infinity : f32
  tt.return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}

// -----

// x % y is x - trunc(x / y) * y in one rounding, and x if y is infinite.
// CHECK-LABEL: tt.func public @remainder
// CHECK: %[[Q:.*]] = tw.div_rn %arg0, %arg1 : f32
// CHECK: %[[T:.*]] = tw.trunc %[[Q]] : f32
// CHECK: %[[N:.*]] = arith.negf %[[T]] : f32
// CHECK: %[[R:.*]] = math.fma %[[N]], %arg1, %arg0 : f32
// CHECK: %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK: %[[A:.*]] = math.absf %arg1 : f32
// CHECK: %[[C:.*]] = arith.cmpf oeq, %[[A]], %[[INF]] : f32
// CHECK: arith.select %[[C]], %arg0, %[[R]] : f32
tt.func public @remainder(%x: f32, %y: f32) -> f32 attributes {noinline = false} {
  %0 = arith.remf %x, %y : f32
  tt.return %0 : f32
}
