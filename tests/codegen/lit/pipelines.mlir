// RUN: tiletwin-opt %s --twg-make-ttgir="arch=sm_80 num-warps=4 num-stages=3" | FileCheck %s --check-prefix=TTGIR
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_75 | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-stages=1 | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: tiletwin-translate %s --emit-facts --arch=sm_80 --num-stages=4 | FileCheck %s --check-prefix=FACTS
// Loads that feed a dot in a loop: with three stages the copies of two iterations are on their way while a third is multiplied.

// Three buffers for each operand, two copies in front of the loop; in it one wait, for all but the youngest group, and the copies
// for two iterations later, if there will be one.
// TTGIR-LABEL: @matmul
// TTGIR: %[[A:.*]] = twg.local_alloc {offset = 0 : i32} -> <3x32x32xf16, #[[BUFFERS:shared[0-9]*]]>
// TTGIR: %[[B:.*]] = twg.local_alloc {offset = 6144 : i32} -> <3x32x32xf16, #[[BUFFERS]]>
// TTGIR: twg.async_copy {{.*}} if %{{.*}} {twg.vector = 8 : i32}
// TTGIR: twg.async_copy
// TTGIR: twg.async_commit
// TTGIR: twg.async_copy
// TTGIR: twg.async_copy
// TTGIR: twg.async_commit
// TTGIR: scf.for
// TTGIR: twg.async_wait 1
// TTGIR-NEXT: ttg.barrier local
// TTGIR: %[[NEXT:.*]] = twg.memdesc_index %[[A]]
// TTGIR: twg.async_copy {{.*}}, %[[NEXT]] if
// TTGIR: twg.async_commit
// TTGIR: %[[NOW:.*]] = twg.memdesc_index %[[A]]
// TTGIR: twg.local_load %[[NOW]]
// TTGIR: tt.dot
// TTGIR: scf.yield
// TTGIR-NOT: ttg.barrier
// TTGIR: twg.async_wait 0
// TTGIR-NEXT: ttg.barrier local
// TTGIR-NOT: tt.load

// CHECK-LABEL: .entry matmul(
// SM80-COUNT-2: @{{%p[0-9]+}} cp.async.cg.shared.global [{{%r[0-9]+}}], [{{%rd[0-9]+}}], 16;
// SM80: cp.async.commit_group;
// SM80-COUNT-2: cp.async.cg.shared.global
// SM80: cp.async.commit_group;
// SM80: [[LOOP:\$L[_A-Z0-9]+]]:
// SM80: cp.async.wait_group 1;
// SM80: bar{{(rier)?}}.sync
// SM80-COUNT-2: @{{%p[0-9]+}} cp.async.cg.shared.global
// SM80: cp.async.commit_group;
// SM80-NOT: bar{{(rier)?}}.sync
// SM80-COUNT-4: ldmatrix.sync
// SM80-COUNT-4: mma.sync
// SM80-NOT: bar{{(rier)?}}.sync
// SM80: bra [[LOOP]];
// SM80: cp.async.wait_group 0;

// Before sm_80, and with one stage, operands go through registers, with barriers between writers and readers.
// SM75-NOT: cp.async
// SM75: ld.global.v4.b32
// SM75: bar{{(rier)?}}.sync
// SM75: st.shared.v4.b32
// SM75: bar{{(rier)?}}.sync
// SM75: ldmatrix.sync
// SM75-NOT: cp.async
// ONE-NOT: cp.async
// ONE: ldmatrix.sync
// ONE-NOT: cp.async

// FACTS: shared 16384
tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
  %zero = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %step = arith.constant dense<32> : tensor<32x32xi32>
  %down = arith.constant dense<1024> : tensor<32x32xi32>
  %wide = arith.constant dense<1024> : tensor<32x1xi32>
  %short = arith.constant dense<32> : tensor<32x1xi32>
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %m = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %n = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %nb = tt.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
  %mw = arith.muli %m, %wide : tensor<32x1xi32>
  %mwb = tt.broadcast %mw : tensor<32x1xi32> -> tensor<32x32xi32>
  %ao = arith.addi %mwb, %nb : tensor<32x32xi32>
  %ms = arith.muli %m, %short : tensor<32x1xi32>
  %msb = tt.broadcast %ms : tensor<32x1xi32> -> tensor<32x32xi32>
  %bo = arith.addi %msb, %nb : tensor<32x32xi32>
  %ab = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %ap = tt.addptr %ab, %ao : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %bb = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %bp = tt.addptr %bb, %bo : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %r:3 = scf.for %q = %zero to %k step %c32 iter_args(%s = %none, %at = %ap, %bt = %bp) -> (tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
    %x = tt.load %at : tensor<32x32x!tt.ptr<f16>>
    %y = tt.load %bt : tensor<32x32x!tt.ptr<f16>>
    %z = tt.dot %x, %y, %s : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %an = tt.addptr %at, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %bn = tt.addptr %bt, %down : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    scf.yield %z, %an, %bn : tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
  }
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %dp = tt.addptr %db, %bo : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %dp, %r#0 : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
