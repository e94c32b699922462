// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics

tt.func @make_range_c1() {
  // expected-error@+1 {{needs start < end, got 8 and 8}}
  %0 = tt.make_range {end = 8 : i32, start = 8 : i32} : tensor<8xi32>
  tt.return
}

// -----

tt.func @make_range_c2() {
  // expected-error@+1 {{has 8 numbers (end - start), but its result has shape 16}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<16xi32>
  tt.return
}

// -----

tt.func @tile_t1(%x: i32) {
  // expected-error@+1 {{gives a tile of rank 0}}
  %0 = tt.splat %x : i32 -> tensor<i32>
  tt.return
}

// -----

tt.func @tile_t2() {
  // expected-error@+1 {{gives extent 12 of tile 12, which is not a power of two}}
  %0 = tt.make_range {end = 12 : i32, start = 0 : i32} : tensor<12xi32>
  tt.return
}

// -----

tt.func @tile_t2_dynamic(%x: i32) {
  // expected-error@+1 {{gives extent ? of tile 4x?, which is not a power of two}}
  %0 = tt.splat %x : i32 -> tensor<4x?xi32>
  tt.return
}

// -----

tt.func @tile_t3(%x: i32) {
  // expected-error@+1 {{gives tile 2048x1024, which has more than 1048576 elements}}
  %0 = tt.splat %x : i32 -> tensor<2048x1024xi32>
  tt.return
}

// -----

tt.func @tile_t3_overflow(%x: i32) {
  // expected-error@+1 {{which has more than 1048576 elements}}
  %0 = tt.splat %x : i32 -> tensor<4611686018427387904x4611686018427387904x4xi32>
  tt.return
}

// -----

tt.func @splat_c1(%x: i32) {
  // expected-error@+1 {{needs one element type, got 'i32' and 'f32'}}
  %0 = tt.splat %x : i32 -> tensor<4xf32>
  tt.return
}

// -----

tt.func @unsplat_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs a tile of one element, got 4}}
  %0 = tt.unsplat %x : tensor<4xf32>
  tt.return
}

// -----

tt.func @expand_dims_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs 0 <= axis <= 1, got 2}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_c1_negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs 0 <= axis <= 1, got -1}}
  %0 = tt.expand_dims %x {axis = -1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{gives shape 1x4 for axis 0, but its result has 4x1}}
  %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs one element type, got 'f32' and 'f16'}}
  %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<4xf32> -> tensor<1x4xf16>
  tt.return
}

// -----

tt.func @broadcast_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs equal ranks, got 4 and 4x4}}
  %0 = tt.broadcast %x : tensor<4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @broadcast_c2(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{cannot turn 4x2 into 4x8}}
  %0 = tt.broadcast %x : tensor<4x2xf32> -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @reshape_c1(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{needs equal element counts, got 4x2 and 16}}
  %0 = tt.reshape %x : tensor<4x2xf32> -> tensor<16xf32>
  tt.return
}

// -----

tt.func @trans_c1(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{needs an order that permutes 0 .. 1}}
  %0 = tt.trans %x {order = array<i32: 1, 1>} : tensor<4x2xf32> -> tensor<2x2xf32>
  tt.return
}

// -----

tt.func @trans_c1_range(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{needs an order that permutes 0 .. 1}}
  %0 = tt.trans %x {order = array<i32: 0, 7>} : tensor<4x2xf32> -> tensor<4x2xf32>
  tt.return
}

// -----

tt.func @trans_c2(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{gives shape 2x4, but its result has 4x2}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x2xf32> -> tensor<4x2xf32>
  tt.return
}

// -----

tt.func @join_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs halves of shape S and a whole of shape Sx2, got 4 and 2x4}}
  %0 = tt.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  tt.return
}

// -----

tt.func @split_c1(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{needs halves of shape S and a whole of shape Sx2, got 2 and 2x4}}
  %0, %1 = tt.split %x : tensor<2x4xf32> -> tensor<2xf32>
  tt.return
}

// -----

tt.func @cat_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{gives shape 8, but its result has 4}}
  %0 = tt.cat %x, %x : tensor<4xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func @gather_c1(%x: tensor<4x8xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{needs equal ranks, got 4x8 and indices 4}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @gather_c2(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{needs 0 <= axis < 1, got 1}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @gather_c3(%x: tensor<4xf32>, %i: tensor<8xi32>) {
  // expected-error@+1 {{needs a result of the indices' shape 8, got 4}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4xf32>, tensor<8xi32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @gather_c4(%x: tensor<4x8xf32>, %i: tensor<4x4xi32>) {
  // expected-error@+1 {{needs equal extents except along axis 0, got 4x8 and indices 4x4}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x8xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>
  tt.return
}
