// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --num-warps=1 | FileCheck %s
// twg.local_store: into one of several buffers; the barrier in front of its readers is the program's.

#in = #twg.linear<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#flat = #twg.linear<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [], block = []}>
#all = #twg.shared<contiguous = 2, swizzle = 32>
#one = #twg.shared<contiguous = 1, swizzle = 32>
// CHECK-LABEL: .entry stored(
// CHECK: ld.param.b32 [[K:%r[0-9]+]], [stored_param_1];
// CHECK: shl.b32 {{%r[0-9]+}}, [[K]], 9;
// CHECK: st.shared.v4.b32 [[[AT:%r[0-9]+]]], [[X:{[^}]*}]];
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.v4.b32 {{.*}}, [[[AT]]];
tt.func public @stored(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #flat>
  %r = tt.reshape %i : tensor<256xi32, #flat> -> tensor<16x16xi32, #in>
  %b = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #in>
  %at = tt.addptr %b, %r : tensor<16x16x!tt.ptr<f16>, #in>, tensor<16x16xi32, #in>
  %x = tt.load %at {twg.vector = 8 : i32} : tensor<16x16x!tt.ptr<f16>, #in>
  %all = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<2x16x16xf16, #all>
  %m = twg.memdesc_index %all[%k] : !twg.memdesc<2x16x16xf16, #all> -> !twg.memdesc<16x16xf16, #one>
  twg.local_store %x, %m : tensor<16x16xf16, #in> -> !twg.memdesc<16x16xf16, #one>
  ttg.barrier all
  %y = twg.local_load %m : !twg.memdesc<16x16xf16, #one> -> tensor<16x16xf16, #in>
  tt.store %at, %y {twg.vector = 8 : i32} : tensor<16x16x!tt.ptr<f16>, #in>
  tt.return
}
