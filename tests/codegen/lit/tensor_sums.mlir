// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_100a | FileCheck %s --check-prefix=TTGIR
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_100a | FileCheck %s
// A sum that only products change stays in tensor memory while the loop runs; copies ahead are fenced for products.

// TTGIR-LABEL: @in_flight
// TTGIR: %[[ALL:[a-z0-9_]+]] = twg.tmem_open 64
// TTGIR: %[[SUMS:[a-z0-9_]+]] = twg.tmem_alloc %[[ALL]] {column = 0 : i32} -> <64x64xf32>
// TTGIR-NEXT: twg.tmem_store %{{.*}}, %[[SUMS]]
// TTGIR: scf.for
// TTGIR-NEXT: twg.async_wait 1 fenced
// TTGIR-NEXT: ttg.barrier local
// TTGIR-NOT: ttg.barrier
// TTGIR: twg.tmem_dot {{.*}}, %[[SUMS]], %[[BARRIER:[a-z0-9_]+]] {instruction
// TTGIR-NEXT: %[[PHASE:[a-z0-9_]+]] = twg.phase
// TTGIR-NEXT: twg.barrier_wait %[[BARRIER]] phase %[[PHASE]]
// TTGIR-NOT: tmem_
// TTGIR: scf.yield
// TTGIR: twg.tmem_load %[[SUMS]]
// CHECK-LABEL: .entry in_flight(
// CHECK: tcgen05.st.sync.aligned.16x32bx2.x32.b32 [%r{{[0-9]+}}], 32, {
// CHECK: tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;
// CHECK: cp.async.wait_group 1;
// CHECK: fence.proxy.async
// CHECK: bar{{(rier)?}}.sync
// CHECK: tcgen05.mma
// CHECK-NOT: tcgen05.ld
// CHECK: bra
// CHECK: tcgen05.ld
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
