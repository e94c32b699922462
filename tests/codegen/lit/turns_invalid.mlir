// RUN: tiletwin-translate %s --from=ttgir --emit-ptx --arch=sm_90a --num-warps=8 -split-input-file -verify-diagnostics
// The order of turns, one part for each message; the first text is complete.

module attributes {twg.barriers_complete} {
tt.func public @right(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  twg.turn_pass by 1
  twg.turn_wait
  scf.for %i = %zero to %n step %one : i32 {
    twg.turn_pass
    twg.turn_wait
  }
  twg.turn_pass by 0
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @who(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-error @below {{is by group 0 or 1, not 2}}
  twg.turn_pass by 2
  twg.turn_wait
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @nobody_passes(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-error @below {{waits for a turn that nobody passes on}}
  twg.turn_wait
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @passed_twice(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  twg.turn_pass by 1
  twg.turn_wait
  scf.for %i = %zero to %n step %one : i32 {
    twg.turn_pass
    // expected-error @below {{passes on a turn that its group does not have}}
    twg.turn_pass
    twg.turn_wait
  }
  twg.turn_pass by 0
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @waited_twice(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  twg.turn_pass by 1
  twg.turn_wait
  scf.for %i = %zero to %n step %one : i32 {
    twg.turn_pass
    twg.turn_wait
    // expected-error @below {{waits for a turn that nobody passes on}}
    twg.turn_wait
  }
  twg.turn_pass by 0
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @not_offered(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-error @below {{passes on a turn that its group does not have}}
  twg.turn_pass by 0
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @kept_in_the_loop(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  twg.turn_pass by 1
  twg.turn_wait
  scf.for %i = %zero to %n step %one : i32 {
    twg.turn_pass
    // expected-error @below {{ends with a turn that was not there at its beginning, or without one}}
    scf.yield
  }
  twg.turn_pass by 0
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @left_over(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  twg.turn_pass by 1
  twg.turn_wait
  scf.for %i = %zero to %n step %one : i32 {
    twg.turn_pass
    twg.turn_wait
  }
  // expected-error @below {{ends with a turn that was not there at its beginning, or without one}}
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @all_warps(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  twg.turn_pass by 1
  twg.turn_wait
  // expected-error @below {{lets all warps wait for each other, and those that wait for their turn never come}}
  ttg.barrier local
  twg.turn_pass by 0
  tt.return
}
}

// -----

module attributes {twg.barriers_complete} {
tt.func public @all_warps_in_the_loop(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  twg.turn_pass by 1
  twg.turn_wait
  scf.for %i = %zero to %n step %one : i32 {
    twg.turn_pass
    twg.turn_wait
    // expected-error @below {{lets all warps wait for each other, and those that wait for their turn never come}}
    ttg.barrier local
  }
  twg.turn_pass by 0
  tt.return
}
}

// -----

#d = #twg.linear<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], block = []}>
#a = #twg.shared<contiguous = 1, swizzle = 128>
module attributes {twg.barriers_complete} {
tt.func public @out_of_turn(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = twg.local_alloc {offset = 0 : i32} -> !twg.memdesc<128x64xf16, #a>
  %y = twg.local_alloc {offset = 16384 : i32} -> !twg.memdesc<64x64xf16, #a>
  %c = arith.constant dense<0.0> : tensor<128x64xf32, #d>
  ttg.barrier local
  twg.turn_pass by 1
  twg.turn_wait
  scf.for %i = %zero to %n step %one : i32 {
    twg.turn_pass
    %f = twg.warpgroup_fence %c : tensor<128x64xf32, #d>
    // expected-error @below {{begins while the other group of warps has its turn}}
    %p = twg.warpgroup_dot %x, %y, %f {instruction = "wgmma", order = array<i32: 0, 1, 2, 3, 4, 5>} : !twg.memdesc<128x64xf16, #a> * !twg.memdesc<64x64xf16, #a>, tensor<128x64xf32, #d> -> tensor<128x64xf32, #d>
    twg.warpgroup_commit
    %w = twg.warpgroup_wait 0, %p : tensor<128x64xf32, #d>
    twg.turn_wait
  }
  twg.turn_pass by 0
  tt.return
}
}
