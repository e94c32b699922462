// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.histogram: how many elements equal each bin's number; others are not counted.

tt.func public @histogram() {
  %x = arith.constant dense<[0, 1, 1, 3, 3, 3, -1, 4, 7, 2, 0, 0, 100, -5, 3, 2]> : tensor<16xi32>
  %r = tt.histogram %x : tensor<16xi32> -> tensor<4xi32>
  check.eq %r, dense<[3, 2, 2, 4]> : tensor<4xi32>
  tt.return
}

tt.func public @histogram_with_a_mask() {
  %x = arith.constant dense<[0, 1, 1, 3, 3, 3, -1, 4, 7, 2, 0, 0, 100, -5, 3, 2]> : tensor<16xi32>
  %m = arith.constant dense<[false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false]> : tensor<16xi1>
  %r = tt.histogram %x, %m : tensor<16xi32> -> tensor<8xi32>
  check.eq %r, dense<[2, 2, 0, 3, 1, 0, 0, 1]> : tensor<8xi32>
  tt.return
}

tt.func public @histogram_of_nothing() {
  %x = arith.constant dense<[0, 1, 1, 3, 3, 3, -1, 4, 7, 2, 0, 0, 100, -5, 3, 2]> : tensor<16xi32>
  %m = arith.constant dense<false> : tensor<16xi1>
  %r = tt.histogram %x, %m : tensor<16xi32> -> tensor<2xi32>
  check.eq %r, dense<0> : tensor<2xi32>
  tt.return
}
