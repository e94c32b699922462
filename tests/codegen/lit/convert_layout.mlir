// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --num-warps=2 -split-input-file | FileCheck %s
// twg.convert_layout: registers get other names, lanes exchange by shuffles, warps through shared memory: the least that does it.

// One bit of the register's number and one of the lane change places: of two elements one moves, by one shuffle.
// CHECK-LABEL: .entry own_lane(
// CHECK-NOT: shared
// CHECK: shfl.sync.bfly.b32 {{%r[0-9]+}}, {{%r[0-9]+}}, 1, 31, -1;
// CHECK-NOT: shfl
// CHECK-COUNT-2: selp.b32
// CHECK: ret;
#a = #twg.linear<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]], block = []}>
#b = #twg.linear<{register = [[2]], lane = [[1], [4], [8], [16], [32]], warp = [[64]], block = []}>
tt.func public @own_lane(%p: !tt.ptr<i32>) {
  %x = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #a>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #b>
  %at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
  %a = tt.addptr %b, %at : tensor<128x!tt.ptr<i32>, #b>, tensor<128xi32, #b>
  %y = twg.convert_layout %x : tensor<128xi32, #a> -> tensor<128xi32, #b>
  tt.store %a, %y : tensor<128x!tt.ptr<i32>, #b>
  tt.return
}

// -----

// CHECK-LABEL: .entry registers_renamed(
// CHECK-NOT: {{shfl|shared|selp}}
// CHECK-COUNT-4: st.global.b32
// CHECK: ret;
#a = #twg.linear<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128]], block = []}>
#b = #twg.linear<{register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [[128]], block = []}>
tt.func public @registers_renamed(%p: !tt.ptr<i32>, %v: !tt.ptr<i32>) {
  %x = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #a>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #b>
  %at = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #b>
  %a = tt.addptr %b, %at : tensor<256x!tt.ptr<i32>, #b>, tensor<256xi32, #b>
  %y = twg.convert_layout %x : tensor<256xi32, #a> -> tensor<256xi32, #b>
  tt.store %a, %y : tensor<256x!tt.ptr<i32>, #b>
  tt.return
}

// -----

// CHECK-LABEL: .entry lanes_permuted(
// CHECK-NOT: shared
// CHECK: shfl.sync.idx.b32
// CHECK-NOT: {{shfl|selp}}
// CHECK: ret;
#a = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], block = []}>
#b = #twg.linear<{register = [], lane = [[16], [1], [2], [4], [8]], warp = [[32]], block = []}>
tt.func public @lanes_permuted(%p: !tt.ptr<i32>) {
  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #a>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
  %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
  %a = tt.addptr %b, %at : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
  %y = twg.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
  tt.store %a, %y : tensor<64x!tt.ptr<i32>, #b>
  tt.return
}

// -----

// Barriers before the first write, which earlier readers may not see, and between writing and reading.
// CHECK: .extern .shared .align {{[0-9]+}} .b8 [[SHARED:[a-z_]+]][];
// CHECK-LABEL: .entry across_warps(
// CHECK: bar{{(rier)?}}.sync
// CHECK: [[SHARED]]
// CHECK: st.shared.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.b32
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: ret;
#a = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], block = []}>
#b = #twg.linear<{register = [], lane = [[32], [2], [4], [8], [16]], warp = [[1]], block = []}>
tt.func public @across_warps(%p: !tt.ptr<i32>) {
  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #a>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
  %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
  %a = tt.addptr %b, %at : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
  %y = twg.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
  tt.store %a, %y : tensor<64x!tt.ptr<i32>, #b>
  tt.return
}

// -----

// 64 bits are two shuffles; of those that hold an element one stores it.
// CHECK-LABEL: .entry held_twice(
// CHECK-NOT: shared
// CHECK-COUNT-4: shfl.sync.idx.b32
// CHECK-NOT: shfl
// CHECK-COUNT-2: @{{%p[0-9]+}} st.global.b64
#a = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [0]], warp = [[0]], block = []}>
#b = #twg.linear<{register = [[8]], lane = [[1], [2], [4], [0], [0]], warp = [[0]], block = []}>
tt.func public @held_twice(%p: !tt.ptr<i64>) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #a>
  %x = arith.extsi %i : tensor<16xi32, #a> to tensor<16xi64, #a>
  %b = tt.splat %p : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>, #b>
  %at = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #b>
  %a = tt.addptr %b, %at : tensor<16x!tt.ptr<i64>, #b>, tensor<16xi32, #b>
  %y = twg.convert_layout %x : tensor<16xi64, #a> -> tensor<16xi64, #b>
  tt.store %a, %y : tensor<16x!tt.ptr<i64>, #b>
  tt.return
}

// -----

// What is contiguous on one side is a vector there. The second conversion waits until all have read the first.
// CHECK-LABEL: .entry transposed_in_memory(
// CHECK: ld.global.v4.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK-COUNT-4: st.shared.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.v4.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK-COUNT-4: st.shared.b64
// CHECK: bar{{(rier)?}}.sync
// CHECK-COUNT-2: ld.shared.v2.b64
// CHECK-COUNT-4: st.global.b32
#a = #twg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0]], block = []}>
#b = #twg.linear<{register = [[1, 0], [2, 0]], lane = [[4, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = [[0, 16]], block = []}>
tt.func public @transposed_in_memory(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #twg.linear<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128]], block = []}>>
  %r = tt.reshape %i : tensor<256xi32, #twg.linear<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128]], block = []}>> -> tensor<8x32xi32, #a>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>, #a>
  %a = tt.addptr %b, %r : tensor<8x32x!tt.ptr<f32>, #a>, tensor<8x32xi32, #a>
  %x = tt.load %a {twg.vector = 4 : i32} : tensor<8x32x!tt.ptr<f32>, #a>
  %y = twg.convert_layout %x : tensor<8x32xf32, #a> -> tensor<8x32xf32, #b>
  %c = twg.convert_layout %a : tensor<8x32x!tt.ptr<f32>, #a> -> tensor<8x32x!tt.ptr<f32>, #b>
  tt.store %c, %y : tensor<8x32x!tt.ptr<f32>, #b>
  tt.return
}
