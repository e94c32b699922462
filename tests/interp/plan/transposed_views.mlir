// RUN: tiletwin-exec %s --backend=interp
// Reductions and scans of transposed loads, which are read where they lie: along the dimension that is not contiguous there.

tt.func public @rows_and_columns(%p: !tt.ptr<f64> {check.data = dense<[1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0]> : tensor<8xf64>}) {
  %c4 = arith.constant dense<4> : tensor<2x1xi32>
  %r = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %c = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %r2 = arith.muli %r1, %c4 : tensor<2x1xi32>
  %r3 = tt.broadcast %r2 : tensor<2x1xi32> -> tensor<2x4xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %c2 = tt.broadcast %c1 : tensor<1x4xi32> -> tensor<2x4xi32>
  %at = arith.addi %r3, %c2 : tensor<2x4xi32>
  %ps = tt.splat %p : !tt.ptr<f64> -> tensor<2x4x!tt.ptr<f64>>
  %q = tt.addptr %ps, %at : tensor<2x4x!tt.ptr<f64>>, tensor<2x4xi32>
  %x = tt.load %q : tensor<2x4x!tt.ptr<f64>>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xf64> -> tensor<4x2xf64>
  %inner = "tt.reduce"(%t) <{axis = 1 : i32}> ({
  ^bb0(%a: f64, %b: f64):
    %o = arith.addf %a, %b : f64
    tt.reduce.return %o : f64
  }) : (tensor<4x2xf64>) -> tensor<4xf64>
  check.eq %inner, dense<[11.0, 22.0, 33.0, 44.0]> : tensor<4xf64>
  %outer = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%a: f64, %b: f64):
    %o = arith.addf %a, %b : f64
    tt.reduce.return %o : f64
  }) : (tensor<4x2xf64>) -> tensor<2xf64>
  check.eq %outer, dense<[10.0, 100.0]> : tensor<2xf64>
  %scanned = "tt.scan"(%t) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f64, %b: f64):
    %o = arith.addf %a, %b : f64
    tt.scan.return %o : f64
  }) : (tensor<4x2xf64>) -> tensor<4x2xf64>
  check.eq %scanned, dense<[[1.0, 11.0], [2.0, 22.0], [3.0, 33.0], [4.0, 44.0]]> : tensor<4x2xf64>
  %largest = "tt.reduce"(%t) <{axis = 1 : i32}> ({
  ^bb0(%a: f64, %b: f64):
    %o = arith.maxnumf %a, %b : f64
    tt.reduce.return %o : f64
  }) : (tensor<4x2xf64>) -> tensor<4xf64>
  check.eq %largest, dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf64>
  tt.return
}
