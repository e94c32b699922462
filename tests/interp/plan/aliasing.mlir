// RUN: tiletwin-exec %s --backend=interp
// Loads are views of user memory and stores write strip by strip: results must be as if each operation ran whole, in order.

// The store walks the very addresses the load reads.
tt.func public @in_place(%p: !tt.ptr<i32> {check.data = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>,
                                           check.after = dense<[0, 1, 4, 9, 16, 25, 36, 49]> : tensor<8xi32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %q : tensor<8x!tt.ptr<i32>>
  %w = arith.muli %v, %v : tensor<8xi32>
  tt.store %q, %w : tensor<8x!tt.ptr<i32>>
  tt.return
}

// The store is one element further on: it must not feed the load.
tt.func public @shifted(%p: !tt.ptr<i32> {check.data = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<9xi32>,
                                          check.after = dense<[0, 10, 11, 12, 13, 14, 15, 16, 17]> : tensor<9xi32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %one = arith.constant dense<1> : tensor<8xi32>
  %ten = arith.constant dense<10> : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %q : tensor<8x!tt.ptr<i32>>
  %w = arith.addi %v, %ten : tensor<8xi32>
  %r = tt.addptr %q, %one : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %r, %w : tensor<8x!tt.ptr<i32>>
  tt.return
}

// A transposition in place: source view and destination overlap in another order.
tt.func public @transposed(%p: !tt.ptr<i32> {check.data = dense<[0, 1, 2, 3]> : tensor<4xi32>,
                                             check.after = dense<[0, 2, 1, 3]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %two = arith.constant dense<2> : tensor<2x1xi32>
  %r = tt.expand_dims %i {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %c = tt.expand_dims %i {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %r2 = arith.muli %r, %two : tensor<2x1xi32>
  %rb = tt.broadcast %r2 : tensor<2x1xi32> -> tensor<2x2xi32>
  %cb = tt.broadcast %c : tensor<1x2xi32> -> tensor<2x2xi32>
  %o = arith.addi %rb, %cb : tensor<2x2xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<2x2x!tt.ptr<i32>>
  %q = tt.addptr %ps, %o : tensor<2x2x!tt.ptr<i32>>, tensor<2x2xi32>
  %v = tt.load %q : tensor<2x2x!tt.ptr<i32>>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<2x2xi32> -> tensor<2x2xi32>
  tt.store %q, %t : tensor<2x2x!tt.ptr<i32>>
  tt.return
}

// A loaded value is used after its memory has been overwritten, by an elementwise operation and by a reduction.
tt.func public @used_after_store(%p: !tt.ptr<i32> {check.data = dense<[1, 2, 3, 4]> : tensor<4xi32>,
                                                   check.after = dense<[10, 11, 12, 13]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  tt.store %q, %i : tensor<4x!tt.ptr<i32>>
  %w = tt.load %q : tensor<4x!tt.ptr<i32>>
  %s = arith.addi %v, %w : tensor<4xi32>
  check.eq %s, dense<[1, 3, 5, 7]> : tensor<4xi32>
  %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%x: i32, %y: i32):
    %z = arith.addi %x, %y : i32
    tt.reduce.return %z : i32
  }) : (tensor<4xi32>) -> i32
  check.eq %sum, 10 : i32
  %ten = arith.constant dense<10> : tensor<4xi32>
  %f = arith.addi %i, %ten : tensor<4xi32>
  tt.store %q, %f : tensor<4x!tt.ptr<i32>>
  tt.return
}

// Two stores of one chain overlap: the later one wins, and both see the values loaded before.
tt.func public @stores_overlap(%p: !tt.ptr<i32> {check.data = dense<[1, 2, 3, 4, 5]> : tensor<5xi32>,
                                                 check.after = dense<[2, 101, 102, 103, 104]> : tensor<5xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %one = arith.constant dense<1> : tensor<4xi32>
  %hundred = arith.constant dense<100> : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %r = tt.addptr %q, %one : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  %a = arith.addi %v, %one : tensor<4xi32>
  %b = arith.addi %v, %hundred : tensor<4xi32>
  tt.store %q, %a : tensor<4x!tt.ptr<i32>>
  tt.store %r, %b : tensor<4x!tt.ptr<i32>>
  tt.return
}

// A view read before and after the first of two stores to its own addresses.
tt.func public @read_behind_first_store(%p: !tt.ptr<i32> {check.data = dense<[1, 2, 3, 4]> : tensor<4xi32>,
                                                          check.after = dense<[2, 4, 6, 8]> : tensor<4xi32>},
                                        %o: !tt.ptr<i32> {check.data = dense<0> : tensor<4xi32>,
                                                          check.after = dense<[3, 6, 9, 12]> : tensor<4xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %r = tt.addptr %os, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  %a = arith.addi %v, %v : tensor<4xi32>
  tt.store %q, %a : tensor<4x!tt.ptr<i32>>
  %b = arith.addi %a, %v : tensor<4xi32>
  tt.store %r, %b : tensor<4x!tt.ptr<i32>>
  tt.return
}

// All lanes write one address: the last in row-major order stays.
tt.func public @one_address(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<1xi32>, check.after = dense<7> : tensor<1xi32>}) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  tt.store %ps, %i : tensor<8x!tt.ptr<i32>>
  tt.return
}
