// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --threads=1
// Loops whose end depends on other programs: in blocks that branch, in scf.while with tiles.

// Program i waits for program i + 1; the last one begins.
tt.func public @blocks_that_wait(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<6xi32>, check.after = dense<1> : tensor<6xi32>}) attributes {check.grid = array<i32: 6, 1, 1>} {
  %pid = tt.get_program_id x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %next = arith.addi %pid, %c1 : i32
  %mine = tt.addptr %p, %pid : !tt.ptr<i32>, i32
  %theirs = tt.addptr %p, %next : !tt.ptr<i32>, i32
  %last = arith.cmpi eq, %pid, %c5 : i32
  cf.cond_br %last, ^done, ^wait
^wait:
  %v = tt.load %theirs {isVolatile = true} : !tt.ptr<i32>
  %not = arith.cmpi eq, %v, %c0 : i32
  cf.cond_br %not, ^wait, ^done
^done:
  tt.store %mine, %c1 : !tt.ptr<i32>
  tt.return
}

tt.func public @a_tile_of_flags(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<4xi32>, check.after = dense<1> : tensor<4xi32>}) attributes {check.grid = array<i32: 5, 1, 1>} {
  %pid = tt.get_program_id x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %first = arith.cmpi eq, %pid, %c0 : i32
  scf.if %first {
    %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    scf.while : () -> () {
      %f = tt.load %q {isVolatile = true} : tensor<4x!tt.ptr<i32>>
      %sum = "tt.reduce"(%f) <{axis = 0 : i32}> ({
      ^bb0(%a: i32, %b: i32):
        %s = arith.addi %a, %b : i32
        tt.reduce.return %s : i32
      }) : (tensor<4xi32>) -> i32
      %go = arith.cmpi slt, %sum, %c4 : i32
      scf.condition(%go)
    } do {
      scf.yield
    }
  } else {
    %k = arith.subi %pid, %c1 : i32
    %mine = tt.addptr %p, %k : !tt.ptr<i32>, i32
    tt.store %mine, %c1 : !tt.ptr<i32>
  }
  tt.return
}
