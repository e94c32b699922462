// RUN: tiletwin-translate %s --emit-ptx -split-input-file | FileCheck %s
// Integers: one instruction each; division and shifts as the hardware does them unless LLVM knows the right operand.

// CHECK-LABEL: .entry wrapping(
// CHECK: add.s32
// CHECK: sub.s32
// CHECK: mul.lo.s32
// CHECK: add.s64
// CHECK: mul.lo.s16
tt.func public @wrapping(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %h: !tt.ptr<i16>, %a: i32, %b: i32, %c: i64, %d: i64, %s: i16, %t: i16) {
  %0 = arith.addi %a, %b : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.subi %a, %b : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.muli %a, %b : i32
  tt.store %p, %2 : !tt.ptr<i32>
  %3 = arith.addi %c, %d : i64
  tt.store %q, %3 : !tt.ptr<i64>
  %4 = arith.muli %s, %t : i16
  tt.store %h, %4 : !tt.ptr<i16>
  tt.return
}

// -----

// CHECK-LABEL: .entry bitwise(
// CHECK: and.b32
// CHECK: or.b32
// CHECK: xor.b64
tt.func public @bitwise(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %a: i32, %b: i32, %c: i64, %d: i64) {
  %0 = arith.andi %a, %b : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.ori %a, %b : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.xori %c, %d : i64
  tt.store %q, %2 : !tt.ptr<i64>
  tt.return
}

// -----

// CHECK-LABEL: .entry division(
// CHECK: div.s32
// CHECK: div.u32
// CHECK: rem.s64
// CHECK: rem.u64
tt.func public @division(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %a: i32, %b: i32, %c: i64, %d: i64) {
  %0 = arith.divsi %a, %b : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.divui %a, %b : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.remsi %c, %d : i64
  tt.store %q, %2 : !tt.ptr<i64>
  %3 = arith.remui %c, %d : i64
  tt.store %q, %3 : !tt.ptr<i64>
  tt.return
}

// -----

// Narrow numbers are widened by their sign.
// CHECK-LABEL: .entry narrow_division(
// CHECK: ld.param.s8
// CHECK: ld.param.s8
// CHECK: div.s32
tt.func public @narrow_division(%h: !tt.ptr<i8>, %s: i8, %t: i8) {
  %0 = arith.divsi %s, %t : i8
  tt.store %h, %0 : !tt.ptr<i8>
  tt.return
}

// -----

// CHECK-LABEL: .entry by_constants(
// CHECK-NOT: {{(div|rem)\.}}
// CHECK: mul.hi.u32
// CHECK: and.b32 {{.*}}, 7;
// CHECK: shr.s32 {{.*}}, 8;
tt.func public @by_constants(%p: !tt.ptr<i32>, %a: i32) {
  %ten = arith.constant 10 : i32
  %eight = arith.constant 8 : i32
  %0 = arith.divui %a, %ten : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.remui %a, %eight : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.shrsi %a, %eight : i32
  tt.store %p, %2 : !tt.ptr<i32>
  tt.return
}

// -----

// No meaning for LLVM, some number for the hardware: LLVM must not see these.
// CHECK-LABEL: .entry without_meaning(
// CHECK: div.s32
// CHECK: rem.s32
// CHECK: shl.b32
tt.func public @without_meaning(%p: !tt.ptr<i32>, %a: i32) {
  %zero = arith.constant 0 : i32
  %minus_one = arith.constant -1 : i32
  %width = arith.constant 32 : i32
  %0 = arith.divsi %a, %zero : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.remsi %a, %minus_one : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.shli %a, %width : i32
  tt.store %p, %2 : !tt.ptr<i32>
  tt.return
}

// -----

// The amount of a 64-bit shift is cut to 64 before it becomes 32 bits.
// CHECK-LABEL: .entry shifts(
// CHECK: shl.b32
// CHECK: shr.s32
// CHECK: min.u64 [[AMOUNT:%rd[0-9]+]], {{.*}}, 64;
// CHECK: cvt.u32.u64 [[NARROW:%r[0-9]+]], [[AMOUNT]];
// CHECK: shr.u64 {{.*}}, [[NARROW]];
tt.func public @shifts(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %a: i32, %b: i32, %c: i64, %d: i64) {
  %0 = arith.shli %a, %b : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.shrsi %a, %b : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.shrui %c, %d : i64
  tt.store %q, %2 : !tt.ptr<i64>
  tt.return
}

// -----

// CHECK-LABEL: .entry extremes(
// CHECK: max.s32
// CHECK: min.s32
// CHECK: max.u32
// CHECK: min.u32
// CHECK: abs.s32
tt.func public @extremes(%p: !tt.ptr<i32>, %a: i32, %b: i32) {
  %0 = arith.maxsi %a, %b : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.minsi %a, %b : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.maxui %a, %b : i32
  tt.store %p, %2 : !tt.ptr<i32>
  %3 = arith.minui %a, %b : i32
  tt.store %p, %3 : !tt.ptr<i32>
  %4 = math.absi %a : i32
  tt.store %p, %4 : !tt.ptr<i32>
  tt.return
}

// -----

// CHECK-LABEL: .entry comparisons(
// CHECK-DAG: ld.param.b32 [[A:%r[0-9]+]], [comparisons_param_1]
// CHECK-DAG: ld.param.b32 [[B:%r[0-9]+]], [comparisons_param_2]
// CHECK-DAG: ld.param.b32 [[X:%r[0-9]+]], [comparisons_param_5]
// CHECK-DAG: ld.param.b32 [[Y:%r[0-9]+]], [comparisons_param_6]
// CHECK-DAG: setp.lt.s32 [[LESS:%p[0-9]+]], [[A]], [[B]];
// CHECK: selp.b32 {{.*}}, [[X]], [[Y]], [[LESS]];
// CHECK: setp.{{lt|ge}}.u64
// CHECK: selp.b32
tt.func public @comparisons(%p: !tt.ptr<i32>, %a: i32, %b: i32, %c: i64, %d: i64, %x: i32, %y: i32) {
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.select %0, %x, %y : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.cmpi uge, %c, %d : i64
  %3 = arith.select %2, %x, %y : i32
  tt.store %p, %3 : !tt.ptr<i32>
  tt.return
}

// -----

// CHECK-LABEL: .entry high(
// CHECK: mul.hi.u32
// CHECK: mul.hi.u64
tt.func public @high(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %a: i32, %b: i32, %c: i64, %d: i64) {
  %0 = tt.mulhiui %a, %b : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = tt.mulhiui %c, %d : i64
  tt.store %q, %1 : !tt.ptr<i64>
  tt.return
}

// -----

// CHECK-LABEL: .entry ones(
// CHECK-DAG: popc.b32
// CHECK-DAG: popc.b64
tt.func public @ones(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %a: i32, %b: i64) {
  %0 = tt.popcount %a : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = tt.popcount %b : i64
  tt.store %q, %1 : !tt.ptr<i64>
  tt.return
}
