// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.make_range: start, start + 1, ... end - 1.

tt.func public @make_range_from_8() {
  %r = tt.make_range {end = 12 : i32, start = 8 : i32} : tensor<4xi32>
  check.eq %r, dense<[8, 9, 10, 11]> : tensor<4xi32>
  tt.return
}

tt.func public @make_range_below_zero() {
  %r = tt.make_range {end = 4 : i32, start = -4 : i32} : tensor<8xi32>
  check.eq %r, dense<[-4, -3, -2, -1, 0, 1, 2, 3]> : tensor<8xi32>
  tt.return
}

tt.func public @make_range_of_one() {
  %r = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>
  check.eq %r, dense<0> : tensor<1xi32>
  tt.return
}

tt.func public @make_range_squared() {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %r = arith.muli %i, %i : tensor<8xi32>
  check.eq %r, dense<[0, 1, 4, 9, 16, 25, 36, 49]> : tensor<8xi32>
  tt.return
}
