// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics
// What the verifiers of twg refuse: layouts that are none, tiles that do not fit each other.

// expected-error @below {{every vector of a layout has one coordinate for each dimension}}
#l = #twg.linear<{register = [[1], [0, 1]], lane = [], warp = [], block = []}>

// -----

#l = #twg.linear<{register = [[1]], lane = [], warp = [], block = []}>
tt.func public @rank() {
  // expected-error @below {{a layout of rank 1 on a tile of rank 2}}
  %0 = ub.poison : tensor<1x2xf32, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[1], [2]], lane = [], warp = [], block = []}>
tt.func public @outside() {
  // expected-error @below {{coordinate 2 of a layout lies outside of the tile's extent 2}}
  %0 = ub.poison : tensor<2xf32, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[1], [1]], lane = [], warp = [], block = []}>
tt.func public @dependent() {
  // expected-error @below {{the layout is not one: a basis of register is the sum of others}}
  %0 = ub.poison : tensor<2xf32, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[1]], lane = [], warp = [], block = []}>
tt.func public @incomplete() {
  // expected-error @below {{it holds 2 of the tile's 4 elements}}
  %0 = ub.poison : tensor<4xf32, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[1]], lane = [], warp = [], block = []}>
tt.func public @converted_type() {
  %0 = ub.poison : tensor<2xf32, #l>
  // expected-error @below {{needs one shape and element type}}
  %1 = twg.convert_layout %0 : tensor<2xf32, #l> -> tensor<2xf16, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[1]], lane = [], warp = [], block = []}>
tt.func public @converted_to_nothing() {
  %0 = ub.poison : tensor<2xf32, #l>
  // expected-error @below {{needs a layout on both sides}}
  %1 = twg.convert_layout %0 : tensor<2xf32, #l> -> tensor<2xf32>
  tt.return
}

// -----

// expected-error @below {{swizzle is 0, 32, 64 or 128 bytes, not 16}}
#s = #twg.shared<contiguous = 1, swizzle = 16>

// -----

// expected-error @below {{a tile in shared memory has two dimensions or more}}
tt.func private @memory(!twg.memdesc<32xf32, #twg.shared<contiguous = 0, swizzle = 0>>)

// -----

// expected-error @below {{extents in shared memory are powers of two, not 12}}
tt.func private @memory(!twg.memdesc<8x12xf32, #twg.shared<contiguous = 1, swizzle = 0>>)

// -----

// expected-error @below {{elements in shared memory are numbers of 8 bits or more, not 'i1'}}
tt.func private @memory(!twg.memdesc<8x8xi1, #twg.shared<contiguous = 1, swizzle = 0>>)

// -----

// expected-error @below {{the contiguous dimension is one of the last two, not 0}}
tt.func private @memory(!twg.memdesc<8x8x8xf32, #twg.shared<contiguous = 0, swizzle = 0>>)

// -----

// expected-error @below {{rows of 32 bytes are shorter than the swizzle of 64}}
tt.func private @memory(!twg.memdesc<8x8xf32, #twg.shared<contiguous = 1, swizzle = 64>>)

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @allocated() {
  %0 = ub.poison : tensor<2x2xf32, #l>
  // expected-error @below {{needs one shape and element type}}
  %1 = twg.local_alloc %0 : tensor<2x2xf32, #l> -> !twg.memdesc<2x4xf32, #s>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @loaded(%m: !twg.memdesc<2x2xf32, #s>) {
  // expected-error @below {{needs one shape and element type}}
  %0 = twg.local_load %m : !twg.memdesc<2x2xf32, #s> -> tensor<2x2xi32, #l>
  tt.return
}

// -----

tt.func public @indexed(%m: !twg.memdesc<3x2x2xf32, #twg.shared<contiguous = 2, swizzle = 0>>, %i: i32) {
  // expected-error @below {{needs a result that is one buffer of}}
  %0 = twg.memdesc_index %m[%i] : !twg.memdesc<3x2x2xf32, #twg.shared<contiguous = 2, swizzle = 0>> -> !twg.memdesc<2x4xf32, #twg.shared<contiguous = 1, swizzle = 0>>
  tt.return
}

// -----

tt.func public @indexed_in_another_order(%m: !twg.memdesc<2x2x2xf32, #twg.shared<contiguous = 2, swizzle = 0>>, %i: i32) {
  // expected-error @below {{needs the order of elements of}}
  %0 = twg.memdesc_index %m[%i] : !twg.memdesc<2x2x2xf32, #twg.shared<contiguous = 2, swizzle = 0>> -> !twg.memdesc<2x2xf32, #twg.shared<contiguous = 0, swizzle = 0>>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @copied_numbers(%m: !twg.memdesc<2x2xi64, #s>) {
  %0 = ub.poison : tensor<2x2xi64, #l>
  // expected-error @below {{needs a tile of pointers}}
  twg.async_copy %0, %m : tensor<2x2xi64, #l> -> !twg.memdesc<2x2xi64, #s>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @copied_as_others(%m: !twg.memdesc<2x2xf32, #s>, %p: !tt.ptr<f16>) {
  %0 = tt.splat %p : !tt.ptr<f16> -> tensor<2x2x!tt.ptr<f16>, #l>
  // expected-error @below {{needs one shape and element type}}
  twg.async_copy %0, %m : tensor<2x2x!tt.ptr<f16>, #l> -> !twg.memdesc<2x2xf32, #s>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @copied_under_numbers(%m: !twg.memdesc<2x2xf32, #s>, %p: !tt.ptr<f32>) {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<2x2x!tt.ptr<f32>, #l>
  %1 = ub.poison : tensor<2x2xi8, #l>
  // expected-error @below {{needs a mask of i1}}
  twg.async_copy %0, %m mask %1 : tensor<2x2x!tt.ptr<f32>, #l> -> !twg.memdesc<2x2xf32, #s>, tensor<2x2xi8, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
tt.func public @rounded() {
  %0 = ub.poison : tensor<2x2xf16, #l>
  // expected-error @below {{operand #0 must be ranked tensor of 32-bit float values}}
  %1 = "twg.round_to_tf32"(%0) : (tensor<2x2xf16, #l>) -> tensor<2x2xf32, #l>
  tt.return
}

// -----

tt.func public @noted(%x: i32) {
  // expected-error @below {{has a value and a constant}}
  twg.note 0, "x", "int32" constant 1 : i64 holds %x : i32
  tt.return
}
