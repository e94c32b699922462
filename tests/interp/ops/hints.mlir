// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// ub.poison is a value that nobody looks at; llvm.intr.assume and ttg.barrier change no result.

tt.func public @poison_that_is_not_chosen(%c: i1 {check.value = true}) {
  %p = ub.poison : i32
  %t = ub.poison : tensor<4xf32>
  %i = arith.constant 5 : i32
  %z = arith.constant dense<2.0> : tensor<4xf32>
  %r = arith.select %c, %i, %p : i32
  %s = arith.select %c, %z, %t : tensor<4xf32>
  check.eq %r, 5 : i32
  check.eq %s, dense<2.0> : tensor<4xf32>
  tt.return
}

tt.func public @assume_and_barrier(%n: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %p = arith.cmpi sgt, %n, %c0 : i32
  llvm.intr.assume %p : i1
  ttg.barrier all
  %r = arith.addi %n, %n : i32
  check.eq %r, 6 : i32
  tt.return
}
