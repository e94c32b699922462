// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_100a --num-warps=4 -split-input-file -verify-diagnostics
// Products in tensor memory: what their text may not say, and what it says that its barriers are and are not. One part for each
// message.

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @product_without_a_wait() {
  %zero = arith.constant 0 : i32
  %bar = twg.local_alloc {offset = 8192 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %bar : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %all = twg.tmem_open 64 {twg.scratch = #twg.scratch<offset = 8208, bytes = 4, barriers = 1>}
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %d = twg.tmem_alloc %all {column = 0 : i32} -> !twg.tmem<64x32xf32>
  ttg.barrier local
  // expected-error @below {{is on its way when the next operation runs: no twg.barrier_wait for its barrier stands right behind}}
  twg.tmem_dot %a, %x, %d, %bar overwrites : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %p = twg.phase %zero
  twg.barrier_wait %bar phase %p : !twg.memdesc<1x1xi64, #b>
  %r = twg.tmem_load %d : !twg.tmem<64x32xf32> -> tensor<64x32xf32, #l>
  ttg.barrier local
  twg.tmem_close %all
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @store_without_a_barrier() {
  %zero = arith.constant 0 : i32
  %bar = twg.local_alloc {offset = 8192 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %bar : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %all = twg.tmem_open 64 {twg.scratch = #twg.scratch<offset = 8208, bytes = 4, barriers = 1>}
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %d = twg.tmem_alloc %all {column = 0 : i32} -> !twg.tmem<64x32xf32>
  ttg.barrier local
  %c = ub.poison : tensor<64x32xf32, #l>
  twg.tmem_store %c, %d : tensor<64x32xf32, #l> -> !twg.tmem<64x32xf32>
  // expected-error @below {{writes tensor memory that is used before, and no barrier stands in between}}
  twg.tmem_dot %a, %x, %d, %bar : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  %p = twg.phase %zero
  twg.barrier_wait %bar phase %p : !twg.memdesc<1x1xi64, #b>
  %r = twg.tmem_load %d : !twg.tmem<64x32xf32> -> tensor<64x32xf32, #l>
  ttg.barrier local
  twg.tmem_close %all
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @products_without_a_barrier() {
  %zero = arith.constant 0 : i32
  %bar = twg.local_alloc {offset = 8192 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %bar : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %all = twg.tmem_open 64 {twg.scratch = #twg.scratch<offset = 8208, bytes = 4, barriers = 1>}
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %d = twg.tmem_alloc %all {column = 0 : i32} -> !twg.tmem<64x32xf32>
  ttg.barrier local
  twg.tmem_dot %a, %x, %d, %bar overwrites : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  %p = twg.phase %zero
  twg.barrier_wait %bar phase %p : !twg.memdesc<1x1xi64, #b>
  %next = twg.next_phase %zero
  // expected-error @below {{writes shared memory that is used before, and no barrier stands in between}}
  twg.tmem_dot %a, %x, %d, %bar : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  %q = twg.phase %next
  twg.barrier_wait %bar phase %q : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  twg.tmem_close %all
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @columns_of_another_tile() {
  %zero = arith.constant 0 : i32
  %bar = twg.local_alloc {offset = 8192 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %bar : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %all = twg.tmem_open 64 {twg.scratch = #twg.scratch<offset = 8208, bytes = 4, barriers = 1>}
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %d = twg.tmem_alloc %all {column = 0 : i32} -> !twg.tmem<64x32xf32>
  ttg.barrier local
  // expected-error @-2 {{needs a column of tensor memory from which on no other tile lives and all of it has room}}
  %e = twg.tmem_alloc %all {column = 16 : i32} -> !twg.tmem<64x32xf32>
  twg.tmem_dot %a, %x, %d, %bar overwrites : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  %p = twg.phase %zero
  twg.barrier_wait %bar phase %p : !twg.memdesc<1x1xi64, #b>
  %r = twg.tmem_load %d : !twg.tmem<64x32xf32> -> tensor<64x32xf32, #l>
  %t = twg.tmem_load %e : !twg.tmem<64x32xf32> -> tensor<64x32xf32, #l>
  ttg.barrier local
  twg.tmem_close %all
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @too_few_columns() {
  %zero = arith.constant 0 : i32
  %bar = twg.local_alloc {offset = 8192 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %bar : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %all = twg.tmem_open 64 {twg.scratch = #twg.scratch<offset = 8208, bytes = 4, barriers = 1>}
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  // expected-error @below {{needs a column of tensor memory from which on}}
  %d = twg.tmem_alloc %all {column = 48 : i32} -> !twg.tmem<64x32xf32>
  ttg.barrier local
  twg.tmem_dot %a, %x, %d, %bar overwrites : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  %p = twg.phase %zero
  twg.barrier_wait %bar phase %p : !twg.memdesc<1x1xi64, #b>
  %r = twg.tmem_load %d : !twg.tmem<64x32xf32> -> tensor<64x32xf32, #l>
  ttg.barrier local
  twg.tmem_close %all
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @not_given_back() {
  %zero = arith.constant 0 : i32
  %bar = twg.local_alloc {offset = 8192 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %bar : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %all = twg.tmem_open 64 {twg.scratch = #twg.scratch<offset = 8208, bytes = 4, barriers = 1>}
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %d = twg.tmem_alloc %all {column = 0 : i32} -> !twg.tmem<64x32xf32>
  ttg.barrier local
  twg.tmem_dot %a, %x, %d, %bar overwrites : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  %p = twg.phase %zero
  twg.barrier_wait %bar phase %p : !twg.memdesc<1x1xi64, #b>
  %r = twg.tmem_load %d : !twg.tmem<64x32xf32> -> tensor<64x32xf32, #l>
  // expected-error @below {{ends the kernel with tensor memory that no twg.tmem_close in front gives back}}
  tt.return
}
}

// -----

#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @given_back_too_early() {
  %zero = arith.constant 0 : i32
  %bar = twg.local_alloc {offset = 8192 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %bar : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %all = twg.tmem_open 64 {twg.scratch = #twg.scratch<offset = 8208, bytes = 4, barriers = 1>}
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %d = twg.tmem_alloc %all {column = 0 : i32} -> !twg.tmem<64x32xf32>
  ttg.barrier local
  twg.tmem_dot %a, %x, %d, %bar overwrites : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  %p = twg.phase %zero
  twg.barrier_wait %bar phase %p : !twg.memdesc<1x1xi64, #b>
  %r = twg.tmem_load %d : !twg.tmem<64x32xf32> -> tensor<64x32xf32, #l>
  // expected-error @below {{releases what the program has written, and no barrier of its threads stands in front}}
  twg.tmem_close %all
  tt.return
}
}

// -----

#o = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[16, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[1, 0], [32, 0]], block = []}>
#l = #twg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
module attributes {twg.barriers_complete} {
tt.func public @lanes_of_other_warps() {
  %zero = arith.constant 0 : i32
  %bar = twg.local_alloc {offset = 8192 : i32} -> !twg.memdesc<1x1xi64, #b>
  twg.barrier_init %bar : !twg.memdesc<1x1xi64, #b>
  ttg.barrier local
  %all = twg.tmem_open 64 {twg.scratch = #twg.scratch<offset = 8208, bytes = 4, barriers = 1>}
  %a = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc {offset = 4096 : i32} -> !twg.memdesc<32x32xf16, #s>
  %d = twg.tmem_alloc %all {column = 0 : i32} -> !twg.tmem<64x32xf32>
  ttg.barrier local
  twg.tmem_dot %a, %x, %d, %bar overwrites : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  %p = twg.phase %zero
  twg.barrier_wait %bar phase %p : !twg.memdesc<1x1xi64, #b>
  // expected-error @below {{has a tile whose elements are not those of its warps' lanes}}
  %r = twg.tmem_load %d : !twg.tmem<64x32xf32> -> tensor<64x32xf32, #o>
  ttg.barrier local
  twg.tmem_close %all
  tt.return
}
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#n = #twg.shared<contiguous = 1, swizzle = 0>
#m = #twg.shared<contiguous = 0, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @too_few_rows(%i: i32) {
  %all = twg.tmem_open 32
  // expected-error @below {{tensor memory holds two dimensions, powers of two}}
  %d = twg.tmem_alloc %all -> !twg.tmem<32x64xf32>
  tt.return
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#n = #twg.shared<contiguous = 1, swizzle = 0>
#m = #twg.shared<contiguous = 0, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @other_sums(%i: i32) {
  %all = twg.tmem_open 32
  // expected-error @below {{sums in tensor memory are f32, not 'f16'}}
  %d = twg.tmem_alloc %all -> !twg.tmem<64x64xf16>
  tt.return
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#n = #twg.shared<contiguous = 1, swizzle = 0>
#m = #twg.shared<contiguous = 0, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @some_columns(%i: i32) {
  // expected-error @below {{needs a power of two from 32 to 512 columns, got 48}}
  %all = twg.tmem_open 48
  tt.return
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#n = #twg.shared<contiguous = 1, swizzle = 0>
#m = #twg.shared<contiguous = 0, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @opened_twice(%i: i32) {
  // expected-error @below {{stands there once}}
  %all = twg.tmem_open 32
  %more = twg.tmem_open 32
  tt.return
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#n = #twg.shared<contiguous = 1, swizzle = 0>
#m = #twg.shared<contiguous = 0, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @not_opened(%i: i32) {
  // expected-error @below {{needs tensor memory that a twg.tmem_open gives}}
  %d = twg.tmem_alloc %i -> !twg.tmem<64x64xf32>
  tt.return
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#n = #twg.shared<contiguous = 1, swizzle = 0>
#m = #twg.shared<contiguous = 0, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @other_shapes(%i: i32) {
  %bar = twg.local_alloc -> !twg.memdesc<1x1xi64, #b>
  %a = twg.local_alloc -> !twg.memdesc<64x32xf16, #s>
  %x = twg.local_alloc -> !twg.memdesc<64x32xf16, #s>
  %all = twg.tmem_open 64
  %d = twg.tmem_alloc %all -> !twg.tmem<64x32xf32>
  // expected-error @below {{needs shapes of a matrix product}}
  twg.tmem_dot %a, %x, %d, %bar : !twg.memdesc<64x32xf16, #s> * !twg.memdesc<64x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  tt.return
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#n = #twg.shared<contiguous = 1, swizzle = 0>
#m = #twg.shared<contiguous = 0, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @not_swizzled(%i: i32) {
  %bar = twg.local_alloc -> !twg.memdesc<1x1xi64, #b>
  %a = twg.local_alloc -> !twg.memdesc<64x32xf16, #n>
  %x = twg.local_alloc -> !twg.memdesc<32x32xf16, #s>
  %all = twg.tmem_open 64
  %d = twg.tmem_alloc %all -> !twg.tmem<64x32xf32>
  // expected-error @below {{needs swizzled rows}}
  twg.tmem_dot %a, %x, %d, %bar : !twg.memdesc<64x32xf16, #n> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  tt.return
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#n = #twg.shared<contiguous = 1, swizzle = 0>
#m = #twg.shared<contiguous = 0, swizzle = 128>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @rows_of_tf32(%i: i32) {
  %bar = twg.local_alloc -> !twg.memdesc<1x1xi64, #b>
  %a = twg.local_alloc -> !twg.memdesc<64x32xf32, #m>
  %x = twg.local_alloc -> !twg.memdesc<32x32xf32, #m>
  %all = twg.tmem_open 64
  %d = twg.tmem_alloc %all -> !twg.tmem<64x32xf32>
  // expected-error @below {{needs K as the contiguous dimension of '!twg.memdesc<64x32xf32}}
  twg.tmem_dot %a, %x, %d, %bar : !twg.memdesc<64x32xf32, #m> * !twg.memdesc<32x32xf32, #m> -> !twg.tmem<64x32xf32>, !twg.memdesc<1x1xi64, #b>
  tt.return
}

// -----

#s = #twg.shared<contiguous = 1, swizzle = 64>
#b = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @half_of_the_columns(%i: i32) {
  %bar = twg.local_alloc -> !twg.memdesc<1x1xi64, #b>
  %a = twg.local_alloc -> !twg.memdesc<128x32xf16, #s>
  %x = twg.local_alloc -> !twg.memdesc<32x32xf16, #s>
  %all = twg.tmem_open 64
  %d = twg.tmem_alloc %all -> !twg.tmem<128x32xf32>
  // expected-error @below {{needs shapes of a matrix product}}
  twg.tmem_dot %a, %x, %d, %bar together : !twg.memdesc<128x32xf16, #s> * !twg.memdesc<32x32xf16, #s> -> !twg.tmem<128x32xf32>, !twg.memdesc<1x1xi64, #b>
  tt.return
}
