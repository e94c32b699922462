// RUN: tiletwin-exec %s --backend=interp
// Accesses outside their buffer: which element is named, and what has been written by then.

// Row 1 of a 2x4 box leaves the buffer at its third column.
tt.func public @first_bad_element(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<6xi32>})
    attributes {check.trap = "element 6 (index (1, 2))"} {
  %r = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %c = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %four = arith.constant dense<4> : tensor<2x1xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %rm = arith.muli %re, %four : tensor<2x1xi32>
  %rb = tt.broadcast %rm : tensor<2x1xi32> -> tensor<2x4xi32>
  %cb = tt.broadcast %ce : tensor<1x4xi32> -> tensor<2x4xi32>
  %o = arith.addi %rb, %cb : tensor<2x4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<2x4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %o : tensor<2x4x!tt.ptr<i32>>, tensor<2x4xi32>
  %v = tt.load %q : tensor<2x4x!tt.ptr<i32>>
  tt.store %q, %v : tensor<2x4x!tt.ptr<i32>>
  tt.return
}

// The first store is whole; of the second, which misses by one element, nothing is written.
tt.func public @store_past_the_end(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<8xi32>,
                                                     check.after = dense<[0, 1, 2, 3, 0, 0, 0, 0]> : tensor<8xi32>})
    attributes {check.trap = "4 bytes past the end"} {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %five = arith.constant dense<5> : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %r = tt.addptr %q, %five : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %q, %i : tensor<4x!tt.ptr<i32>>
  tt.store %r, %five : tensor<4x!tt.ptr<i32>>
  tt.return
}

// Masked-off lanes may point anywhere.
tt.func public @masked_lanes_are_free(%p: !tt.ptr<i32> {check.data = dense<[3, 4]> : tensor<2xi32>, check.after = dense<[0, 1]> : tensor<2xi32>},
                                      %n: i32 {check.value = 2 : i32}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %q, %m : tensor<8x!tt.ptr<i32>>
  check.eq %v, dense<[3, 4, 0, 0, 0, 0, 0, 0]> : tensor<8xi32>
  tt.store %q, %i, %m : tensor<8x!tt.ptr<i32>>
  tt.return
}

// Before the first byte.
tt.func public @negative_offset(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<8xi32>}) attributes {check.trap = "8 bytes before the start"} {
  %i = tt.make_range {end = 6 : i32, start = -2 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %q, %i : tensor<8x!tt.ptr<i32>>
  tt.return
}
