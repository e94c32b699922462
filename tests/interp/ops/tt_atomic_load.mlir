// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --threads=1
// tt.atomic_load: masked lanes read nothing and hold 0.

tt.func public @load_every_size(%a: !tt.ptr<i8> {check.data = dense<[-1, 2]> : tensor<2xi8>}, %b: !tt.ptr<f16> {check.data = dense<[1.5, -0.0]> : tensor<2xf16>}, %c: !tt.ptr<f32> {check.data = dense<[0x7FC00001, 2.0]> : tensor<2xf32>}, %d: !tt.ptr<i64> {check.data = dense<[-5, 6]> : tensor<2xi64>}) {
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %as = tt.splat %a : !tt.ptr<i8> -> tensor<2x!tt.ptr<i8>>
  %aq = tt.addptr %as, %i : tensor<2x!tt.ptr<i8>>, tensor<2xi32>
  %ar = tt.atomic_load acquire, gpu, %aq : (tensor<2x!tt.ptr<i8>>) -> tensor<2xi8>
  check.eq %ar, dense<[-1, 2]> : tensor<2xi8>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<2x!tt.ptr<f16>>
  %bq = tt.addptr %bs, %i : tensor<2x!tt.ptr<f16>>, tensor<2xi32>
  %br = tt.atomic_load relaxed, sys, %bq : (tensor<2x!tt.ptr<f16>>) -> tensor<2xf16>
  check.eq %br, dense<[1.5, -0.0]> : tensor<2xf16>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<2x!tt.ptr<f32>>
  %cq = tt.addptr %cs, %i : tensor<2x!tt.ptr<f32>>, tensor<2xi32>
  %cr = tt.atomic_load relaxed, cta, %cq : (tensor<2x!tt.ptr<f32>>) -> tensor<2xf32>
  check.eq %cr, dense<[0x7FC00001, 2.0]> : tensor<2xf32>
  %dr = tt.atomic_load acquire, gpu, %d : (!tt.ptr<i64>) -> i64
  check.eq %dr, -5 : i64
  tt.return
}

tt.func public @masked(%p: !tt.ptr<i32> {check.data = dense<[7, 8]> : tensor<2xi32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %m = arith.constant dense<[false, true, false, false]> : tensor<4xi1>
  %r = tt.atomic_load relaxed, gpu, %q, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi1>) -> tensor<4xi32>
  check.eq %r, dense<[0, 8, 0, 0]> : tensor<4xi32>
  tt.return
}

tt.func public @read_only_memory_may_be_read(%p: !tt.ptr<i32> {check.data = dense<3> : tensor<1xi32>, check.readonly}) {
  %r = tt.atomic_load relaxed, gpu, %p : (!tt.ptr<i32>) -> i32
  check.eq %r, 3 : i32
  tt.return
}

tt.func public @outside(%p: !tt.ptr<i32> {check.data = dense<3> : tensor<1xi32>}) attributes {check.trap = "tl.atomic_load: program (0, 0, 0): reads 4 bytes at offset 4 of arg0 (4 bytes)"} {
  %c1 = arith.constant 1 : i32
  %q = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
  %r = tt.atomic_load relaxed, gpu, %q : (!tt.ptr<i32>) -> i32
  tt.return
}

tt.func public @misaligned(%p: !tt.ptr<i8> {check.data = dense<0> : tensor<8xi8>}) attributes {check.trap = "tl.atomic_load: program (0, 0, 0): reads 4 bytes at offset 3 of arg0 (8 bytes): an atomic operation needs"} {
  %c3 = arith.constant 3 : i32
  %b = tt.addptr %p, %c3 : !tt.ptr<i8>, i32
  %w = tt.bitcast %b : !tt.ptr<i8> -> !tt.ptr<i32>
  %r = tt.atomic_load relaxed, gpu, %w : (!tt.ptr<i32>) -> i32
  tt.return
}
