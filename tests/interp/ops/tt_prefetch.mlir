// RUN: tiletwin-exec %s --backend=interp
// tt.prefetch changes nothing and traps nowhere, wherever its pointers are.

tt.func public @memory_stays(%p: !tt.ptr<f32> {check.data = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>, check.after = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %m = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  tt.prefetch %q, %m : tensor<4x!tt.ptr<f32>>
  tt.prefetch %q : tensor<4x!tt.ptr<f32>>
  %x = tt.load %q : tensor<4x!tt.ptr<f32>>
  check.eq %x, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  tt.return
}

tt.func public @outside_is_allowed(%p: !tt.ptr<i16> {check.data = dense<7> : tensor<2xi16>, check.after = dense<7> : tensor<2xi16>}) {
  %i = arith.constant dense<[0, 1, 2, 1000000, -1, -1000000, 5, 6]> : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i16> -> tensor<8x!tt.ptr<i16>>
  %q = tt.addptr %ps, %i : tensor<8x!tt.ptr<i16>>, tensor<8xi32>
  tt.prefetch %q : tensor<8x!tt.ptr<i16>>
  tt.return
}

tt.func public @scalar(%p: !tt.ptr<i64> {check.data = dense<[1, 2]> : tensor<2xi64>, check.after = dense<[1, 2]> : tensor<2xi64>}, %c: i1 {check.value = true}) {
  tt.prefetch %p, %c : !tt.ptr<i64>
  tt.prefetch %p : !tt.ptr<i64>
  tt.return
}
