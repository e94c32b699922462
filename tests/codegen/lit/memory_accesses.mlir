// RUN: tiletwin-translate %s --emit-ptx --num-warps=2 -split-input-file | FileCheck %s
// Plain loads and stores: vectors, predicates, what is read where the mask is off, cache modifiers, who reads and writes.

// Four neighbours a thread: as one access where they are aligned, one by one where that is not known.
// CHECK-LABEL: .entry vectors(
// CHECK: ld.global.v4.b32
// CHECK: ld.global.v2.b32
// CHECK: ld.global.b32
// CHECK-COUNT-4: st.global.b32
// CHECK: st.global.v2.b32
// CHECK: st.global.b32
tt.func public @vectors(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %u: !tt.ptr<f32>) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %pb = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %pa = tt.addptr %pb, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %hb = tt.splat %h : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %ha = tt.addptr %hb, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %cb = tt.splat %c : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
  %ca = tt.addptr %cb, %i : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
  %ub = tt.splat %u : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %ua = tt.addptr %ub, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %x = tt.load %pa : tensor<256x!tt.ptr<f32>>
  %y = tt.load %ha : tensor<256x!tt.ptr<f16>>
  %z = tt.load %ca : tensor<256x!tt.ptr<i8>>
  tt.store %ua, %x : tensor<256x!tt.ptr<f32>>
  tt.store %ha, %y : tensor<256x!tt.ptr<f16>>
  tt.store %ca, %z : tensor<256x!tt.ptr<i8>>
  tt.return
}

// -----

// A mask that is the same for four neighbours is one predicate; what it leaves out keeps `other`.
// CHECK-LABEL: .entry masked(
// CHECK-DAG: ld.param.b32 [[N:%r[0-9]+]], [masked_param_1];
// CHECK-DAG: ld.param.b32 [[OTHER:%r[0-9]+]], [masked_param_2];
// CHECK-DAG: setp.lt.s32 [[MASK:%p[0-9]+]], {{%r[0-9]+}}, [[N]];
// CHECK: @[[MASK]] ld.global.v4.b32 {{.*}}[[OTHER]]
// CHECK: @[[MASK]] st.global.v4.b32
tt.func public @masked(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %o: f32) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %limit = tt.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<256xi32>
  %other = tt.splat %o : f32 -> tensor<256xf32>
  %x = tt.load %a, %mask, %other : tensor<256x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<256xf32>
  tt.store %a, %y, %mask : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// Where the mask may end anywhere each element has its own predicate; without `other` zeros are read.
// CHECK-LABEL: .entry masked_one_by_one(
// CHECK: mov.b32 {{%r[0-9]+}}, 0;
// CHECK-COUNT-4: @{{%p[0-9]+}} ld.global.b32
// CHECK-COUNT-4: @{{%p[0-9]+}} st.global.b32
tt.func public @masked_one_by_one(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %limit = tt.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<256xi32>
  %x = tt.load %a, %mask : tensor<256x!tt.ptr<f32>>
  tt.store %a, %x, %mask : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// PTX has no eviction priority beside a cache operator.
// CHECK-LABEL: .entry cached(
// CHECK: ld.global.ca.b32
// CHECK: st.global.wb.b32
// CHECK: ld.global.cg.b32
// CHECK: st.global.cg.b32
// CHECK: ld.global.cv.b32
// CHECK: st.global.wt.b32
// CHECK: ld.global.L1::evict_first.b32
// CHECK: st.global.cs.b32
// CHECK: ld.global.L1::evict_last.b32
// CHECK: st.global.L1::evict_last.b32
tt.func public @cached(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>} : !tt.ptr<i32>
  tt.store %q, %0 {cachePolicy = #tt.cache_policy<cache_modifier = wb, eviction_policy = evict_normal>} : !tt.ptr<i32>
  %1 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.ptr<i32>
  tt.store %q, %1 {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.ptr<i32>
  %2 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cv, eviction_policy = evict_normal>} : !tt.ptr<i32>
  tt.store %q, %2 {cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_normal>} : !tt.ptr<i32>
  %3 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.ptr<i32>
  tt.store %q, %3 {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : !tt.ptr<i32>
  %4 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>} : !tt.ptr<i32>
  tt.store %q, %4 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>} : !tt.ptr<i32>
  tt.return
}

// -----

// Memory that others change is read once, and all threads get that value.
// CHECK-LABEL: .entry volatile(
// CHECK: @[[FIRST:%p[0-9]+]] ld.volatile.global.b32 [[READ:%r[0-9]+]],
// CHECK: bar{{(rier)?}}.sync
// CHECK: @[[FIRST]] st.shared.b32 {{.*}}, [[READ]];
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.b32 [[GOT:%r[0-9]+]],
// CHECK: @[[FIRST]] st.global.b32 {{.*}}, [[GOT]];
tt.func public @volatile(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %0 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  tt.store %q, %0 : !tt.ptr<i32>
  tt.return
}

// -----

// So is memory that the kernel writes.
// CHECK-LABEL: .entry in_place(
// CHECK: @[[FIRST:%p[0-9]+]] ld.global.b32 [[READ:%r[0-9]+]],
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.b32
// CHECK: @[[FIRST]] st.global.b32
tt.func public @in_place(%p: !tt.ptr<i32>) {
  %one = arith.constant 1 : i32
  %0 = tt.load %p : !tt.ptr<i32>
  %1 = arith.addi %0, %one : i32
  tt.store %p, %1 : !tt.ptr<i32>
  tt.return
}

// -----

// An i1 is a byte in memory, of which every bit counts.
// CHECK-LABEL: .entry truth(
// CHECK: ld.global.b8 [[BYTE:%r[0-9]+]],
// CHECK: and.b32 [[BITS:%r[0-9]+]], [[BYTE]], 255;
// CHECK: setp.{{eq|ne}}.b32 {{.*}}, [[BITS]], 0;
// CHECK: st.global.b8
tt.func public @truth(%p: !tt.ptr<i1>, %q: !tt.ptr<i1>) {
  %true = arith.constant true
  %0 = tt.load %p : !tt.ptr<i1>
  %1 = arith.xori %0, %true : i1
  tt.store %q, %1 : !tt.ptr<i1>
  tt.return
}

// -----

// One instruction an element, under its mask; the first thread asks for what one pointer names.
// CHECK-LABEL: .entry prefetched(
// CHECK-COUNT-4: @{{%p[0-9]+}} prefetch.global.L2 [{{%rd[0-9]+}}];
// CHECK: @{{%p[0-9]+}} prefetch.global.L2 [{{%rd[0-9]+}}];
// CHECK: ld.global.v4.b32
// CHECK-NOT: prefetch.global
tt.func public @prefetched(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %limit = tt.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<256xi32>
  tt.prefetch %a, %mask : tensor<256x!tt.ptr<f32>>
  tt.prefetch %q : !tt.ptr<f32>
  %x = tt.load %a : tensor<256x!tt.ptr<f32>>
  tt.store %a, %x : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// A mask that was made in another layout is brought to that of the pointers.
// CHECK-LABEL: .entry prefetched_under_columns(
// CHECK: ld.global.b8
// CHECK: st.shared
// CHECK: ld.shared
// CHECK: @{{%p[0-9]+}} prefetch.global.L2
tt.func public @prefetched_under_columns(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %ci = tt.reshape %i : tensor<2048xi32> -> tensor<64x32xi32>
  %cb = tt.splat %c : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
  %ca = tt.addptr %cb, %ci : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
  %byte = tt.load %ca : tensor<64x32x!tt.ptr<i8>>
  %zero = arith.constant dense<0> : tensor<64x32xi8>
  %column = arith.cmpi ne, %byte, %zero : tensor<64x32xi8>
  %mask = tt.trans %column {order = array<i32: 1, 0>} : tensor<64x32xi1> -> tensor<32x64xi1>
  %pi = tt.reshape %i : tensor<2048xi32> -> tensor<32x64xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<32x64x!tt.ptr<i32>>
  %a = tt.addptr %b, %pi : tensor<32x64x!tt.ptr<i32>>, tensor<32x64xi32>
  tt.prefetch %a, %mask : tensor<32x64x!tt.ptr<i32>>
  %x = tt.load %a : tensor<32x64x!tt.ptr<i32>>
  tt.store %a, %x : tensor<32x64x!tt.ptr<i32>>
  tt.return
}
