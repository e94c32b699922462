// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --num-warps=2 | FileCheck %s
// Rows of eight elements, two in a thread, in four neighbouring lanes: two shuffles are enough, and no warp asks another.

// CHECK-LABEL: .entry within_lanes(
// CHECK-NOT: shared
// CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
// CHECK: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1;
// CHECK-NOT: {{shfl|shared}}
// CHECK: @{{%p[0-9]+}} st.global.b32
#t = #twg.linear<{register = [[0, 4]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[8, 0]], block = []}>
#r = #twg.linear<{register = [], lane = [[0], [0], [1], [2], [4]], warp = [[8]], block = []}>
tt.func public @within_lanes(%o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #twg.linear<{register = [[4]], lane = [[1], [2], [8], [16], [32]], warp = [[64]], block = []}>>
  %x = tt.reshape %i : tensor<128xi32, #twg.linear<{register = [[4]], lane = [[1], [2], [8], [16], [32]], warp = [[64]], block = []}>> -> tensor<16x8xi32, #t>
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %t = arith.addi %l, %r : i32
    tt.reduce.return %t : i32
  }) : (tensor<16x8xi32, #t>) -> tensor<16xi32, #r>
  %b = tt.splat %o : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>, #r>
  %k = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #r>
  %a = tt.addptr %b, %k : tensor<16x!tt.ptr<i32>, #r>, tensor<16xi32, #r>
  tt.store %a, %s : tensor<16x!tt.ptr<i32>, #r>
  tt.return
}
