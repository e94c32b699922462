// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 | FileCheck %s
// tt.map_elementwise: the region once for each group of neighbours, which one thread holds.

// CHECK-LABEL: .entry by_pairs(
// CHECK: ld.global.v2.b32 {[[L:%r[0-9]+]], [[R:%r[0-9]+]]},
// CHECK: add.s32 [[S:%r[0-9]+]], [[L]], [[R]];
// CHECK: sub.s32 [[D:%r[0-9]+]], [[L]], [[R]];
// CHECK: st.global.v2.b32 {{.*}}, {[[S]], [[D]]};
tt.func public @by_pairs(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %x = tt.load %a : tensor<64x!tt.ptr<i32>>
  %y = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.addi %l, %r : i32
    %d = arith.subi %l, %r : i32
    tt.map_elementwise.return %s, %d : i32, i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  %c = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %d = tt.addptr %c, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %d, %y : tensor<64x!tt.ptr<i32>>
  tt.return
}
