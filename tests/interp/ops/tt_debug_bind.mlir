// RUN: tiletwin-exec %s --backend=interp
// tt.debug_bind: the result is the value, for scalars, tiles, affine tiles and masks.

tt.func public @scalars_and_tiles(%n: i32 {check.value = 5 : i32}) {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = tt.debug_bind "n", "int32", %n : i32
  %s = arith.addi %m, %m : i32
  check.eq %s, 10 : i32
  %y = arith.addf %x, %x : tensor<4xf32>
  %z = tt.debug_bind "y", "fp32", %y : tensor<4xf32>
  %w = arith.addf %z, %x : tensor<4xf32>
  check.eq %w, dense<[3.0, 6.0, 9.0, 12.0]> : tensor<4xf32>
  tt.return
}

tt.func public @indices_and_masks(%n: i32 {check.value = 2 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %j = tt.debug_bind "i", "int32", %i : tensor<4xi32>
  %s = tt.splat %n : i32 -> tensor<4xi32>
  %c = arith.cmpi slt, %j, %s : tensor<4xi32>
  %d = tt.debug_bind "mask", "int1", %c : tensor<4xi1>
  %r = arith.select %d, %j, %s : tensor<4xi1>, tensor<4xi32>
  check.eq %r, dense<[0, 1, 2, 2]> : tensor<4xi32>
  tt.return
}
