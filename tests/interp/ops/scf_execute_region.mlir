// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// scf.execute_region: what a function that returns early becomes where it is called inside a loop or branch.

tt.func public @in_a_loop(%n: i32 {check.value = 5 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %ones = arith.constant dense<1> : tensor<4xi32>
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %c0, %t = %i) -> (i32, tensor<4xi32>) : i32 {
    %x:2 = scf.execute_region -> (i32, tensor<4xi32>) {
      %low = arith.andi %k, %c1 : i32
      %odd = arith.cmpi eq, %low, %c1 : i32
      cf.cond_br %odd, ^odd, ^even(%t : tensor<4xi32>)
    ^odd:
      %a1 = arith.addi %a, %k : i32
      %t1 = arith.addi %t, %ones : tensor<4xi32>
      %big = arith.cmpi sgt, %a1, %c3 : i32
      cf.cond_br %big, ^out, ^even(%t1 : tensor<4xi32>)
    ^out:
      %negative = arith.subi %c0, %a1 : i32
      scf.yield %negative, %t : i32, tensor<4xi32>
    ^even(%u: tensor<4xi32>):
      %u2 = arith.addi %u, %u : tensor<4xi32>
      %a2 = arith.addi %a, %c2 : i32
      scf.yield %a2, %u2 : i32, tensor<4xi32>
    }
    scf.yield %x#0, %x#1 : i32, tensor<4xi32>
  }
  check.eq %r#0, -7 : i32
  check.eq %r#1, dense<[8, 24, 40, 56]> : tensor<4xi32>
  tt.return
}

// Ways out with memory in between, in a branch, twice, and one in the other.
tt.func public @stores(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<4xi32>, check.after = dense<[0, 10, 12, 10]> : tensor<4xi32>})
    attributes {check.grid = array<i32: 4, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c10 = arith.constant 10 : i32
  %x = tt.get_program_id x : i32
  %q = tt.addptr %p, %x : !tt.ptr<i32>, i32
  %some = arith.cmpi sgt, %x, %c0 : i32
  scf.if %some {
    scf.execute_region {
      tt.store %q, %c10 : !tt.ptr<i32>
      %two = arith.cmpi eq, %x, %c2 : i32
      cf.cond_br %two, ^more, ^end
    ^more:
      %r = scf.execute_region -> i32 {
        %old = tt.load %q : !tt.ptr<i32>
        %large = arith.cmpi sgt, %old, %c2 : i32
        cf.cond_br %large, ^yes, ^no
      ^yes:
        %next = arith.addi %old, %c1 : i32
        scf.yield %next : i32
      ^no:
        scf.yield %c0 : i32
      }
      %last = arith.addi %r, %c1 : i32
      tt.store %q, %last : !tt.ptr<i32>
      cf.br ^end
    ^end:
      scf.yield
    }
  }
  tt.return
}

// Pointers of different arguments meet.
tt.func public @pointers(%p: !tt.ptr<i32> {check.data = dense<[1, 2, 3, 4]> : tensor<4xi32>},
                         %q: !tt.ptr<i32> {check.data = dense<[5, 6, 7, 8]> : tensor<4xi32>}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    %at = scf.execute_region -> !tt.ptr<i32> {
      %low = arith.andi %k, %c1 : i32
      %odd = arith.cmpi eq, %low, %c1 : i32
      cf.cond_br %odd, ^left, ^right
    ^left:
      %l = tt.addptr %p, %k : !tt.ptr<i32>, i32
      scf.yield %l : !tt.ptr<i32>
    ^right:
      %r = tt.addptr %q, %k : !tt.ptr<i32>, i32
      scf.yield %r : !tt.ptr<i32>
    }
    %v = tt.load %at : !tt.ptr<i32>
    %t = arith.addi %s, %v : i32
    scf.yield %t : i32
  }
  check.eq %sum, 18 : i32
  tt.return
}
