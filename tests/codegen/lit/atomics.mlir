// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM90
// Atomic accesses: semantics and scope on the instruction, the CTA's threads before a release and behind an acquire.

// CHECK-LABEL: .entry orders(
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: @[[FIRST:%p[0-9]+]] atom.global.gpu.relaxed.add.u32 [[OLD:%r[0-9]+]],
// CHECK: shfl.sync.idx.b32 [[ALL:%r[0-9]+]], [[OLD]], 0,
// CHECK: @[[FIRST]] st.global.b32 {{.*}}, [[ALL]];
// CHECK-NOT: bar{{(rier)?}}.sync
// CHECK: @[[FIRST]] atom.global.cta.acquire.max.s32
// CHECK: bar{{(rier)?}}.sync
// CHECK: st.global.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: @[[FIRST]] atom.global.sys.release.exch.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: @[[FIRST]] atom.global.gpu.acq_rel.min.u32
// CHECK: bar{{(rier)?}}.sync
tt.func public @orders(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>, %v: i32) {
  %true = arith.constant true
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.store %o, %0 : !tt.ptr<i32>
  %1 = tt.atomic_rmw max, acquire, cta, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.store %o, %1 : !tt.ptr<i32>
  %2 = tt.atomic_rmw exch, release, sys, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.store %o, %2 : !tt.ptr<i32>
  %3 = tt.atomic_rmw umin, acq_rel, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.store %o, %3 : !tt.ptr<i32>
  tt.return
}

// -----

// Where nobody reads the result nothing is read back, unless it is read to acquire, or there is no such instruction.
// CHECK-LABEL: .entry unread(
// CHECK: atom.global.gpu.relaxed.add.u32 {{%rd?[0-9]+}},
// CHECK: atom.global.gpu.acquire.xor.b32
// CHECK: atom.global.gpu.relaxed.exch.b32
tt.func public @unread(%p: !tt.ptr<i32>, %v: i32) {
  %true = arith.constant true
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %1 = tt.atomic_rmw xor, acquire, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %2 = tt.atomic_rmw exch, relaxed, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// -----

// Sums in vectors, where the target has them; bf16 by comparing and swapping before sm_90.
// CHECK-LABEL: .entry sums(
// SM80-COUNT-8: atom.global.gpu.relaxed.add.f32 {{%rd?[0-9]+}},
// SM80-COUNT-4: atom.global.gpu.relaxed.add.noftz.f16x2 {{%rd?[0-9]+}},
// SM80: ld.relaxed.gpu.global.b16
// SM80: atom.relaxed.gpu.global.cas.b16 [[SEEN:%rs[0-9]+]], {{.*}}, [[OLD:%rs[0-9]+]],
// SM80: setp.ne.b16 [[AGAIN:%p[0-9]+]], [[SEEN]], [[OLD]];
// SM80: @[[AGAIN]] bra
// SM90-COUNT-2: red.global.gpu.relaxed.add.v4.f32
// SM90: red.global.gpu.relaxed.add.noftz.v4.f16x2
// SM90: red.global.gpu.relaxed.add.noftz.v4.bf16x2
// SM90-NOT: cas
tt.func public @sums(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %f = arith.sitofp %i : tensor<256xi32> to tensor<256xf32>
  %g = arith.sitofp %i : tensor<256xi32> to tensor<256xf16>
  %k = arith.sitofp %i : tensor<256xi32> to tensor<256xbf16>
  %pb = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %pa = tt.addptr %pb, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %pa, %f : (tensor<256x!tt.ptr<f32>>, tensor<256xf32>) -> tensor<256xf32>
  %hb = tt.splat %h : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %ha = tt.addptr %hb, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %1 = tt.atomic_rmw fadd, relaxed, gpu, %ha, %g : (tensor<256x!tt.ptr<f16>>, tensor<256xf16>) -> tensor<256xf16>
  %bb = tt.splat %b : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
  %ba = tt.addptr %bb, %i : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
  %2 = tt.atomic_rmw fadd, relaxed, gpu, %ba, %k : (tensor<256x!tt.ptr<bf16>>, tensor<256xbf16>) -> tensor<256xbf16>
  tt.return
}

// -----

// Several accesses of a thread are ordered by one fence before and one behind.
// CHECK-LABEL: .entry fences(
// CHECK: bar{{(rier)?}}.sync
// CHECK: fence.acq_rel.gpu;
// CHECK-COUNT-4: atom.global.gpu.relaxed.add.u32 {{%rd?[0-9]+}},
// CHECK: fence.acq_rel.gpu;
// CHECK: bar{{(rier)?}}.sync
tt.func public @fences(%p: !tt.ptr<i32>, %v: i32) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %0 = tt.atomic_rmw add, acq_rel, gpu, %a, %i : (tensor<128x!tt.ptr<i32>>, tensor<128xi32>) -> tensor<128xi32>
  tt.return
}

// -----

// CHECK-LABEL: .entry swaps(
// CHECK: bar{{(rier)?}}.sync
// CHECK: atom.global.acq_rel.gpu.cas.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: atom.global.relaxed.sys.cas.b64
tt.func public @swaps(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %o: !tt.ptr<i32>, %r: !tt.ptr<i64>, %c: i32, %v: i32, %d: i64, %w: i64) {
  %0 = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (!tt.ptr<i32>, i32, i32) -> i32
  tt.store %o, %0 : !tt.ptr<i32>
  %1 = tt.atomic_cas relaxed, sys, %q, %d, %w : (!tt.ptr<i64>, i64, i64) -> i64
  tt.store %r, %1 : !tt.ptr<i64>
  tt.return
}

// -----

// CHECK-LABEL: .entry loads_and_stores(
// CHECK: @[[FIRST:%p[0-9]+]] ld.acquire.gpu.global.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: bar{{(rier)?}}.sync
// CHECK: @[[FIRST]] st.release.sys.global.b8
// CHECK: @[[FIRST]] ld.relaxed.cta.global.b32
tt.func public @loads_and_stores(%p: !tt.ptr<i32>, %o: !tt.ptr<i8>, %v: i8) {
  %true = arith.constant true
  %0 = tt.atomic_load acquire, gpu, %p, %true : (!tt.ptr<i32>, i1) -> i32
  %1 = arith.trunci %0 : i32 to i8
  tt.atomic_store release, sys, %o, %1, %true : !tt.ptr<i8>
  %2 = tt.atomic_load relaxed, cta, %p, %true : (!tt.ptr<i32>, i1) -> i32
  tt.return
}

// -----

// One thread looks again and again, all others wait behind; with a limit, they are told whether it was seen.
// CHECK-LABEL: .entry polls(
// CHECK: ld.acquire.gpu.global.b32 [[SEEN:%r[0-9]+]],
// CHECK: setp.{{eq|ne}}.b32 {{.*}}, [[SEEN]],
// CHECK: bra
// CHECK: bar{{(rier)?}}.sync
// CHECK: mov.u64 {{.*}}, %globaltimer;
// CHECK: ld.relaxed.sys.global.b32
// CHECK: mov.u64 {{.*}}, %globaltimer;
// CHECK: bra
// CHECK: shfl.sync.idx.b32
tt.func public @polls(%p: !tt.ptr<i32>, %o: !tt.ptr<i1>, %e: i32, %limit: i64) {
  %0 = tt.atomic_poll acquire, gpu, %p, %e : !tt.ptr<i32>, i32 -> i1
  %1 = tt.atomic_poll relaxed, sys, %p, %e timeout %limit : !tt.ptr<i32>, i32 -> i1
  tt.store %o, %1 : !tt.ptr<i1>
  tt.return
}
