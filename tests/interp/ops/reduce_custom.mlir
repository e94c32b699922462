// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce with regions of several operations and several operands.

tt.func public @largest_magnitude() {
  %x = arith.constant dense<[[7.0, -5.0, 3.0, -2.0, -8.0, -6.0, -2.0, 2.0], [-5.0, -6.0, 4.0, -4.0, 5.0, 4.0, 2.0, -4.0], [-9.0, -2.0, -3.0, 9.0, -5.0, -5.0, 2.0, -5.0], [1.0, -7.0, -9.0, -6.0, -8.0, 0.0, 3.0, -7.0]]> : tensor<4x8xf32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %p = math.absf %a0 : f32
    %q = math.absf %b0 : f32
    %o0 = arith.maxnumf %p, %q : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  check.eq %r, dense<[8.0, 6.0, 9.0, 9.0]> : tensor<4xf32>
  tt.return
}

tt.func public @largest_magnitude_axis_0() {
  %x = arith.constant dense<[[7.0, -5.0, 3.0, -2.0, -8.0, -6.0, -2.0, 2.0], [-5.0, -6.0, 4.0, -4.0, 5.0, 4.0, 2.0, -4.0], [-9.0, -2.0, -3.0, 9.0, -5.0, -5.0, 2.0, -5.0], [1.0, -7.0, -9.0, -6.0, -8.0, 0.0, 3.0, -7.0]]> : tensor<4x8xf32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %p = math.absf %a0 : f32
    %q = math.absf %b0 : f32
    %o0 = arith.maxnumf %p, %q : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<4x8xf32>) -> tensor<8xf32>
  check.eq %r, dense<[9.0, 7.0, 9.0, 9.0, 8.0, 6.0, 3.0, 7.0]> : tensor<8xf32>
  tt.return
}

tt.func public @sum_and_largest() {
  %x = arith.constant dense<[[7, -5, 3, -2, -8, -6, -2, 2], [-5, -6, 4, -4, 5, 4, 2, -4], [-9, -2, -3, 9, -5, -5, 2, -5], [1, -7, -9, -6, -8, 0, 3, -7]]> : tensor<4x8xi32>
  %y = arith.constant dense<[[20, -16, 8, -7, -25, -19, -7, 5], [-16, -19, 11, -13, 14, 11, 5, -13], [-28, -7, -10, 26, -16, -16, 5, -16], [2, -22, -28, -19, -25, -1, 8, -22]]> : tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %y) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %o0 = arith.addi %a0, %b0 : i32
    %o1 = arith.maxsi %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i32, i32
  }) : (tensor<4x8xi32>, tensor<4x8xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.eq %r#0, dense<[-11, -4, -18, -33]> : tensor<4xi32>
  check.eq %r#1, dense<[20, 14, 26, 8]> : tensor<4xi32>
  tt.return
}

tt.func public @operands_of_different_types() {
  %x = arith.constant dense<[[7.0, -5.0, 3.0, -2.0, -8.0, -6.0, -2.0, 2.0], [-5.0, -6.0, 4.0, -4.0, 5.0, 4.0, 2.0, -4.0], [-9.0, -2.0, -3.0, 9.0, -5.0, -5.0, 2.0, -5.0], [1.0, -7.0, -9.0, -6.0, -8.0, 0.0, 3.0, -7.0]]> : tensor<4x8xf32>
  %y = arith.constant dense<[[20, -16, 8, -7, -25, -19, -7, 5], [-16, -19, 11, -13, 14, 11, 5, -13], [-28, -7, -10, 26, -16, -16, 5, -16], [2, -22, -28, -19, -25, -1, 8, -22]]> : tensor<4x8xi64>
  %r:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %a1: i64, %b0: f32, %b1: i64):
    %o0 = arith.addf %a0, %b0 : f32
    %o1 = arith.xori %a1, %b1 : i64
    tt.reduce.return %o0, %o1 : f32, i64
  }) : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<8xf32>, tensor<8xi64>)
  check.eq %r#0, dense<[-6.0, -20.0, -5.0, -3.0, -16.0, -7.0, 5.0, -14.0]> : tensor<8xf32>
  check.eq %r#1, dense<[2, 14, 17, -3, -2, -23, -15, -20]> : tensor<8xi64>
  tt.return
}

tt.func public @custom_of_one_element() {
  %x = arith.constant dense<-3.0> : tensor<1xf32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %b0: f32):
    %p = math.absf %a0 : f32
    %q = math.absf %b0 : f32
    %o0 = arith.maxnumf %p, %q : f32
    tt.reduce.return %o0 : f32
  }) : (tensor<1xf32>) -> f32
  check.eq %r, -3.0 : f32
  tt.return
}

tt.func public @custom_to_a_scalar() {
  %x = arith.constant dense<[7, -5, 3, -2, -8, -6, -2, 2, -5, -6, 4, -4, 5, 4, 2, -4, -9, -2, -3, 9, -5, -5, 2, -5, 1, -7, -9, -6, -8, 0, 3, -7]> : tensor<32xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %c = arith.constant 1 : i32
    %p = arith.addi %a0, %b0 : i32
    %z = arith.subi %c, %c : i32
    %o0 = arith.addi %p, %z : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<32xi32>) -> i32
  check.eq %r, -66 : i32
  tt.return
}

tt.func public @reduce_of_a_computed_tile() {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %x = arith.muli %i, %i : tensor<64xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %b0: i32):
    %o0 = arith.addi %a0, %b0 : i32
    tt.reduce.return %o0 : i32
  }) : (tensor<64xi32>) -> i32
  check.eq %r, 85344 : i32
  tt.return
}
