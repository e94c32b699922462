// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a --num-warps=8 --num-stages=2 | FileCheck %s
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a --num-warps=8 --num-stages=2 | FileCheck %s --check-prefix=PTX
// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a --num-warps=4 --num-stages=2 | FileCheck %s --check-prefix=ONE
// Two groups of warps take turns at the tensor cores in a loop that does other work between its products.

// Group 0 has the first turn. A turn has the second product and, in the next iteration, the first one. No barrier of all warps
// stands in the loop. The blocks are waited for where they are read first, and a slot is given back where all products are
// waited for. Behind the loop group 1, which is behind, gets its last turn.
// CHECK-LABEL: @softmax
// CHECK: twg.producer 4
// CHECK: twg.warpgroup_wait 0
// CHECK-NEXT: twg.turn_pass by 1
// CHECK-NEXT: twg.turn_wait
// CHECK-NEXT: scf.for
// CHECK-NOT: ttg.barrier
// CHECK: twg.barrier_wait
// CHECK: twg.warpgroup_dot
// CHECK-NEXT: twg.warpgroup_commit
// CHECK-NEXT: twg.turn_pass
// CHECK-NOT: by
// CHECK-NEXT: twg.warpgroup_wait 0
// CHECK-NOT: ttg.barrier
// CHECK: twg.barrier_arrive {{.*}} if
// CHECK: twg.barrier_arrive %{{[a-z0-9_]+}} :
// CHECK: tw.ex2_approx
// CHECK: twg.barrier_wait
// CHECK: twg.turn_wait
// CHECK-NEXT: twg.warpgroup_fence
// CHECK-NEXT: twg.warpgroup_dot
// CHECK-NEXT: twg.warpgroup_commit
// CHECK-NOT: ttg.barrier
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: twg.turn_pass by 0
// CHECK-NEXT: twg.warpgroup_wait 0
// Each group has a named barrier of all warps of the program: 2 and 3.
// PTX-LABEL: .entry softmax(
// PTX: setp.eq.u32 p, [[GROUP:%r[0-9]+]], 1; @p bar.arrive [[OTHER:%r[0-9]+]], 256;
// PTX: bar.sync [[OWN:%r[0-9]+]], 256;
// PTX: wgmma.mma_async
// PTX: bar.arrive [[OTHER]], 256;
// PTX-NEXT: end inline asm
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX: bar.sync [[OWN]], 256;
// PTX: wgmma.mma_async
// PTX: setp.eq.u32 p, [[GROUP]], 0; @p bar.arrive [[OTHER]], 256;
// ONE-NOT: twg.turn
// ONE-NOT: twg.producer
tt.func public @softmax(%q: !tt.tensordesc<128x64xf16>, %q0: i32, %q1: i32, %qs0: i64, %qs1: i64, %k: !tt.tensordesc<128x64xf16>, %k0: i32, %k1: i32, %ks0: i64, %ks1: i64, %v: !tt.tensordesc<128x64xf16>, %v0: i32, %v1: i32, %vs0: i64, %vs1: i64, %o: !tt.tensordesc<128x64xf32>, %o0: i32, %o1: i32, %os0: i64, %os1: i64, %T: i32) {
  %zero = arith.constant 0 : i32
  %n128 = arith.constant 128 : i32
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %no_scores = arith.constant dense<0.0> : tensor<128x128xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %rows = tt.descriptor_load %q[%zero, %zero] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
  %r = scf.for %at = %zero to %T step %n128 iter_args(%sum = %none) -> (tensor<128x64xf32>) : i32 {
    %kb = tt.descriptor_load %k[%at, %zero] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %kt = tt.trans %kb {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
    %s = tt.dot %rows, %kt, %no_scores : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    %e = math.exp2 %s : tensor<128x128xf32>
    %p = arith.truncf %e : tensor<128x128xf32> to tensor<128x128xf16>
    %vb = tt.descriptor_load %v[%at, %zero] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %scaled = arith.mulf %sum, %half : tensor<128x64xf32>
    %d = tt.dot %p, %vb, %scaled : tensor<128x128xf16> * tensor<128x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tt.descriptor_store %o[%zero, %zero], %r : !tt.tensordesc<128x64xf32>, tensor<128x64xf32>
  tt.return
}
