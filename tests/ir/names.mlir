// RUN: tiletwin-opt %s --mlir-use-nameloc-as-prefix --mlir-print-debuginfo | FileCheck %s

// Values are named after the variables in their locations; types and attributes print as in TTIR.
// CHECK: #[[LOC:.*]] = loc("k.py":1:1)
// CHECK: tt.func public @f(%x_ptr: !tt.ptr<f32, "constant"> loc("x_ptr"(#[[LOC]])), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#[[LOC]])), %d: !tt.tensordesc<8x16xsi32> loc("d"(#[[LOC]]))) attributes {noinline = false} {
#loc = loc("k.py":1:1)
tt.func public @f(%arg0: !tt.ptr<f32, "constant"> loc("x_ptr"(#loc)), %arg1: i32 {tt.divisibility = 16 : i32} loc("n"(#loc)), %arg2: !tt.tensordesc<8x16xsi32> loc("d"(#loc))) attributes {noinline = false} {
  // CHECK-NEXT: %pid = tt.get_program_id x : i32
  %0 = tt.get_program_id x : i32 loc("pid"("k.py":2:1))
  // CHECK-NEXT: %p = tt.addptr %x_ptr, %pid : !tt.ptr<f32, "constant">, i32
  %1 = tt.addptr %arg0, %0 : !tt.ptr<f32, "constant">, i32 loc("p"("k.py":3:1))
  // CHECK-NEXT: %p_0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>, isVolatile = true} : !tt.ptr<f32, "constant">
  %2 = tt.load %1 {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>, isVolatile = true} : !tt.ptr<f32, "constant"> loc("p"("k.py":4:1))
  // CHECK-NEXT: ttg.barrier all
  ttg.barrier all
  // CHECK-NEXT: %s = tt.splat %p_0 : f32 -> tensor<4x2xf32>
  %3 = tt.splat %2 : f32 -> tensor<4x2xf32> loc("s"("k.py":5:1))
  // CHECK-NEXT: %outLHS, %outRHS = tt.split %s : tensor<4x2xf32> -> tensor<4xf32>
  %4, %5 = tt.split %3 : tensor<4x2xf32> -> tensor<4xf32> loc("k.py":6:1)
  tt.return loc(#loc)
} loc(#loc)
