// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --num-warps=1 -split-input-file -verify-diagnostics
// ttgir that a user wrote: what no code can be made from is refused before or while it is emitted, at the operation.

tt.func public @ttir(%p: !tt.ptr<f32>) {
  // expected-error @below {{has a tile without a layout, of type 'tensor<32xi32>'; layouts are chosen on the way from ttir to ttgir}}
  %0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  tt.return
}

// -----

#l = #twg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], block = []}>
tt.func public @more_warps(%p: !tt.ptr<f32>) {
  // expected-error @below {{has a layout for 2 warps of 32 threads; the kernel has 1 of 32}}
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #l>
  tt.return
}

// -----

#a = #twg.linear<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], block = []}>
#b = #twg.linear<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [], block = []}>
tt.func public @cast_between_layouts(%p: !tt.ptr<f32>) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #a>
  // expected-error @below {{needs one layout for all its tiles; twg.convert_layout changes it}}
  %1 = "tt.bitcast"(%0) : (tensor<64xi32, #a>) -> tensor<64xf32, #b>
  tt.return
}

// -----

#a = #twg.linear<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], block = []}>
tt.func public @long_vector(%p: !tt.ptr<f32>) {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #a>
  // expected-error @below {{has vectors of 4 elements (twg.vector); a thread holds 2, and they are powers of two}}
  %1 = tt.load %0 {twg.vector = 4 : i32} : tensor<64x!tt.ptr<f32>, #a>
  tt.return
}

// -----

#a = #twg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
#b = #twg.linear<{register = [[1]], lane = [[2], [4], [0], [0], [0]], warp = [], block = []}>
tt.func public @sum_elsewhere(%p: !tt.ptr<f32>) {
  %0 = ub.poison : tensor<8x8xf32, #a>
  // expected-error @below {{has a result layout that does not follow from its operand's}}
  %1 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<8x8xf32, #a>) -> tensor<8xf32, #b>
  tt.return
}

// -----

#a = #twg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
#b = #twg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
tt.func public @turned_in_place(%p: !tt.ptr<f32>) {
  %0 = ub.poison : tensor<8x8xf32, #a>
  // expected-error @below {{has a result layout that is not its operand's}}
  %1 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  tt.return
}

// -----

#a = #twg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
tt.func public @unplanned_dot(%p: !tt.ptr<f32>) {
  %0 = ub.poison : tensor<8x8xf32, #a>
  // expected-error @below {{needs the attribute `instruction`: fma, or mma. and a shape}}
  %1 = tt.dot %0, %0, %0, inputPrecision = ieee : tensor<8x8xf32, #a> * tensor<8x8xf32, #a> -> tensor<8x8xf32, #a>
  tt.return
}

// -----

#a = #twg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
tt.func public @wrong_fragments(%p: !tt.ptr<f32>) {
  %0 = ub.poison : tensor<8x8xf32, #a>
  // expected-error @below {{has operands whose layouts are not those of its result's}}
  %1 = tt.dot %0, %0, %0, inputPrecision = ieee {instruction = "fma"} : tensor<8x8xf32, #a> * tensor<8x8xf32, #a> -> tensor<8x8xf32, #a>
  tt.return
}

// -----

#a = #twg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @narrow_copy(%p: !tt.ptr<i8>) {
  %0 = tt.splat %p : !tt.ptr<i8> -> tensor<8x8x!tt.ptr<i8>, #a>
  %1 = twg.local_alloc -> !twg.memdesc<8x8xi8, #s>
  // expected-error @below {{needs accesses of 4, 8 or 16 bytes}}
  twg.async_copy %0, %1 {twg.vector = 2 : i32} : tensor<8x8x!tt.ptr<i8>, #a> -> !twg.memdesc<8x8xi8, #s>
  twg.async_commit
  tt.return
}

// -----

tt.func public @open_rounding(%p: !tt.ptr<f32>, %x: f32) {
  // expected-error @below {{leaves its rounding to the target}}
  %0 = arith.divf %x, %x : f32
  tt.return
}
