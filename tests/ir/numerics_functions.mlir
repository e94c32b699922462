// RUN: tiletwin-opt %s -tt-numerics=capability=90 -split-input-file | FileCheck %s
// RUN: tiletwin-opt %s -tt-numerics=flush-denormals=false -split-input-file | FileCheck %s --check-prefix=DENORMAL

// Functions of f32. What Triton's PTX has: mul and ex2.approx; ex2.approx.ftz; sqrt.approx.ftz; rsqrt.approx.ftz; libdevice.
// CHECK-LABEL: tt.func public @functions_f32
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<1.44269502> : tensor<8xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %arg0, %[[LOG2E]] : tensor<8xf32>
// CHECK: tw.ex2_approx %[[SCALED]] : tensor<8xf32>
// CHECK: tw.ex2_approx %arg0 ftz : tensor<8xf32>
// CHECK: tw.sqrt_approx %arg0 ftz : tensor<8xf32>
// CHECK: tw.rsqrt_approx %arg0 ftz : tensor<8xf32>
// CHECK: tt.extern_elementwise %arg0 {libname = "", libpath = "", pure = true, symbol = "__nv_logf"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: symbol = "__nv_log2f"
// CHECK: symbol = "__nv_sinf"
// CHECK: symbol = "__nv_cosf"
// CHECK: symbol = "__nv_erff"
// CHECK: tw.sqrt_rn %arg0 : tensor<8xf32>
// CHECK: math.floor %arg0
// DENORMAL-LABEL: tt.func public @functions_f32
// DENORMAL: tw.ex2_approx %arg0 : tensor<8xf32>
// DENORMAL: tw.sqrt_approx %arg0 : tensor<8xf32>
// DENORMAL: tw.rsqrt_approx %arg0 : tensor<8xf32>
tt.func public @functions_f32(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {noinline = false} {
  %0 = math.exp %x : tensor<8xf32>
  %1 = math.exp2 %x : tensor<8xf32>
  %2 = math.sqrt %x : tensor<8xf32>
  %3 = math.rsqrt %x : tensor<8xf32>
  %4 = math.log %x : tensor<8xf32>
  %5 = math.log2 %x : tensor<8xf32>
  %6 = math.sin %x : tensor<8xf32>
  %7 = math.cos %x : tensor<8xf32>
  %8 = math.erf %x : tensor<8xf32>
  %9 = tt.precise_sqrt %x : tensor<8xf32>
  %10 = math.floor %x : tensor<8xf32>
  tt.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: tt.func public @functions_f64
// CHECK: symbol = "__nv_exp"} : (f64) -> f64
// CHECK: symbol = "__nv_exp2"} : (f64) -> f64
// CHECK: tw.sqrt_rn %arg0 : f64
// CHECK: tw.rsqrt_approx %arg0 : f64
// CHECK: symbol = "__nv_log"} : (f64) -> f64
tt.func public @functions_f64(%x: f64) -> (f64, f64, f64, f64, f64) attributes {noinline = false} {
  %0 = math.exp %x : f64
  %1 = math.exp2 %x : f64
  %2 = math.sqrt %x : f64
  %3 = math.rsqrt %x : f64
  %4 = math.log %x : f64
  tt.return %0, %1, %2, %3, %4 : f64, f64, f64, f64, f64
}

// -----

// Narrow formats: the function of f32, rounded. f8 goes through tt.fp_to_fp, which saturates.
// CHECK-LABEL: tt.func public @functions_narrow
// CHECK: %[[X:.*]] = arith.extf %arg0 : tensor<8xf16> to tensor<8xf32>
// CHECK: %[[R:.*]] = tw.sqrt_approx %[[X]] ftz : tensor<8xf32>
// CHECK: arith.truncf %[[R]] : tensor<8xf32> to tensor<8xf16>
// CHECK: %[[B:.*]] = arith.extf %arg1 : tensor<8xbf16> to tensor<8xf32>
// CHECK: tt.extern_elementwise %[[B]] {{.*}}symbol = "__nv_logf"
// CHECK: %[[Y:.*]] = tt.fp_to_fp %arg2 : tensor<8xf8E5M2> -> tensor<8xf32>
// CHECK: %[[Z:.*]] = tt.fp_to_fp %arg2 : tensor<8xf8E5M2> -> tensor<8xf32>
// CHECK: %[[Q:.*]] = tw.div_full %[[Y]], %[[Z]] : tensor<8xf32>
// CHECK: tt.fp_to_fp %[[Q]], rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
tt.func public @functions_narrow(%h: tensor<8xf16>, %b: tensor<8xbf16>, %f: tensor<8xf8E5M2>) -> (tensor<8xf16>, tensor<8xbf16>, tensor<8xf8E5M2>) attributes {noinline = false} {
  %0 = math.sqrt %h : tensor<8xf16>
  %1 = math.log %b : tensor<8xbf16>
  %2 = arith.divf %f, %f : tensor<8xf8E5M2>
  tt.return %0, %1, %2 : tensor<8xf16>, tensor<8xbf16>, tensor<8xf8E5M2>
}
