// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 -split-input-file | FileCheck %s
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
// CHECK: @{{%p[0-9]+}} st.global.v2.b32
tt.func public @with_effects(%o: !tt.ptr<i64>, %a: i32) {
  %y = tt.elementwise_inline_asm "mov.u64 $0, %globaltimer; // $1" {constraints = "=l,r", packed_element = 1 : i32, pure = false} %a : i32 -> i64
  tt.store %o, %y : !tt.ptr<i64>
  tt.return
}
