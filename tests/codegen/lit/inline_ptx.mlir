// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 -split-input-file | FileCheck %s
// RUN: tiletwin-translate %s --emit-llvm --num-warps=1 -split-input-file | FileCheck %s --check-prefix=LLIR
// tt.elementwise_inline_asm: the user's text as it stands, on registers as wide as its constraints say.

// Four bytes in one register, as they were loaded.
// CHECK-LABEL: .entry packed(
// CHECK: ld.global.b32 [[X:%r[0-9]+]],
// CHECK: lop3.b32 [[Y:%r[0-9]+]], [[X]], [[X]], 0, 0x0F;
// CHECK: st.global.b32 {{.*}}, [[Y]];
tt.func public @packed(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %o: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %b = tt.splat %p : !tt.ptr<i8> -> tensor<128x!tt.ptr<i8>>
  %a = tt.addptr %b, %i : tensor<128x!tt.ptr<i8>>, tensor<128xi32>
  %x = tt.load %a : tensor<128x!tt.ptr<i8>>
  %y = tt.elementwise_inline_asm "lop3.b32 $0, $1, $1, 0, 0x0F;" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %x : tensor<128xi8> -> tensor<128xi8>
  %c = tt.splat %o : !tt.ptr<i8> -> tensor<128x!tt.ptr<i8>>
  %d = tt.addptr %c, %i : tensor<128x!tt.ptr<i8>>, tensor<128xi32>
  tt.store %d, %y : tensor<128x!tt.ptr<i8>>
  tt.return
}

// -----

// Text with effects runs in every thread; where all must agree on a scalar they get the first one's.
// CHECK-LABEL: .entry with_effects(
// CHECK: mov.u64 {{%rd[0-9]+}}, %globaltimer; // %r
// CHECK: shfl.sync.idx.b32
// CHECK: shfl.sync.idx.b32
// CHECK: @{{%p[0-9]+}} st.global.b64
tt.func public @with_effects(%o: !tt.ptr<i64>, %a: i32) {
  %y = tt.elementwise_inline_asm "mov.u64 $0, %globaltimer; // $1" {constraints = "=l,r", packed_element = 1 : i32, pure = false} %a : i32 -> i64
  tt.store %o, %y : !tt.ptr<i64>
  tt.return
}

// -----

// What the threads of a warp do together is convergent: LLVM must not move it to where only some of them come by. Other text
// may move.
// CHECK-LABEL: .entry collective(
// LLIR-LABEL: define ptx_kernel void @collective(
// LLIR: asm "shfl.sync.bfly.b32 $0, $1, 1, 0x1f, 0xffffffff;", {{.*}} #[[TOGETHER:[0-9]+]]
// LLIR: asm "not.b32 $0, $1;", {{.*}} #[[APART:[0-9]+]]
// LLIR-DAG: attributes #[[TOGETHER]] = { convergent nounwind }
// LLIR-DAG: attributes #[[APART]] = { nounwind }
tt.func public @collective(%o: !tt.ptr<i32>, %a: i32) {
  %x = tt.elementwise_inline_asm "shfl.sync.bfly.b32 $0, $1, 1, 0x1f, 0xffffffff;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a : i32 -> i32
  %y = tt.elementwise_inline_asm "not.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : i32 -> i32
  tt.store %o, %y : !tt.ptr<i32>
  tt.return
}

// -----

// So are votes, barriers, products of matrices and masks of who is there, with a predicate in front too.
// LLIR-LABEL: define ptx_kernel void @more_collectives(
// LLIR: asm "{ .reg .pred p; setp.ne.s32 p, $1, 0; vote.sync.ballot.b32 $0, p, -1; }", {{.*}} #[[TOGETHER:[0-9]+]]
// LLIR: asm sideeffect "bar.sync 1, 32; mov.b32 $0, $1;", {{.*}} #[[TOGETHER]]
// LLIR: asm sideeffect "barrier.cta.arrive 1, 64; mov.b32 $0, $1;", {{.*}} #[[TOGETHER]]
// LLIR: asm "activemask.b32 $0; // $1", {{.*}} #[[TOGETHER]]
// LLIR: asm "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", {{.*}} #[[TOGETHER]]
// LLIR: asm sideeffect "@$2 st.global.b32 [$0], $1;", {{.*}} #[[APART:[0-9]+]]
// LLIR-DAG: attributes #[[TOGETHER]] = { convergent nounwind }
// LLIR-DAG: attributes #[[APART]] = { nounwind }
tt.func public @more_collectives(%o: !tt.ptr<i32>, %a: i32) {
  %x0 = tt.elementwise_inline_asm "{ .reg .pred p; setp.ne.s32 p, $1, 0; vote.sync.ballot.b32 $0, p, -1; }" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a : i32 -> i32
  %x1 = tt.elementwise_inline_asm "bar.sync 1, 32; mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x0 : i32 -> i32
  %x2 = tt.elementwise_inline_asm "barrier.cta.arrive 1, 64; mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x1 : i32 -> i32
  %x3 = tt.elementwise_inline_asm "activemask.b32 $0; // $1" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x2 : i32 -> i32
  %x4 = tt.elementwise_inline_asm "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x3 : i32 -> i32
  tt.store %o, %x4 : !tt.ptr<i32>
  tt.return
}
