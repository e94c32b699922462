// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics

tt.func @addptr_shape(%p: tensor<4x!tt.ptr<f32>>, %i: tensor<8xi32>) {
  // expected-error@+1 {{needs one shape for all operands and results, got 4 and 8}}
  %0 = tt.addptr %p, %i : tensor<4x!tt.ptr<f32>>, tensor<8xi32>
  tt.return
}

// -----

tt.func @addptr_scalar_and_tile(%p: !tt.ptr<f32>, %i: tensor<8xi32>) {
  // expected-error@+1 {{needs one shape for all operands and results, got scalar and 8}}
  %0 = tt.addptr %p, %i : !tt.ptr<f32>, tensor<8xi32>
  tt.return
}

// -----

tt.func @load_mask_type(%p: tensor<4x!tt.ptr<f32>>, %m: tensor<4xi32>) {
  // expected-note@-1 {{prior use here}}
  // expected-error@+1 {{expects different type than prior uses: 'tensor<4xi1>' vs 'tensor<4xi32>'}}
  %0 = tt.load %p, %m : tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @load_mask_type_generic(%p: tensor<4x!tt.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error@+1 {{the mask is i1 of the pointer's shape}}
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x!tt.ptr<f32>>, tensor<8xi1>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @load_c1(%p: !tt.ptr<f32>, %o: f32) {
  // expected-error@+1 {{has `other` without a mask}}
  %0 = "tt.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @load_other_type(%p: !tt.ptr<f32>, %m: i1, %o: i32) {
  // expected-error@+1 {{other has the pointee's type}}
  %0 = "tt.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!tt.ptr<f32>, i1, i32) -> f32
  tt.return
}

// -----

tt.func @store_c1(%p: !tt.ptr<f32, "constant">, %x: f32) {
  // expected-error@+1 {{writes through a pointer into constant memory}}
  tt.store %p, %x : !tt.ptr<f32, "constant">
  tt.return
}

// -----

tt.func @prefetch_c1(%p: !tt.ptr<f32, "constant">) {
  // expected-error@+1 {{names constant memory, which has caches of its own}}
  tt.prefetch %p : !tt.ptr<f32, "constant">
  tt.return
}

// -----

tt.func @prefetch_mask_type(%p: tensor<4x!tt.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error@+1 {{the mask is i1 of the pointer's shape}}
  "tt.prefetch"(%p, %m) : (tensor<4x!tt.ptr<f32>>, tensor<8xi1>) -> ()
  tt.return
}

// -----

tt.func @store_value_type(%p: !tt.ptr<f32>, %x: f16) {
  // expected-error@+1 {{the value has the pointee's type}}
  "tt.store"(%p, %x) : (!tt.ptr<f32>, f16) -> ()
  tt.return
}

// -----

// expected-error@+1 {{a pointer points to a signless integer of 1, 8, 16, 32 or 64 bits, a float or a pointer, not 'tensor<4xf32>'}}
tt.func @ptr_c1(%p: !tt.ptr<tensor<4xf32>>) {
  tt.return
}

// -----

// expected-error@+1 {{the address space of a pointer is "constant" or absent}}
tt.func @ptr_space(%p: !tt.ptr<f32, "texture">) {
  tt.return
}

// -----

tt.func @atomic_rmw_c1(%p: !tt.ptr<i32>, %x: i64, %m: i1) {
  // expected-error@+1 {{val needs type 'i32', got 'i64'}}
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %x, %m : (!tt.ptr<i32>, i64, i1) -> i32
  tt.return
}

// -----

tt.func @atomic_rmw_c2(%p: !tt.ptr<f32>, %x: f32) {
  // expected-error@+1 {{cannot do max on 'f32'}}
  %0 = tt.atomic_rmw max, acq_rel, gpu, %p, %x : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @atomic_rmw_c3(%p: !tt.ptr<i8>, %x: i8) {
  // expected-error@+1 {{needs integers of 32 or 64 bits, got 'i8'}}
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %x : (!tt.ptr<i8>, i8) -> i8
  tt.return
}

// -----

tt.func @atomic_cas_c1(%p: !tt.ptr<i32>, %x: i64) {
  // expected-error@+1 {{cmp needs type 'i32', got 'i64'}}
  %0 = tt.atomic_cas acq_rel, gpu, %p, %x, %x : (!tt.ptr<i32>, i64, i64) -> i32
  tt.return
}

// -----

tt.func @atomic_cas_c2(%p: !tt.ptr<i8>, %x: i8) {
  // expected-error@+1 {{needs elements of 16, 32 or 64 bits, got 'i8'}}
  %0 = tt.atomic_cas acq_rel, gpu, %p, %x, %x : (!tt.ptr<i8>, i8, i8) -> i8
  tt.return
}

// -----

tt.func @atomic_load_c2(%p: !tt.ptr<i32>) {
  // expected-error@+1 {{needs sem relaxed or acquire, got release}}
  %0 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32
  tt.return
}

// -----

tt.func @atomic_store_c1(%p: !tt.ptr<i32>, %x: i32) {
  // expected-error@+1 {{needs sem relaxed or release, got acq_rel}}
  tt.atomic_store acq_rel, gpu, %p, %x : !tt.ptr<i32>
  tt.return
}

// -----

tt.func @atomic_poll_c1(%p: !tt.ptr<i64>, %x: i32) {
  // expected-error@+1 {{expected needs type 'i64', got 'i32'}}
  %0 = tt.atomic_poll acquire, gpu, %p, %x : !tt.ptr<i64>, i32 -> i1
  tt.return
}

// -----

tt.func @make_tensor_descriptor_c1(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
  // expected-error@+1 {{needs 2 extents and strides, got 1 and 2}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s, %s] : <f32>, <8x16xf32>
  tt.return
}

// -----

tt.func @make_tensor_descriptor_c2(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
  // expected-error@+1 {{needs a base of type '!tt.ptr<f32>', got '!tt.ptr<f16>'}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : <f16>, <16xf32>
  tt.return
}

// -----

tt.func @make_tensor_descriptor_c3(%p: !tt.ptr<i32>, %n: i32, %s: i64) {
  // expected-error@+1 {{pads with NaN, but the elements are 'si32'}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] {padding = 2 : i32} : <i32>, <16xsi32>
  tt.return
}

// -----

tt.func @descriptor_load_c1(%d: !tt.tensordesc<8x16xf32>, %i: i32) {
  // expected-error@+1 {{needs 2 indices, got 1}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
  tt.return
}

// -----

tt.func @descriptor_load_c2(%d: !tt.tensordesc<8x16xf32>, %i: i32) {
  // expected-error@+1 {{needs the descriptor's block 'tensor<8x16xf32>', got 'tensor<16x8xf32>'}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x16xf32> -> tensor<16x8xf32>
  tt.return
}

// -----

tt.func @descriptor_reduce_c3(%d: !tt.tensordesc<16xf32>, %i: i32, %x: tensor<16xf32>) {
  // expected-error@+1 {{cannot do xor on 'f32'}}
  tt.descriptor_reduce xor, %d[%i], %x : !tt.tensordesc<16xf32>, tensor<16xf32>
  tt.return
}

// -----

tt.func @descriptor_gather_c1(%d: !tt.tensordesc<8x16xf32>, %r: tensor<8xi32>, %i: i32) {
  // expected-error@+1 {{needs a descriptor with a block of 1xN, got '!tt.tensordesc<8x16xf32>'}}
  %0 = tt.descriptor_gather %d[%r, %i] : (!tt.tensordesc<8x16xf32>, tensor<8xi32>, i32) -> tensor<8x16xf32>
  tt.return
}

// -----

tt.func @descriptor_gather_c2(%d: !tt.tensordesc<1x16xf32>, %r: tensor<8xi64>, %i: i32) {
  // expected-error@+1 {{needs a rank-1 tile of i16 or i32 row numbers, got 'tensor<8xi64>'}}
  %0 = tt.descriptor_gather %d[%r, %i] : (!tt.tensordesc<1x16xf32>, tensor<8xi64>, i32) -> tensor<8x16xf32>
  tt.return
}

// -----

tt.func @descriptor_scatter_c3(%d: !tt.tensordesc<1x16xf32>, %r: tensor<8xi32>, %i: i32, %x: tensor<4x16xf32>) {
  // expected-error@+1 {{needs rows of type 'tensor<8x16xf32>', got 'tensor<4x16xf32>'}}
  tt.descriptor_scatter %d[%r, %i], %x : !tt.tensordesc<1x16xf32>, tensor<8xi32>, i32, tensor<4x16xf32>
  tt.return
}

// -----

// expected-error@+1 {{a tensor descriptor has 1 to 5 dimensions, got 6}}
tt.func @tensordesc_c1(%d: !tt.tensordesc<1x1x1x1x1x16xf32>) {
  tt.return
}

// -----

// expected-error@+1 {{a descriptor's block has extents that are powers of two, got 12}}
tt.func @tensordesc_c2(%d: !tt.tensordesc<12xf32>) {
  tt.return
}
