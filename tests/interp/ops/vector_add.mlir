// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// The kernel of the tutorial: blocks of a sum, the last one masked.

tt.func public @vector_add(%x: !tt.ptr<f32> {check.data = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<10xf32>, tt.divisibility = 16 : i32},
    %y: !tt.ptr<f32> {check.data = dense<0.5> : tensor<10xf32>, tt.divisibility = 16 : i32},
    %o: !tt.ptr<f32> {check.data = dense<0.0> : tensor<10xf32>, check.after = dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]> : tensor<10xf32>},
    %n: i32 {check.value = 10 : i32}) attributes {check.grid = array<i32: 3, 1, 1>, noinline = false} {
  %c4 = arith.constant 4 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c4 : i32
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = tt.splat %start : i32 -> tensor<4xi32>
  %i = arith.addi %s, %r : tensor<4xi32>
  %ns = tt.splat %n : i32 -> tensor<4xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %a = tt.load %xp, %m : tensor<4x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %b = tt.load %yp, %m : tensor<4x!tt.ptr<f32>>
  %c = arith.addf %a, %b : tensor<4xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.store %op, %c, %m : tensor<4x!tt.ptr<f32>>
  tt.return
}

// The same without a mask: program 2 is the first to fail; the other programs' stores stay.
tt.func public @vector_copy_without_a_mask(%x: !tt.ptr<f32> {check.data = dense<1.0> : tensor<10xf32>},
    %o: !tt.ptr<f32> {check.data = dense<0.0> : tensor<16xf32>, check.after = dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<16xf32>})
    attributes {check.grid = array<i32: 4, 1, 1>, check.trap = "tl.load: program (2, 0, 0), element 2: reads 4 bytes at offset 40 of arg0 (40 bytes): 4 bytes past the end; is a mask missing"} {
  %c4 = arith.constant 4 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c4 : i32
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = tt.splat %start : i32 -> tensor<4xi32>
  %i = arith.addi %s, %r : tensor<4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %a = tt.load %xp : tensor<4x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.store %op, %a : tensor<4x!tt.ptr<f32>>
  tt.return
}
