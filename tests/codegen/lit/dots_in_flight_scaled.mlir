// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a | FileCheck %s --check-prefix=TTGIR
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a | FileCheck %s
// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a --num-stages=1 | FileCheck %s --check-prefix=ONE
// A sum that the next iteration scales is in flight until then: one wait, behind that iteration's first product, for both.
// The copies of a later iteration begin behind the second product.
// TTGIR-LABEL: @scaled
// TTGIR: scf.for
// TTGIR: twg.async_wait
// TTGIR: twg.warpgroup_dot {{.*}} in_flight
// TTGIR-NEXT: twg.warpgroup_commit
// TTGIR-NEXT: twg.warpgroup_wait 0
// TTGIR-NEXT: ttg.barrier
// TTGIR-NOT: twg.async_copy
// TTGIR: twg.warpgroup_dot {{.*}} in_flight
// TTGIR-NEXT: twg.warpgroup_commit
// TTGIR-NOT: twg.warpgroup_wait
// TTGIR: twg.async_copy
// TTGIR: scf.yield
// TTGIR-NEXT: }
// TTGIR-NEXT: twg.warpgroup_wait 0
// CHECK-LABEL: .entry scaled(
// CHECK: [[LOOP:\$L[_A-Z0-9]+]]:
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK-NOT: wgmma.wait_group
// CHECK: bra{{.*}} [[LOOP]];
// ONE-LABEL: @scaled
// ONE-NOT: in_flight {
tt.func public @scaled(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
  %zero = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %down = arith.constant dense<4096> : tensor<64x64xi32>
  %short = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %n = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %nb = tt.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
  %ms = arith.muli %m, %short : tensor<64x1xi32>
  %msb = tt.broadcast %ms : tensor<64x1xi32> -> tensor<64x64xi32>
  %bo = arith.addi %msb, %nb : tensor<64x64xi32>
  %ab = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ap = tt.addptr %ab, %bo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %q = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
  %bb = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bp = tt.addptr %bb, %bo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %r:3 = scf.for %o = %zero to %k step %c64 iter_args(%s = %none, %at = %ap, %bt = %bp) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %at : tensor<64x64x!tt.ptr<f16>>
    %y = tt.load %bt : tensor<64x64x!tt.ptr<f16>>
    %p = tt.dot %q, %x, %none : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %pn = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %less = arith.mulf %s, %half : tensor<64x64xf32>
    %z = tt.dot %pn, %y, %less : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %an = tt.addptr %at, %down : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %bn = tt.addptr %bt, %down : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %z, %an, %bn : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
  }
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %dp = tt.addptr %db, %bo : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %dp, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
