// RUN: tiletwin-opt %s | FileCheck %s
// RUN: tiletwin-opt %s | tiletwin-opt | FileCheck %s
// The text of layouts comes back as it was. They stand at the top under short names, once each.

#lanes = #twg.linear<{register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [], block = []}>
#repeated = #twg.linear<{register = [[0, 8], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[8, 0], [0, 0]], block = []}>
#mixed = #twg.linear<{register = [[0, 0]], lane = [[3, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [], block = []}>
#point = #twg.linear<{register = [], lane = [], warp = [], block = [], rank = 3}>
#rows = #twg.shared<contiguous = 1, swizzle = 128>

// CHECK-DAG: #[[LANES:layout[0-9]*]] = #twg.linear<{register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [], block = []}>
// CHECK-DAG: #[[REPEATED:layout[0-9]*]] = #twg.linear<{register = {{\[\[}}0, 8], [4, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = {{\[\[}}8, 0], [0, 0]], block = []}>
// CHECK-DAG: #[[MIXED:layout[0-9]*]] = #twg.linear<{register = {{\[\[}}0, 0]], lane = {{\[\[}}3, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [], block = []}>
// CHECK-DAG: #[[POINT:layout[0-9]*]] = #twg.linear<{register = [], lane = [], warp = [], block = [], rank = 3}>
// CHECK-DAG: #[[ROWS:shared[0-9]*]] = #twg.shared<contiguous = 1, swizzle = 128>
// CHECK-LABEL: @layouts
// CHECK: tensor<4x8xi32, #[[LANES]]>
// CHECK: tensor<16x16xi32, #[[REPEATED]]>
// CHECK: tensor<4x8xi32, #[[MIXED]]>
// CHECK: tensor<1x1x1xi32, #[[POINT]]>
// CHECK: <64x64xf16, #[[ROWS]]>
tt.func public @layouts() {
  %0 = ub.poison : tensor<4x8xi32, #lanes>
  %1 = ub.poison : tensor<16x16xi32, #repeated>
  %2 = ub.poison : tensor<4x8xi32, #mixed>
  %3 = ub.poison : tensor<1x1x1xi32, #point>
  %4 = twg.local_alloc -> !twg.memdesc<64x64xf16, #rows>
  tt.return
}
