// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --num-warps=1 | FileCheck %s
// twg.local_alloc and twg.local_load: whole vectors into swizzled rows, fragments back by ldmatrix, other layouts by vectors. One
// barrier between writing and reading, none between two reads.

// CHECK: .extern .shared .align 1024 .b8 [[SHARED:[a-z_]+]][];
// CHECK-LABEL: .entry fragments(
// CHECK: ld.global.v4.b32 [[X:{[^}]*}]],
// CHECK: mul.lo.s32 {{%r[0-9]+}}, {{%r[0-9]+}}, 144;
// CHECK: st.shared.v4.b32 [[[AT:%r[0-9]+]]], [[X]];
// CHECK: bar{{(rier)?}}.sync
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: ld.shared.v4.b32 {{.*}}, [[[AT]]];
// CHECK: ret;
#in = #twg.linear<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#flat = #twg.linear<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [], block = []}>
#a = #twg.linear<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
#shared = #twg.shared<contiguous = 1, swizzle = 32>
tt.func public @fragments(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16>) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #flat>
  %r = tt.reshape %i : tensor<256xi32, #flat> -> tensor<16x16xi32, #in>
  %b = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #in>
  %at = tt.addptr %b, %r : tensor<16x16x!tt.ptr<f16>, #in>, tensor<16x16xi32, #in>
  %x = tt.load %at {twg.vector = 8 : i32} : tensor<16x16x!tt.ptr<f16>, #in>
  %m = twg.local_alloc %x : tensor<16x16xf16, #in> {offset = 512 : i32} -> !twg.memdesc<16x16xf16, #shared>
  %y = twg.local_load %m : !twg.memdesc<16x16xf16, #shared> -> tensor<16x16xf16, #a>
  %z = twg.local_load %m : !twg.memdesc<16x16xf16, #shared> -> tensor<16x16xf16, #in>
  %w = twg.convert_layout %y : tensor<16x16xf16, #a> -> tensor<16x16xf16, #in>
  tt.store %at, %z {twg.vector = 8 : i32} : tensor<16x16x!tt.ptr<f16>, #in>
  tt.store %at, %w {twg.vector = 8 : i32} : tensor<16x16x!tt.ptr<f16>, #in>
  tt.return
}
