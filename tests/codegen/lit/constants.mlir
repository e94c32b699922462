// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 -split-input-file | FileCheck %s
// Constants: immediates, tables in memory for tiles of different elements; values that nobody may draw conclusions from.

// Of ub.poison a zero, the same wherever it is read.
// CHECK-LABEL: .entry immediates(
// CHECK: mov.b32 [[ONEANDHALF:%r[0-9]+]], 1069547520;
// CHECK: st.global.b32 {{.*}}, [[ONEANDHALF]];
// CHECK: mov.b16 [[NAN:%rs[0-9]+]], 32704;
// CHECK: st.global.b16 {{.*}}, [[NAN]];
// CHECK: mov.b64 [[WIDE:%rd[0-9]+]], -2;
// CHECK: st.global.b64 {{.*}}, [[WIDE]];
// CHECK: mov.b32 [[ZERO:%r[0-9]+]], 0;
// CHECK: st.global.b32 {{.*}}, [[ZERO]];
tt.func public @immediates(%p: !tt.ptr<f32>, %h: !tt.ptr<bf16>, %q: !tt.ptr<i64>) {
  %0 = arith.constant 1.5 : f32
  tt.store %p, %0 : !tt.ptr<f32>
  %1 = arith.constant 0x7FC0 : bf16
  tt.store %h, %1 : !tt.ptr<bf16>
  %2 = arith.constant -2 : i64
  tt.store %q, %2 : !tt.ptr<i64>
  %3 = ub.poison : f32
  tt.store %p, %3 : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK: .global .align 4 .b8 constant_tile[128] = {3, 0, 0, 0, 1, 0, 0, 0, 4,
// CHECK-LABEL: .entry table(
// CHECK: constant_tile;
// CHECK: ld.global{{(\.nc)?}}.b32 [[X:%r[0-9]+]],
// CHECK: st.global.b32 {{.*}}, [[X]];
tt.func public @table(%p: !tt.ptr<i32>) {
  %x = arith.constant dense<[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5]> : tensor<32xi32>
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  tt.store %a, %x : tensor<32x!tt.ptr<i32>>
  tt.return
}

// -----

// What a user promises is believed, as Triton does; TILETWIN_CHECK=promises looks whether it holds.
// CHECK-LABEL: .entry promises(
// CHECK: mov.b32 [[ONE:%r[0-9]+]], 1;
// CHECK: st.global.b32 {{.*}}, [[ONE]];
tt.func public @promises(%p: !tt.ptr<i32>, %a: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %promised = arith.cmpi eq, %a, %zero : i32
  llvm.intr.assume %promised : i1
  %0 = arith.addi %a, %one : i32
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
}
