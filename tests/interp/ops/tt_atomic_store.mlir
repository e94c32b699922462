// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --threads=1
// tt.atomic_store: a lane whose mask is 0 writes nothing.

tt.func public @store_masked(%p: !tt.ptr<f32> {check.data = dense<1.0> : tensor<4xf32>, check.after = dense<[5.0, 1.0, -0.0, 1.0]> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %m = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %v = arith.constant dense<[5.0, 6.0, -0.0, 8.0]> : tensor<4xf32>
  tt.atomic_store release, gpu, %q, %v, %m : tensor<4x!tt.ptr<f32>>
  tt.return
}

tt.func public @store_bytes(%p: !tt.ptr<i8> {check.data = dense<0> : tensor<4xi8>, check.after = dense<[-1, -1, -1, 0]> : tensor<4xi8>}, %n: i32 {check.value = 3 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<4x!tt.ptr<i8>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i8>>, tensor<4xi32>
  %n4 = tt.splat %n : i32 -> tensor<4xi32>
  %m = arith.cmpi slt, %i, %n4 : tensor<4xi32>
  %v = arith.constant dense<-1> : tensor<4xi8>
  tt.atomic_store relaxed, cta, %q, %v, %m : tensor<4x!tt.ptr<i8>>
  tt.return
}

tt.func public @store_scalar(%p: !tt.ptr<i64> {check.data = dense<[1, 2]> : tensor<2xi64>, check.after = dense<[1, -9]> : tensor<2xi64>}) {
  %c1 = arith.constant 1 : i32
  %q = tt.addptr %p, %c1 : !tt.ptr<i64>, i32
  %v = arith.constant -9 : i64
  tt.atomic_store release, sys, %q, %v : !tt.ptr<i64>
  tt.return
}

tt.func public @outside_writes_nothing(%p: !tt.ptr<i16> {check.data = dense<0> : tensor<2xi16>, check.after = dense<0> : tensor<2xi16>}) attributes {check.trap = "tl.atomic_store: program (0, 0, 0), element 2: writes 2 bytes at offset 4 of arg0"} {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i16> -> tensor<4x!tt.ptr<i16>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i16>>, tensor<4xi32>
  %v = arith.constant dense<7> : tensor<4xi16>
  tt.atomic_store relaxed, gpu, %q, %v : tensor<4x!tt.ptr<i16>>
  tt.return
}
