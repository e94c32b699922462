// RUN: tiletwin-opt %s -tt-make-ttir | FileCheck %s
// Calls whose condition never holds go away; others stay, in their order.

// CHECK-LABEL: tt.func public @kernel
// CHECK-NOT: site = 0
// CHECK: tt.probe_call "print_if" %{{.*}} {isSigned = array<i32>, site = 1 : i32} : i1
// CHECK-NOT: site = 2
// CHECK: tt.probe_call "breakpoint_if" %{{.*}} {isSigned = array<i32>, site = 3 : i32} : i1
tt.func public @kernel(%c: i1) {
  %false = arith.constant false
  %none = arith.constant dense<false> : tensor<4xi1>
  tt.probe_call "print_if" %false {site = 0 : i32, isSigned = array<i32>} : i1
  tt.probe_call "print_if" %c {site = 1 : i32, isSigned = array<i32>} : i1
  tt.probe_call "print_if" %none {site = 2 : i32, isSigned = array<i32>} : tensor<4xi1>
  tt.probe_call "breakpoint_if" %c {site = 3 : i32, isSigned = array<i32>} : i1
  tt.return
}

// Before a program has written or printed, a breakpoint starts it again: it needs no values, and what was computed for
// them goes away.

// CHECK-LABEL: tt.func public @variables
// CHECK-NOT: arith.muli
// CHECK: tt.probe_call "breakpoint_if" %{{[^,]*}} {isSigned = array<i32>, site = 0 : i32} : i1
// CHECK: tt.store
// CHECK: arith.muli
// CHECK: tt.probe_call "breakpoint_if" %{{.*}}, %{{.*}} {isSigned = array<i32: 1>, site = 1 : i32} : i1, i32
tt.func public @variables(%c: i1, %x: i32, %p: !tt.ptr<i32>) {
  %y = arith.muli %x, %x : i32
  tt.probe_call "breakpoint_if" %c, %y {site = 0 : i32, isSigned = array<i32: 1>} : i1, i32
  tt.store %p, %x : !tt.ptr<i32>
  %z = arith.muli %x, %x : i32
  tt.probe_call "breakpoint_if" %c, %z {site = 1 : i32, isSigned = array<i32: 1>} : i1, i32
  tt.return
}

// In a loop that writes, an earlier round may have written; a print counts.

// CHECK-LABEL: tt.func public @loops
// CHECK: scf.for
// CHECK: tt.probe_call "breakpoint_if" %{{[^,]*}} {isSigned = array<i32>, site = 0 : i32} : i1
// CHECK: scf.for
// CHECK: tt.probe_call "breakpoint_if" %{{.*}}, %{{.*}} {isSigned = array<i32: 1>, site = 1 : i32} : i1, i32
tt.func public @loops(%c: i1, %x: i32, %n: i32, %p: !tt.ptr<i32>) {
  scf.for %i = %x to %n step %n : i32 {
    tt.probe_call "breakpoint_if" %c, %i {site = 0 : i32, isSigned = array<i32: 1>} : i1, i32
  }
  scf.for %i = %x to %n step %n : i32 {
    tt.probe_call "breakpoint_if" %c, %i {site = 1 : i32, isSigned = array<i32: 1>} : i1, i32
    tt.print " x" {hex = false, isSigned = array<i32>}
  }
  tt.return
}
