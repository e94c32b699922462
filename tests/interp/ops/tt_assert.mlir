// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.assert: stops unless the condition holds in every lane.

tt.func public @holds(%c: i1 {check.value = true}) {
  %t = arith.constant dense<true> : tensor<4xi1>
  tt.assert %c, "scalar" : i1
  tt.assert %t, "tile" : tensor<4xi1>
  %r = arith.constant 1 : i32
  check.eq %r, 1 : i32
  tt.return
}

tt.func public @scalar_fails(%c: i1 {check.value = false}) attributes {check.trap = "tl.device_assert: program (0, 0, 0): assertion failed: empty"} {
  tt.assert %c, "empty" : i1
  tt.return
}

tt.func public @element_fails(%n: i32 {check.value = 5 : i32}) attributes {check.trap = "tl.device_assert: program (0, 0, 0), element 5: assertion failed: too large"} {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %n : i32 -> tensor<8xi32>
  %c = arith.cmpi slt, %i, %s : tensor<8xi32>
  tt.assert %c, "too large" : tensor<8xi1>
  tt.return
}

tt.func public @element_of_a_matrix_fails() attributes {check.trap = "element 6 (index (1, 2)): assertion failed: no"} {
  %c = arith.constant dense<[[true, true, true, true], [true, true, false, false]]> : tensor<2x4xi1>
  tt.assert %c, "no" : tensor<2x4xi1>
  tt.return
}

// Program 3 fails first; the programs below it have run.
tt.func public @the_lowest_program_is_named(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<3xi32>, check.after = dense<1> : tensor<3xi32>})
    attributes {check.grid = array<i32: 64, 1, 1>, check.trap = "program (3, 0, 0): assertion failed: three"} {
  %x = tt.get_program_id x : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %ok = arith.cmpi slt, %x, %c3 : i32
  tt.assert %ok, "three" : i1
  %q = tt.addptr %p, %x : !tt.ptr<i32>, i32
  tt.store %q, %c1 : !tt.ptr<i32>
  tt.return
}
