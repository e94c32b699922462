// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics
// What the verifiers refuse of stores to shared memory, and of products in flight: nobody may use their sums before the wait.

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @stored(%m: !twg.memdesc<2x4xf32, #s>) {
  %0 = ub.poison : tensor<2x2xf32, #l>
  // expected-error @below {{needs one shape and element type}}
  twg.local_store %0, %m : tensor<2x2xf32, #l> -> !twg.memdesc<2x4xf32, #s>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 0, swizzle = 0>
tt.func public @used_too_early(%a: !twg.memdesc<2x2xf16, #s>, %b: !twg.memdesc<2x2xf16, #s>) {
  %c = ub.poison : tensor<2x2xf32, #l>
  // expected-error @below {{in flight has a result that arith.addf uses; it wants that of twg.warpgroup_wait}}
  %d = twg.warpgroup_dot %a, %b, %c in_flight : !twg.memdesc<2x2xf16, #s> * !twg.memdesc<2x2xf16, #s>, tensor<2x2xf32, #l> -> tensor<2x2xf32, #l>
  %e = arith.addf %d, %d : tensor<2x2xf32, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 0, swizzle = 0>
tt.func public @narrow_sums(%a: !twg.memdesc<2x2xf16, #s>, %b: !twg.memdesc<2x2xf16, #s>) {
  %c = ub.poison : tensor<2x2xf16, #l>
  // expected-error @below {{in flight needs sums of 32 bits}}
  %d = twg.warpgroup_dot %a, %b, %c in_flight : !twg.memdesc<2x2xf16, #s> * !twg.memdesc<2x2xf16, #s>, tensor<2x2xf16, #l> -> tensor<2x2xf16, #l>
  %e = twg.warpgroup_wait 0, %d : tensor<2x2xf16, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
tt.func public @behind_a_fence() {
  %c = ub.poison : tensor<2x2xf16, #l>
  // expected-error @below {{has a result that arith.addf uses; it is for twg.warpgroup_dot}}
  %d = twg.warpgroup_fence %c : tensor<2x2xf16, #l>
  %e = arith.addf %d, %d : tensor<2x2xf16, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
tt.func public @many_tiles() {
  %c = ub.poison : tensor<2x2xf16, #l>
  // expected-error @below {{needs a sum and at most one tile more}}
  %d:3 = twg.warpgroup_fence %c, %c, %c : tensor<2x2xf16, #l>, tensor<2x2xf16, #l>, tensor<2x2xf16, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @second_in_registers(%a: !twg.memdesc<2x2xf16, #s>, %b: tensor<2x2xf16, #l>, %c: tensor<2x2xf32, #l>) {
  // expected-error @below {{needs `b` in shared memory}}
  %d = twg.warpgroup_dot %a, %b, %c : !twg.memdesc<2x2xf16, #s> * tensor<2x2xf16, #l>, tensor<2x2xf32, #l> -> tensor<2x2xf32, #l>
  tt.return
}

// -----

#l = #twg.linear<{register = [[0, 1], [1, 0]], lane = [], warp = [], block = []}>
#s = #twg.shared<contiguous = 1, swizzle = 0>
tt.func public @rows_twice(%a: !twg.memdesc<2x2xf16, #s>, %b: !twg.memdesc<2x2xf16, #s>, %c: tensor<2x2xf32, #l>) {
  // expected-error @below {{needs `rows` that name each bit of 2 rows once}}
  %d = twg.warpgroup_dot %a, %b, %c {rows = array<i32: 1>} : !twg.memdesc<2x2xf16, #s> * !twg.memdesc<2x2xf16, #s>, tensor<2x2xf32, #l> -> tensor<2x2xf32, #l>
  tt.return
}
