// Tiles of pointers that a loop reads for wgmma: blocks of tensors whose maps the launcher makes of the kernel's arguments.
// RUN: tiletwin-opt %s -split-input-file --twg-affine-loads="arch=sm_90a copied-loads=true" | FileCheck %s
// RUN: tiletwin-opt %s -split-input-file --twg-affine-loads="arch=sm_90a" | FileCheck %s --check-prefix=PLAIN
// RUN: tiletwin-opt %s -split-input-file --twg-affine-loads="arch=sm_80 copied-loads=true" | FileCheck %s --check-prefix=PLAIN
// RUN: tiletwin-translate %s -split-input-file --emit-facts --arch=sm_90a --copied-loads | FileCheck %s --check-prefix=FACTS

// Rows are masked, so that they are the map's extent; K is bounded by what is left. Only the copies' loop has no pointers.
// CHECK-LABEL: tt.func public @multiply
// CHECK-SAME: %[[A:arg6]]: !tt.tensordesc<64x32xf16> {twg.recipe = "a0; 1*a3/1*a4; 1*a5", twg.tensor_map = #twg.tensor_map<element = "float16", box = [64, 32], swizzle = 64>}
// CHECK-SAME: %[[B:arg7]]: !tt.tensordesc<32x64xf16> {twg.recipe = "a1; 1*a4/2147483647; 64"
// CHECK-SAME: %[[FLAG:arg8]]: i32 {twg.recipe = "1*a5"}
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: arith.cmpi ne, %[[FLAG]]
// CHECK: arith.cmpi sge
// CHECK: scf.if %{{.*}} -> (tensor<64x64xf32>) {
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (tensor<64x64xf32>)
// CHECK-NOT: tt.load
// CHECK: tt.descriptor_load %[[A]][%{{.*}}, %{{.*}}]
// CHECK: tt.descriptor_load %[[B]][%{{.*}}, %{{.*}}]
// CHECK-NOT: tt.load
// CHECK: } else {
// CHECK: scf.for
// CHECK-COUNT-2: tt.load
// CHECK-NOT: descriptor_load
// PLAIN-LABEL: tt.func public @multiply
// PLAIN-NOT: scf.if
// PLAIN-NOT: descriptor_load
// FACTS: kernel multiply
// FACTS-NEXT: arguments ptr ptr ptr i32 i32 i32 tensormap<float16, 64x32, 64; a0; 1*a3/1*a4; 1*a5> tensormap<float16, 32x64, 128; a1; 1*a4/2147483647; 64> copies<1*a5>
tt.func public @multiply(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                         %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i32, %k: i32,
                         %s: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %row = arith.muli %pid, %c64 : i32
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows0 = tt.splat %row : i32 -> tensor<64xi32>
  %rows1 = arith.addi %rows0, %i : tensor<64xi32>
  %rows = tt.expand_dims %rows1 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %strides = tt.splat %s : i32 -> tensor<64x1xi32>
  %down0 = arith.muli %rows, %strides : tensor<64x1xi32>
  %down = tt.broadcast %down0 : tensor<64x1xi32> -> tensor<64x32xi32>
  %along0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %along = tt.broadcast %along0 : tensor<1x32xi32> -> tensor<64x32xi32>
  %offsets = arith.addi %down, %along : tensor<64x32xi32>
  %a0 = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %a1 = tt.addptr %a0, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %ms = tt.splat %m : i32 -> tensor<64x1xi32>
  %inside0 = arith.cmpi slt, %rows, %ms : tensor<64x1xi32>
  %inside = tt.broadcast %inside0 : tensor<64x1xi1> -> tensor<64x32xi1>
  %n0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %n = tt.broadcast %n0 : tensor<1x64xi32> -> tensor<32x64xi32>
  %k0 = tt.expand_dims %j {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %wide = arith.constant dense<64> : tensor<32x1xi32>
  %k1 = arith.muli %k0, %wide : tensor<32x1xi32>
  %k2 = tt.broadcast %k1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %offsetsB = arith.addi %k2, %n : tensor<32x64xi32>
  %b0 = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %b1 = tt.addptr %b0, %offsetsB : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %stepA = arith.constant dense<32> : tensor<64x32xi32>
  %stepB = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %at = %c0 to %k step %c32 iter_args(%pa = %a1, %pb = %b1, %acc = %zero) -> (tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>) : i32 {
    %left = arith.subi %k, %at : i32
    %l0 = tt.splat %left : i32 -> tensor<1x32xi32>
    %ma0 = arith.cmpi slt, %along0, %l0 : tensor<1x32xi32>
    %ma1 = tt.broadcast %ma0 : tensor<1x32xi1> -> tensor<64x32xi1>
    %ma = arith.andi %ma1, %inside : tensor<64x32xi1>
    %l1 = tt.splat %left : i32 -> tensor<32x1xi32>
    %mb0 = arith.cmpi slt, %k0, %l1 : tensor<32x1xi32>
    %mb = tt.broadcast %mb0 : tensor<32x1xi1> -> tensor<32x64xi1>
    %x = tt.load %pa, %ma : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb, %mb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %pa1 = tt.addptr %pa, %stepA : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %pb1 = tt.addptr %pb, %stepB : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %pa1, %pb1, %d : tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>
  }
  %c0s = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %rc = arith.muli %rows, %strides : tensor<64x1xi32>
  %rc1 = tt.broadcast %rc : tensor<64x1xi32> -> tensor<64x64xi32>
  %nc = tt.broadcast %n0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %oc = arith.addi %rc1, %nc : tensor<64x64xi32>
  %pc = tt.addptr %c0s, %oc : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %pc, %r#2 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
