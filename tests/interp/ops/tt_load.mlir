// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.load: lane by lane; a lane whose mask is 0 reads no memory and gives `other`.

tt.func public @load_a_row(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = tt.load %q : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  tt.return
}

tt.func public @load_masked_by_0(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 0 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %o = arith.constant dense<-1.0> : tensor<8xf32>
  %r = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<-1.0> : tensor<8xf32>
  tt.return
}

tt.func public @load_masked_by_1(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 1 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %o = arith.constant dense<-1.0> : tensor<8xf32>
  %r = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<[0.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]> : tensor<8xf32>
  tt.return
}

tt.func public @load_masked_by_5(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 5 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %o = arith.constant dense<-1.0> : tensor<8xf32>
  %r = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<[0.0, 1.0, 2.0, 3.0, 4.0, -1.0, -1.0, -1.0]> : tensor<8xf32>
  tt.return
}

tt.func public @load_masked_by_8(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 8 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %o = arith.constant dense<-1.0> : tensor<8xf32>
  %r = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  tt.return
}

tt.func public @load_masked_by_100(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 100 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %o = arith.constant dense<-1.0> : tensor<8xf32>
  %r = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  tt.return
}

tt.func public @load_masked_by_minus_3(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = -3 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %o = arith.constant dense<-1.0> : tensor<8xf32>
  %r = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<-1.0> : tensor<8xf32>
  tt.return
}

tt.func public @load_masked_without_other(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 3 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %r = tt.load %q, %m : tensor<8x!tt.ptr<f32>>
  %z = arith.constant dense<9.0> : tensor<8xf32>
  %s = arith.select %m, %r, %z : tensor<8xi1>, tensor<8xf32>
  check.eq %s, dense<[0.0, 1.0, 2.0, 9.0, 9.0, 9.0, 9.0, 9.0]> : tensor<8xf32>
  tt.return
}

tt.func public @load_with_a_mask_of_memory_size(%p: !tt.ptr<f32> {check.data = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}, %n: i32 {check.value = 3 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %n8 : tensor<8xi32>
  %o = arith.constant dense<0.5> : tensor<8xf32>
  %r = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<[1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5, 0.5]> : tensor<8xf32>
  tt.return
}

tt.func public @load_with_a_ragged_mask(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %m = arith.constant dense<[true, false, false, true, true, false, true, false]> : tensor<8xi1>
  %o = arith.constant dense<[100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0]> : tensor<8xf32>
  %r = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<[0.0, 101.0, 102.0, 3.0, 4.0, 105.0, 6.0, 107.0]> : tensor<8xf32>
  tt.return
}

tt.func public @load_shifted(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 3 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = tt.splat %n : i32 -> tensor<4xi32>
  %j = arith.addi %i, %s : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %j : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<f32>>
  check.eq %r, dense<[3.0, 4.0, 5.0, 6.0]> : tensor<4xf32>
  tt.return
}

tt.func public @load_every_second_backwards(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = -2 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = tt.splat %n : i32 -> tensor<4xi32>
  %j = arith.muli %i, %s : tensor<4xi32>
  %seven = arith.constant dense<7> : tensor<4xi32>
  %k = arith.addi %j, %seven : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %k : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<f32>>
  check.eq %r, dense<[7.0, 5.0, 3.0, 1.0]> : tensor<4xf32>
  tt.return
}

tt.func public @load_one_address(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) {
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %r = tt.load %ps : tensor<4x!tt.ptr<f32>>
  check.eq %r, dense<0.0> : tensor<4xf32>
  tt.return
}

tt.func public @load_gathered(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) {
  %i = arith.constant dense<[7, 0, 0, 3]> : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<f32>>
  check.eq %r, dense<[7.0, 0.0, 0.0, 3.0]> : tensor<4xf32>
  tt.return
}

tt.func public @load_gathered_masked(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) {
  %i = arith.constant dense<[7, 1000000, -5, 3]> : tensor<4xi64>
  %m = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi64>
  %o = arith.constant dense<-1.0> : tensor<4xf32>
  %r = tt.load %q, %m, %o : tensor<4x!tt.ptr<f32>>
  check.eq %r, dense<[7.0, -1.0, -1.0, 3.0]> : tensor<4xf32>
  tt.return
}

tt.func public @load_scalar(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 6 : i32}) {
  %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
  %r = tt.load %q : !tt.ptr<f32>
  check.eq %r, 6.0 : f32
  tt.return
}

tt.func public @load_scalar_masked(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}, %n: i32 {check.value = 600 : i32}) {
  %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
  %f = arith.constant false
  %o = arith.constant 2.5 : f32
  %r = tt.load %q, %f, %o : !tt.ptr<f32>
  check.eq %r, 2.5 : f32
  tt.return
}

tt.func public @load_scalar_of_i8(%p: !tt.ptr<i8> {check.data = dense<-3> : tensor<1xi8>}) {
  %r = tt.load %p : !tt.ptr<i8>
  check.eq %r, -3 : i8
  %w = arith.extsi %r : i8 to i64
  check.eq %w, -3 : i64
  tt.return
}

tt.func public @load_volatile_with_a_cache_policy(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = tt.load %q {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %s = tt.load %q {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>} : tensor<8x!tt.ptr<f32>>
  %t = arith.addf %r, %s : tensor<8xf32>
  check.eq %t, dense<[0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]> : tensor<8xf32>
  tt.return
}

tt.func public @load_i8(%p: !tt.ptr<i8> {check.data = dense<[1, 2, 3, 4]> : tensor<4xi8>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<4x!tt.ptr<i8>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i8>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<i8>>
  check.eq %r, dense<[1, 2, 3, 4]> : tensor<4xi8>
  tt.return
}

tt.func public @load_i16(%p: !tt.ptr<i16> {check.data = dense<[1, 2, 3, 4]> : tensor<4xi16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i16> -> tensor<4x!tt.ptr<i16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i16>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<i16>>
  check.eq %r, dense<[1, 2, 3, 4]> : tensor<4xi16>
  tt.return
}

tt.func public @load_i64(%p: !tt.ptr<i64> {check.data = dense<[1, 2, 3, 4]> : tensor<4xi64>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i64> -> tensor<4x!tt.ptr<i64>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i64>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<i64>>
  check.eq %r, dense<[1, 2, 3, 4]> : tensor<4xi64>
  tt.return
}

tt.func public @load_f16(%p: !tt.ptr<f16> {check.data = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<4x!tt.ptr<f16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f16>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<f16>>
  check.eq %r, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf16>
  tt.return
}

tt.func public @load_bf16(%p: !tt.ptr<bf16> {check.data = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xbf16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<4x!tt.ptr<bf16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<bf16>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<bf16>>
  check.eq %r, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xbf16>
  tt.return
}

tt.func public @load_f64(%p: !tt.ptr<f64> {check.data = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f64> -> tensor<4x!tt.ptr<f64>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f64>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<f64>>
  check.eq %r, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>
  tt.return
}

tt.func public @load_f8E5M2(%p: !tt.ptr<f8E5M2> {check.data = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf8E5M2>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f8E5M2> -> tensor<4x!tt.ptr<f8E5M2>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f8E5M2>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<f8E5M2>>
  check.eq %r, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf8E5M2>
  tt.return
}

tt.func public @load_a_block_of_a_matrix(%p: !tt.ptr<i32> {check.data = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10, 11, 12, 13, 14, 15, 16, 17, 18, 19], [20, 21, 22, 23, 24, 25, 26, 27, 28, 29]]> : tensor<3x10xi32>}, %s: i32 {check.value = 10 : i32}, %m: i32 {check.value = 3 : i32}, %n: i32 {check.value = 6 : i32}) {
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
  %e = arith.constant dense<-1> : tensor<4x8xi32>
  %r = tt.load %q, %mask, %e : tensor<4x8x!tt.ptr<i32>>
  check.eq %r, dense<[[0, 1, 2, 3, 4, 5, -1, -1], [10, 11, 12, 13, 14, 15, -1, -1], [20, 21, 22, 23, 24, 25, -1, -1], [-1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<4x8xi32>
  tt.return
}

tt.func public @load_nothing_of_a_matrix(%p: !tt.ptr<i32> {check.data = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10, 11, 12, 13, 14, 15, 16, 17, 18, 19], [20, 21, 22, 23, 24, 25, 26, 27, 28, 29]]> : tensor<3x10xi32>}, %s: i32 {check.value = 10 : i32}, %m: i32 {check.value = 0 : i32}, %n: i32 {check.value = 6 : i32}) {
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
  %e = arith.constant dense<-1> : tensor<4x8xi32>
  %r = tt.load %q, %mask, %e : tensor<4x8x!tt.ptr<i32>>
  check.eq %r, dense<-1> : tensor<4x8xi32>
  tt.return
}

tt.func public @load_a_block_then_use_it_twice(%p: !tt.ptr<i32> {check.data = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10, 11, 12, 13, 14, 15, 16, 17, 18, 19], [20, 21, 22, 23, 24, 25, 26, 27, 28, 29]]> : tensor<3x10xi32>}, %s: i32 {check.value = 10 : i32}, %m: i32 {check.value = 3 : i32}, %n: i32 {check.value = 6 : i32}) {
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
  %e = arith.constant dense<-1> : tensor<4x8xi32>
  %r = tt.load %q, %mask, %e : tensor<4x8x!tt.ptr<i32>>
  %t = tt.trans %r {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  %u = "tt.reduce"(%r) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<4x8xi32>) -> tensor<4xi32>
  check.eq %t, dense<[[0, 10, 20, -1], [1, 11, 21, -1], [2, 12, 22, -1], [3, 13, 23, -1], [4, 14, 24, -1], [5, 15, 25, -1], [-1, -1, -1, -1], [-1, -1, -1, -1]]> : tensor<8x4xi32>
  check.eq %u, dense<[13, 73, 133, -8]> : tensor<4xi32>
  tt.return
}

tt.func public @past_the_end(%p: !tt.ptr<f32> {check.data = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}) attributes {check.trap = "tl.load: program (0, 0, 0), element 3: reads 4 bytes at offset 12 of arg0 (12 bytes): 4 bytes past the end"} {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = tt.load %q : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<0.0> : tensor<8xf32>
  tt.return
}

tt.func public @before_the_start(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) attributes {check.trap = "element 0: reads 4 bytes at offset -8 of arg0 (32 bytes): 8 bytes before the start"} {
  %c = arith.constant -2 : i32
  %b = tt.addptr %p, %c : !tt.ptr<f32>, i32
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %b : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = tt.load %q : tensor<8x!tt.ptr<f32>>
  check.eq %r, dense<0.0> : tensor<8xf32>
  tt.return
}

tt.func public @scalar_past_the_end(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) attributes {check.trap = "tl.load: program (0, 0, 0): reads 4 bytes at offset 32 of arg0 (32 bytes): 4 bytes past the end"} {
  %c = arith.constant 8 : i32
  %q = tt.addptr %p, %c : !tt.ptr<f32>, i32
  %r = tt.load %q : !tt.ptr<f32>
  check.eq %r, 0.0 : f32
  tt.return
}

tt.func public @gathered_past_the_end(%p: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>}) attributes {check.trap = "element 2: reads 4 bytes at offset 36 of arg0 (32 bytes): 8 bytes past the end"} {
  %i = arith.constant dense<[0, 5, 9, 3]> : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %r = tt.load %q : tensor<4x!tt.ptr<f32>>
  check.eq %r, dense<0.0> : tensor<4xf32>
  tt.return
}

tt.func public @block_past_the_end(%p: !tt.ptr<i32> {check.data = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10, 11, 12, 13, 14, 15, 16, 17, 18, 19], [20, 21, 22, 23, 24, 25, 26, 27, 28, 29]]> : tensor<3x10xi32>}, %s: i32 {check.value = 10 : i32}) attributes {check.trap = "element 24 (index (3, 0)): reads 4 bytes at offset 120 of arg0 (120 bytes): 4 bytes past the end"} {
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
  %m = arith.constant 4 : i32
  %n = arith.constant 8 : i32
  %m4 = tt.splat %m : i32 -> tensor<4x1xi32>
  %n8 = tt.splat %n : i32 -> tensor<1x8xi32>
  %mm = arith.cmpi slt, %ie, %m4 : tensor<4x1xi32>
  %mn = arith.cmpi slt, %je, %n8 : tensor<1x8xi32>
  %mmb = tt.broadcast %mm : tensor<4x1xi1> -> tensor<4x8xi1>
  %mnb = tt.broadcast %mn : tensor<1x8xi1> -> tensor<4x8xi1>
  %mask = arith.andi %mmb, %mnb : tensor<4x8xi1>
  %r = tt.load %q, %mask : tensor<4x8x!tt.ptr<i32>>
  check.eq %r, dense<0> : tensor<4x8xi32>
  tt.return
}

tt.func public @null_pointer() attributes {check.trap = "a null pointer"} {
  %z = arith.constant 0 : i64
  %q = tt.int_to_ptr %z : i64 -> !tt.ptr<f32>
  %r = tt.load %q : !tt.ptr<f32>
  check.eq %r, 0.0 : f32
  tt.return
}
