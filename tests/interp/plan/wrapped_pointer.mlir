// RUN: tiletwin-exec %s --backend=interp --symbolic=yes
// Offsets that wrap around inside a tile, after a store: the trap tells the indices.

tt.func public @after_a_store(%p: !tt.ptr<i32> {check.data = dense<0> : tensor<4xi32>, check.after = dense<[0, 1, 2, 3]> : tensor<4xi32>},
                              %base: i32 {check.value = 2147483646 : i32})
    attributes {check.trap = "the indices of this tile go from 2147483646 to 2147483649, and the program has already written memory"} {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %q, %i : tensor<4x!tt.ptr<i32>>
  %v = tt.load %q : tensor<4x!tt.ptr<i32>>
  %b = tt.splat %base : i32 -> tensor<4xi32>
  %x = arith.addi %b, %i : tensor<4xi32>
  %r = tt.addptr %ps, %x : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %r, %v : tensor<4x!tt.ptr<i32>>
  tt.return
}
