// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// cf.br and cf.cond_br: blocks with arguments, an early return, a loop made of branches, a switch of values.

tt.func public @early_return(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<4xi32>, check.after = dense<[1, 1, 2, 2]> : tensor<4xi32>})
    attributes {check.grid = array<i32: 4, 1, 1>} {
  %x = tt.get_program_id x : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %q = tt.addptr %p, %x : !tt.ptr<i32>, i32
  %low = arith.cmpi slt, %x, %c2 : i32
  cf.cond_br %low, ^bb1, ^bb2
^bb1:
  tt.store %q, %c1 : !tt.ptr<i32>
  tt.return
^bb2:
  tt.store %q, %c2 : !tt.ptr<i32>
  tt.return
}

tt.func public @block_arguments(%n: i32 {check.value = 5 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<[1, 2]> : tensor<2xi32>
  cf.br ^loop(%c0, %c0, %one : i32, i32, tensor<2xi32>)
^loop(%i: i32, %s: i32, %t: tensor<2xi32>):
  %go = arith.cmpi slt, %i, %n : i32
  cf.cond_br %go, ^body, ^done(%s : i32)
^body:
  %s1 = arith.addi %s, %i : i32
  %i1 = arith.addi %i, %c1 : i32
  %t1 = arith.addi %t, %t : tensor<2xi32>
  cf.br ^loop(%i1, %s1, %t1 : i32, i32, tensor<2xi32>)
^done(%r: i32):
  check.eq %r, 10 : i32
  check.eq %t, dense<[32, 64]> : tensor<2xi32>
  tt.return
}

tt.func public @arguments_that_swap(%n: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = arith.constant dense<[3, 4]> : tensor<2xi32>
  cf.br ^loop(%c0, %a, %b, %c0, %c1 : i32, tensor<2xi32>, tensor<2xi32>, i32, i32)
^loop(%i: i32, %x: tensor<2xi32>, %y: tensor<2xi32>, %p: i32, %q: i32):
  %go = arith.cmpi slt, %i, %n : i32
  %i1 = arith.addi %i, %c1 : i32
  cf.cond_br %go, ^loop(%i1, %y, %x, %q, %p : i32, tensor<2xi32>, tensor<2xi32>, i32, i32), ^done
^done:
  check.eq %x, dense<[3, 4]> : tensor<2xi32>
  check.eq %y, dense<[1, 2]> : tensor<2xi32>
  check.eq %p, 1 : i32
  tt.return
}

tt.func public @both_ways_to_one_block(%c: i1 {check.value = false}) {
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  cf.cond_br %c, ^end(%c7 : i32), ^end(%c8 : i32)
^end(%r: i32):
  check.eq %r, 8 : i32
  tt.return
}
