// RUN: tiletwin-opt %s -split-input-file --twg-make-ttgir="arch=sm_80 num-warps=1" | FileCheck %s
// RUN: not tiletwin-opt %s -split-input-file --twg-make-ttgir="arch=sm_80 num-warps=1" --test-drop-layouts 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: tiletwin-opt %s -split-input-file --twg-make-ttgir="arch=sm_80 num-warps=1" --test-drop-layouts -verify-each=false -mlir-print-assume-verified | FileCheck %s --check-prefix=UNSEEN
// Passes are verified each: one that leaves a conversion without a layout is caught.

// CHECK-LABEL: @converted
// CHECK: twg.convert_layout {{.*}} -> tensor<32x32xf32, #layout{{[0-9]*}}>
// BROKEN: error: 'twg.convert_layout' op needs a layout on both sides
// UNSEEN: twg.convert_layout {{.*}} -> tensor<32x32xf32>
tt.func public @converted(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c32 = arith.constant dense<32> : tensor<32x1xi32>
  %m = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %n = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %s = arith.muli %m, %c32 : tensor<32x1xi32>
  %mb = tt.broadcast %s : tensor<32x1xi32> -> tensor<32x32xi32>
  %nb = tt.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %mb, %nb : tensor<32x32xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %a = tt.addptr %b, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %x = tt.load %a : tensor<32x32x!tt.ptr<f32>>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x32xf32> -> tensor<32x32xf32>
  %c = tt.splat %q : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %d = tt.addptr %c, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %d, %t : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
