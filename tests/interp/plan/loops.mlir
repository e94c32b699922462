// RUN: tiletwin-exec %s --backend=interp
// What loops carry: values swap, accumulate in place, and stay readable after their successor is known.

tt.func public @swap(%n: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %j = tt.make_range {end = 8 : i32, start = 4 : i32} : tensor<4xi32>
  %m = arith.muli %i, %i : tensor<4xi32>
  %r:5 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %i, %b = %j, %x = %c1, %y = %c5, %s = %m)
      -> (tensor<4xi32>, tensor<4xi32>, i32, i32, tensor<4xi32>) : i32 {
    %t = arith.addi %s, %a : tensor<4xi32>
    scf.yield %b, %a, %y, %x, %t : tensor<4xi32>, tensor<4xi32>, i32, i32, tensor<4xi32>
  }
  check.eq %r#0, dense<[4, 5, 6, 7]> : tensor<4xi32>
  check.eq %r#1, dense<[0, 1, 2, 3]> : tensor<4xi32>
  check.eq %r#2, 5 : i32
  check.eq %r#3, 1 : i32
  check.eq %r#4, dense<[4, 8, 14, 22]> : tensor<4xi32>
  tt.return
}

// The old maximum is needed after the new one exists, as in an online softmax.
tt.func public @old_and_new(%n: i32 {check.value = 3 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %init = arith.muli %i, %i : tensor<4xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%m = %init, %acc = %zero) -> (tensor<4xi32>, tensor<4xi32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<4xi32>
    %v = arith.muli %ks, %two : tensor<4xi32>
    %new = arith.maxsi %m, %v : tensor<4xi32>
    %d = arith.subi %new, %m : tensor<4xi32>
    %a = arith.addi %acc, %d : tensor<4xi32>
    scf.yield %new, %a : tensor<4xi32>, tensor<4xi32>
  }
  check.eq %r#0, dense<[4, 4, 4, 9]> : tensor<4xi32>
  check.eq %r#1, dense<[4, 3, 0, 0]> : tensor<4xi32>
  tt.return
}

// A pointer advanced by a uniform amount, one advanced lane by lane, and a loop that does not run.
tt.func public @pointers(%p: !tt.ptr<i32> {check.data = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>}, %n: i32 {check.value = 3 : i32},
                         %none: i32 {check.value = 0 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %two = arith.constant dense<2> : tensor<2xi32>
  %zero = arith.constant dense<0> : tensor<2xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<2x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
  %a:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %q, %s = %zero) -> (tensor<2x!tt.ptr<i32>>, tensor<2xi32>) : i32 {
    %v = tt.load %x : tensor<2x!tt.ptr<i32>>
    %t = arith.addi %s, %v : tensor<2xi32>
    %y = tt.addptr %x, %two : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
    scf.yield %y, %t : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
  }
  check.eq %a#1, dense<[6, 9]> : tensor<2xi32>
  %last = tt.load %a#0 : tensor<2x!tt.ptr<i32>>
  check.eq %last, dense<[6, 7]> : tensor<2xi32>
  %b:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %q, %s = %zero) -> (tensor<2x!tt.ptr<i32>>, tensor<2xi32>) : i32 {
    %v = tt.load %x : tensor<2x!tt.ptr<i32>>
    %t = arith.addi %s, %v : tensor<2xi32>
    %y = tt.addptr %x, %i : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
    scf.yield %y, %t : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
  }
  check.eq %b#1, dense<[0, 6]> : tensor<2xi32>
  %c = scf.for %k = %c0 to %none step %c1 iter_args(%x = %q) -> (tensor<2x!tt.ptr<i32>>) : i32 {
    %y = tt.addptr %x, %two : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
    scf.yield %y : tensor<2x!tt.ptr<i32>>
  }
  %first = tt.load %c : tensor<2x!tt.ptr<i32>>
  check.eq %first, dense<[0, 1]> : tensor<2xi32>
  tt.return
}
