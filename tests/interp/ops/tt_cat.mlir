// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.cat: the elements of both tiles; the interpreter puts the first tile first.

tt.func public @cat_i32() {
  %a = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %b = arith.constant dense<[100, 101, 102, 103]> : tensor<4xi32>
  %r = tt.cat %a, %b : tensor<4xi32> -> tensor<8xi32>
  check.eq %r, dense<[0, 1, 2, 3, 100, 101, 102, 103]> : tensor<8xi32>
  tt.return
}

tt.func public @cat_f16() {
  %a = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf16>
  %b = arith.constant dense<[100.0, 101.0, 102.0, 103.0]> : tensor<4xf16>
  %r = tt.cat %a, %b : tensor<4xf16> -> tensor<8xf16>
  check.eq %r, dense<[0.0, 1.0, 2.0, 3.0, 100.0, 101.0, 102.0, 103.0]> : tensor<8xf16>
  tt.return
}

tt.func public @cat_i1() {
  %a = arith.constant dense<[false, true, false, true]> : tensor<4xi1>
  %b = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %r = tt.cat %a, %b : tensor<4xi1> -> tensor<8xi1>
  check.eq %r, dense<[false, true, false, true, true, false, true, false]> : tensor<8xi1>
  tt.return
}

tt.func public @cat_f64() {
  %a = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf64>
  %b = arith.constant dense<[100.0, 101.0, 102.0, 103.0]> : tensor<4xf64>
  %r = tt.cat %a, %b : tensor<4xf64> -> tensor<8xf64>
  check.eq %r, dense<[0.0, 1.0, 2.0, 3.0, 100.0, 101.0, 102.0, 103.0]> : tensor<8xf64>
  tt.return
}
