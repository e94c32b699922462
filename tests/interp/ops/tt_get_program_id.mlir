// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.get_program_id, tt.get_num_programs: which program this is, and how many there are.

tt.func public @every_program_writes_its_id(%p: !tt.ptr<i32> {check.data = dense<-1> : tensor<24xi32>,
    check.after = dense<[0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 100, 101, 102, 103, 110, 111, 112, 113, 120, 121, 122, 123]> : tensor<24xi32>})
    attributes {check.grid = array<i32: 4, 3, 2>} {
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %z = tt.get_program_id z : i32
  %nx = tt.get_num_programs x : i32
  %ny = tt.get_num_programs y : i32
  %zy = arith.muli %z, %ny : i32
  %r = arith.addi %zy, %y : i32
  %rx = arith.muli %r, %nx : i32
  %i = arith.addi %rx, %x : i32
  %c10 = arith.constant 10 : i32
  %c100 = arith.constant 100 : i32
  %y10 = arith.muli %y, %c10 : i32
  %z100 = arith.muli %z, %c100 : i32
  %s = arith.addi %x, %y10 : i32
  %v = arith.addi %s, %z100 : i32
  %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
  tt.store %q, %v : !tt.ptr<i32>
  tt.return
}

tt.func public @num_programs(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<1xi32>, check.after = dense<432> : tensor<1xi32>})
    attributes {check.grid = array<i32: 2, 3, 4>} {
  %x = tt.get_num_programs x : i32
  %y = tt.get_num_programs y : i32
  %z = tt.get_num_programs z : i32
  %c10 = arith.constant 10 : i32
  %c100 = arith.constant 100 : i32
  %y10 = arith.muli %y, %c10 : i32
  %z100 = arith.muli %z, %c100 : i32
  %s = arith.addi %x, %y10 : i32
  %v = arith.addi %s, %z100 : i32
  tt.store %p, %v : !tt.ptr<i32>
  tt.return
}

tt.func public @programs_that_are_chosen(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<6xi32>, check.after = dense<[0, 0, 1, 0, 1, 0]> : tensor<6xi32>})
    attributes {check.grid = array<i32: 6, 1, 1>, check.only = array<i64: 1, 2, 4>, check.skip = array<i64: 1, 5>} {
  %x = tt.get_program_id x : i32
  %c1 = arith.constant 1 : i32
  %q = tt.addptr %p, %x : !tt.ptr<i32>, i32
  tt.store %q, %c1 : !tt.ptr<i32>
  tt.return
}

tt.func public @an_empty_grid_runs_nothing(%p: !tt.ptr<i32> {check.data = dense<7> : tensor<1xi32>, check.after = dense<7> : tensor<1xi32>})
    attributes {check.grid = array<i32: 4, 0, 1>} {
  %c1 = arith.constant 1 : i32
  tt.store %p, %c1 : !tt.ptr<i32>
  tt.return
}
