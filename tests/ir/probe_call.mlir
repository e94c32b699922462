// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics

tt.func @probe_call(%c: i1, %cs: tensor<4xi1>, %x: tensor<4xf32>, %p: !tt.ptr<f32>) {
  tt.probe_call "print_if" %c {site = 0 : i32, isSigned = array<i32>} : i1
  tt.probe_call "print_if" %cs, %x, %p {site = 1 : i32, isSigned = array<i32: 0, 0>} : tensor<4xi1>, tensor<4xf32>, !tt.ptr<f32>
  tt.probe_call "breakpoint_if" %c, %x {site = 2 : i32, isSigned = array<i32: 0>} : i1, tensor<4xf32>
  tt.return
}

// -----

tt.func @probe_call_c1(%c: i1) {
  // expected-error@+1 {{calls print_if or breakpoint_if, got 'print'}}
  tt.probe_call "print" %c {site = 0 : i32, isSigned = array<i32>} : i1
  tt.return
}

// -----

tt.func @probe_call_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs a condition of i1 as its first operand}}
  tt.probe_call "print_if" %x {site = 0 : i32, isSigned = array<i32>} : tensor<4xf32>
  tt.return
}

// -----

tt.func @probe_call_c3(%c: i1) {
  // expected-error@+1 {{needs 0 entries in isSigned, got 1}}
  tt.probe_call "print_if" %c {site = 0 : i32, isSigned = array<i32: 1>} : i1
  tt.return
}
