// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// scf.while: the condition is asked first; what it hands over is what the body and the code behind see.

tt.func public @halve_until_odd(%n: i32 {check.value = 48 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r:2 = scf.while (%x = %n, %k = %c0) : (i32, i32) -> (i32, i32) {
    %b = arith.remsi %x, %c2 : i32
    %even = arith.cmpi eq, %b, %c0 : i32
    scf.condition(%even) %x, %k : i32, i32
  } do {
  ^bb0(%x: i32, %k: i32):
    %h = arith.divsi %x, %c2 : i32
    %l = arith.addi %k, %c1 : i32
    scf.yield %h, %l : i32, i32
  }
  check.eq %r#0, 3 : i32
  check.eq %r#1, 4 : i32
  tt.return
}

tt.func public @no_round(%n: i32 {check.value = 7 : i32}) {
  %c10 = arith.constant 10 : i32
  %z = arith.constant dense<[1, 2]> : tensor<2xi32>
  %r:2 = scf.while (%x = %n, %t = %z) : (i32, tensor<2xi32>) -> (i32, tensor<2xi32>) {
    %go = arith.cmpi sgt, %x, %c10 : i32
    scf.condition(%go) %x, %t : i32, tensor<2xi32>
  } do {
  ^bb0(%x: i32, %t: tensor<2xi32>):
    scf.yield %c10, %t : i32, tensor<2xi32>
  }
  check.eq %r#0, 7 : i32
  check.eq %r#1, dense<[1, 2]> : tensor<2xi32>
  tt.return
}

tt.func public @tiles_and_a_condition_that_hands_over_other_values(%n: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<[1, 10]> : tensor<2xi32>
  %r = scf.while (%k = %c0, %t = %z) : (i32, tensor<2xi32>) -> (tensor<2xi32>) {
    %go = arith.cmpi slt, %k, %n : i32
    %d = arith.addi %t, %t : tensor<2xi32>
    scf.condition(%go) %d : tensor<2xi32>
  } do {
  ^bb0(%d: tensor<2xi32>):
    %m = "tt.reduce"(%d) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.minsi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<2xi32>) -> i32
    scf.yield %m, %d : i32, tensor<2xi32>
  }
  check.eq %r, dense<[8, 80]> : tensor<2xi32>
  tt.return
}
