// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.store: lane by lane; a lane whose mask is 0 writes nothing.

tt.func public @store_a_row(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<8xf32>, check.after = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  tt.store %q, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @store_masked(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<8xf32>, check.after = dense<[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<8xf32>}, %n: i32 {check.value = 3 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  tt.store %q, %v, %m : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @store_nothing(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<2xf32>, check.after = dense<0.0> : tensor<2xf32>}, %n: i32 {check.value = 0 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  tt.store %q, %v, %m : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @store_with_a_ragged_mask(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<8xf32>, check.after = dense<[1.0, 0.0, 0.0, 4.0, 5.0, 0.0, 7.0, 0.0]> : tensor<8xf32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %m = arith.constant dense<[true, false, false, true, true, false, true, false]> : tensor<8xi1>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  tt.store %q, %v, %m : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @store_scattered(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<8xf32>, check.after = dense<[2.0, 0.0, 3.0, 0.0, 0.0, 4.0, 0.0, 1.0]> : tensor<8xf32>}) {
  %i = arith.constant dense<[7, 0, 2, 5]> : tensor<4xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.store %q, %v : tensor<4x!tt.ptr<f32>>
  tt.return
}

tt.func public @the_last_lane_wins(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<2xf32>, check.after = dense<[4.0, 3.0]> : tensor<2xf32>}) {
  %i = arith.constant dense<[1, 1, 1, 0]> : tensor<4xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.store %q, %v : tensor<4x!tt.ptr<f32>>
  tt.return
}

tt.func public @the_last_lane_wins_at_one_address(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<2xf32>, check.after = dense<[4.0, 0.0]> : tensor<2xf32>}) {
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  tt.store %ps, %v : tensor<4x!tt.ptr<f32>>
  tt.return
}

tt.func public @store_a_splat(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<8xf32>, check.after = dense<2.5> : tensor<8xf32>}, %x: f32 {check.value = 2.5 : f32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.splat %x : f32 -> tensor<8xf32>
  tt.store %q, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @store_scalar(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<3xf32>, check.after = dense<[0.0, 2.5, 0.0]> : tensor<3xf32>}, %x: f32 {check.value = 2.5 : f32}) {
  %c = arith.constant 1 : i32
  %q = tt.addptr %p, %c : !tt.ptr<f32>, i32
  tt.store %q, %x : !tt.ptr<f32>
  tt.return
}

tt.func public @store_scalar_masked(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<1xf32>, check.after = dense<0.0> : tensor<1xf32>}, %x: f32 {check.value = 2.5 : f32}) {
  %f = arith.constant false
  tt.store %p, %x, %f : !tt.ptr<f32>
  tt.return
}

tt.func public @store_i8(%p: !tt.ptr<i8> {check.data = dense<0> : tensor<4xi8>, check.after = dense<[1, 2, 3, 4]> : tensor<4xi8>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<4x!tt.ptr<i8>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i8>>, tensor<4xi32>
  %v = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  tt.store %q, %v : tensor<4x!tt.ptr<i8>>
  tt.return
}

tt.func public @store_i16(%p: !tt.ptr<i16> {check.data = dense<0> : tensor<4xi16>, check.after = dense<[1, 2, 3, 4]> : tensor<4xi16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i16> -> tensor<4x!tt.ptr<i16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i16>>, tensor<4xi32>
  %v = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi16>
  tt.store %q, %v : tensor<4x!tt.ptr<i16>>
  tt.return
}

tt.func public @store_i64(%p: !tt.ptr<i64> {check.data = dense<0> : tensor<4xi64>, check.after = dense<[1, 2, 3, 4]> : tensor<4xi64>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i64> -> tensor<4x!tt.ptr<i64>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i64>>, tensor<4xi32>
  %v = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  tt.store %q, %v : tensor<4x!tt.ptr<i64>>
  tt.return
}

tt.func public @store_f16(%p: !tt.ptr<f16> {check.data = dense<0.0> : tensor<4xf16>, check.after = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<4x!tt.ptr<f16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f16>>, tensor<4xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf16>
  tt.store %q, %v : tensor<4x!tt.ptr<f16>>
  tt.return
}

tt.func public @store_bf16(%p: !tt.ptr<bf16> {check.data = dense<0.0> : tensor<4xbf16>, check.after = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xbf16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<4x!tt.ptr<bf16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<bf16>>, tensor<4xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xbf16>
  tt.store %q, %v : tensor<4x!tt.ptr<bf16>>
  tt.return
}

tt.func public @store_f64(%p: !tt.ptr<f64> {check.data = dense<0.0> : tensor<4xf64>, check.after = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f64> -> tensor<4x!tt.ptr<f64>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f64>>, tensor<4xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>
  tt.store %q, %v : tensor<4x!tt.ptr<f64>>
  tt.return
}

tt.func public @store_f8E5M2(%p: !tt.ptr<f8E5M2> {check.data = dense<0.0> : tensor<4xf8E5M2>, check.after = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf8E5M2>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f8E5M2> -> tensor<4x!tt.ptr<f8E5M2>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f8E5M2>>, tensor<4xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf8E5M2>
  tt.store %q, %v : tensor<4x!tt.ptr<f8E5M2>>
  tt.return
}

tt.func public @store_a_block_of_a_matrix(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<3x10xi32>, check.after = dense<[[1, 2, 3, 4, 5, 6, 0, 0, 0, 0], [9, 10, 11, 12, 13, 14, 0, 0, 0, 0], [17, 18, 19, 20, 21, 22, 0, 0, 0, 0]]> : tensor<3x10xi32>}, %s: i32 {check.value = 10 : i32}, %m: i32 {check.value = 3 : i32}, %n: i32 {check.value = 6 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %j = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %ss = tt.splat %s : i32 -> tensor<4x1xi32>
  %is = arith.muli %ie, %ss : tensor<4x1xi32>
  %ib = tt.broadcast %is : tensor<4x1xi32> -> tensor<4x8xi32>
  %jb = tt.broadcast %je : tensor<1x8xi32> -> tensor<4x8xi32>
  %o = arith.addi %ib, %jb : tensor<4x8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %o : tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>
  %m4 = tt.splat %m : i32 -> tensor<4x1xi32>
  %n8 = tt.splat %n : i32 -> tensor<1x8xi32>
  %mm = arith.cmpi slt, %ie, %m4 : tensor<4x1xi32>
  %mn = arith.cmpi slt, %je, %n8 : tensor<1x8xi32>
  %mmb = tt.broadcast %mm : tensor<4x1xi1> -> tensor<4x8xi1>
  %mnb = tt.broadcast %mn : tensor<1x8xi1> -> tensor<4x8xi1>
  %mask = arith.andi %mmb, %mnb : tensor<4x8xi1>
  %v = arith.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13, 14, 15, 16], [17, 18, 19, 20, 21, 22, 23, 24], [25, 26, 27, 28, 29, 30, 31, 32]]> : tensor<4x8xi32>
  tt.store %q, %v, %mask : tensor<4x8x!tt.ptr<i32>>
  tt.return
}

tt.func public @store_transposed(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<4x8xi32>, check.after = dense<[[0, 4, 8, 12, 16, 20, 24, 28], [1, 5, 9, 13, 17, 21, 25, 29], [2, 6, 10, 14, 18, 22, 26, 30], [3, 7, 11, 15, 19, 23, 27, 31]]> : tensor<4x8xi32>}, %s: i32 {check.value = 8 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %j = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %ss = tt.splat %s : i32 -> tensor<4x1xi32>
  %is = arith.muli %ie, %ss : tensor<4x1xi32>
  %ib = tt.broadcast %is : tensor<4x1xi32> -> tensor<4x8xi32>
  %jb = tt.broadcast %je : tensor<1x8xi32> -> tensor<4x8xi32>
  %o = arith.addi %ib, %jb : tensor<4x8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %o : tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>
  %v = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<8x4xi32>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
  tt.store %q, %t : tensor<4x8x!tt.ptr<i32>>
  tt.return
}

tt.func public @load_after_store_sees_it(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %a = tt.load %q : tensor<8x!tt.ptr<f32>>
  %b = arith.addf %a, %a : tensor<8xf32>
  tt.store %q, %b : tensor<8x!tt.ptr<f32>>
  %c = tt.load %q : tensor<8x!tt.ptr<f32>>
  check.eq %a, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  check.eq %c, dense<[0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]> : tensor<8xf32>
  tt.return
}

tt.func public @shift_within_one_buffer(%p: !tt.ptr<f32> {check.data = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<9xf32>, check.after = dense<[1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<9xf32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %one = arith.constant 1 : i32
  %p1 = tt.addptr %p, %one : !tt.ptr<f32>, i32
  %ps1 = tt.splat %p1 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q1 = tt.addptr %ps1, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %a = tt.load %q : tensor<8x!tt.ptr<f32>>
  tt.store %q1, %a : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @past_the_end(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<3xf32>, check.after = dense<0.0> : tensor<3xf32>}) attributes {check.trap = "tl.store: program (0, 0, 0), element 3: writes 4 bytes at offset 12 of arg0 (12 bytes): 4 bytes past the end"} {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  tt.store %q, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @scattered_before_the_start(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<8xf32>, check.after = dense<0.0> : tensor<8xf32>}) attributes {check.trap = "element 1: writes 4 bytes at offset -4 of arg0 (32 bytes): 4 bytes before the start"} {
  %i = arith.constant dense<[0, -1, 2, 5]> : tensor<4xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.store %q, %v : tensor<4x!tt.ptr<f32>>
  tt.return
}

tt.func public @read_only(%p: !tt.ptr<f32> {check.readonly, check.data = dense<0.0> : tensor<8xf32>, check.after = dense<0.0> : tensor<8xf32>}) attributes {check.trap = "of arg0 (32 bytes), which is read-only"} {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  tt.store %q, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}
