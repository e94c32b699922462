// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a | FileCheck %s --check-prefix=TTGIR
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a | FileCheck %s
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a --num-stages=1 | FileCheck %s --check-prefix=ONE
// Products by wgmma in a pipelined loop: one stays in flight while the next one's operands are waited for.

// TTGIR-LABEL: @in_flight
// TTGIR: scf.for
// TTGIR: twg.async_wait
// TTGIR: twg.warpgroup_fence
// TTGIR-NEXT: twg.warpgroup_dot {{.*}} in_flight
// TTGIR-NEXT: twg.warpgroup_commit
// TTGIR: twg.warpgroup_wait 1
// TTGIR: scf.yield
// TTGIR: twg.warpgroup_wait 0
// CHECK-LABEL: .entry in_flight(
// CHECK: [[LOOP:\$L[_A-Z0-9]+]]:
// CHECK: cp.async.wait_group
// CHECK: wgmma.fence.sync.aligned;
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: bra{{.*}} [[LOOP]];
// CHECK: wgmma.wait_group.sync.aligned 0;
// ONE-LABEL: .entry in_flight(
// ONE: wgmma.wait_group.sync.aligned 0;
// ONE-NOT: wgmma.wait_group.sync.aligned 1;
tt.func public @in_flight(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
  %zero = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %step = arith.constant dense<64> : tensor<64x64xi32>
  %down = arith.constant dense<4096> : tensor<64x64xi32>
  %wide = arith.constant dense<1024> : tensor<64x1xi32>
  %short = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %n = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %nb = tt.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
  %mw = arith.muli %m, %wide : tensor<64x1xi32>
  %mwb = tt.broadcast %mw : tensor<64x1xi32> -> tensor<64x64xi32>
  %ao = arith.addi %mwb, %nb : tensor<64x64xi32>
  %ms = arith.muli %m, %short : tensor<64x1xi32>
  %msb = tt.broadcast %ms : tensor<64x1xi32> -> tensor<64x64xi32>
  %bo = arith.addi %msb, %nb : tensor<64x64xi32>
  %ab = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ap = tt.addptr %ab, %ao : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %bb = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bp = tt.addptr %bb, %bo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %r:3 = scf.for %q = %zero to %k step %c64 iter_args(%s = %none, %at = %ap, %bt = %bp) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %at : tensor<64x64x!tt.ptr<f16>>
    %y = tt.load %bt : tensor<64x64x!tt.ptr<f16>>
    %z = tt.dot %x, %y, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %an = tt.addptr %at, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %bn = tt.addptr %bt, %down : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %z, %an, %bn : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
  }
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %dp = tt.addptr %db, %bo : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %dp, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
