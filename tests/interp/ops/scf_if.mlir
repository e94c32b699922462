// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// scf.if: scalars and tiles out of branches, effects in one branch only.

tt.func public @if_taken(%c: i1 {check.value = true}, %x: i32 {check.value = 5 : i32}) {
  %r, %t = scf.if %c -> (i32, tensor<4xi32>) {
    %a = arith.addi %x, %x : i32
    %s = tt.splat %a : i32 -> tensor<4xi32>
    scf.yield %a, %s : i32, tensor<4xi32>
  } else {
    %d = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    scf.yield %x, %d : i32, tensor<4xi32>
  }
  check.eq %r, 10 : i32
  check.eq %t, dense<10> : tensor<4xi32>
  tt.return
}

tt.func public @if_not_taken(%c: i1 {check.value = false}, %x: i32 {check.value = 5 : i32}) {
  %r, %t = scf.if %c -> (i32, tensor<4xi32>) {
    %a = arith.addi %x, %x : i32
    %s = tt.splat %a : i32 -> tensor<4xi32>
    scf.yield %a, %s : i32, tensor<4xi32>
  } else {
    %d = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    scf.yield %x, %d : i32, tensor<4xi32>
  }
  check.eq %r, 5 : i32
  check.eq %t, dense<[1, 2, 3, 4]> : tensor<4xi32>
  tt.return
}

tt.func public @if_without_else(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<4xi32>, check.after = dense<[0, 1, 0, 3]> : tensor<4xi32>})
    attributes {check.grid = array<i32: 4, 1, 1>} {
  %x = tt.get_program_id x : i32
  %c1 = arith.constant 1 : i32
  %b = arith.andi %x, %c1 : i32
  %odd = arith.cmpi eq, %b, %c1 : i32
  scf.if %odd {
    %q = tt.addptr %p, %x : !tt.ptr<i32>, i32
    tt.store %q, %x : !tt.ptr<i32>
  }
  tt.return
}

tt.func public @nested(%x: i32 {check.value = 7 : i32}) {
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %a = arith.cmpi sgt, %x, %c5 : i32
  %r = scf.if %a -> (i32) {
    %b = arith.cmpi sgt, %x, %c6 : i32
    %s = scf.if %b -> (i32) {
      scf.yield %c6 : i32
    } else {
      scf.yield %c5 : i32
    }
    scf.yield %s : i32
  } else {
    scf.yield %x : i32
  }
  check.eq %r, 6 : i32
  tt.return
}

// A value defined before, used in one branch and after it.
tt.func public @tiles_live_across(%c: i1 {check.value = true}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %k = arith.muli %i, %i : tensor<4xi32>
  %r = scf.if %c -> (tensor<4xi32>) {
    %a = arith.addi %k, %i : tensor<4xi32>
    scf.yield %a : tensor<4xi32>
  } else {
    scf.yield %k : tensor<4xi32>
  }
  %s = arith.addi %r, %k : tensor<4xi32>
  check.eq %r, dense<[0, 2, 6, 12]> : tensor<4xi32>
  check.eq %s, dense<[0, 3, 10, 21]> : tensor<4xi32>
  tt.return
}
