// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --threads=1
// tt.atomic_poll: true once memory holds the value, false once the time is over; a program that waits lets others run.

tt.func public @at_once(%p: !tt.ptr<i32> {check.data = dense<1> : tensor<1xi32>}) {
  %c1 = arith.constant 1 : i32
  %r = tt.atomic_poll acquire, gpu, %p, %c1 : !tt.ptr<i32>, i32 -> i1
  check.eq %r, true
  tt.return
}

tt.func public @the_time_is_over(%p: !tt.ptr<i16> {check.data = dense<1> : tensor<1xi16>}) {
  %c2 = arith.constant 2 : i16
  %t = arith.constant 2000 : i64
  %r = tt.atomic_poll relaxed, sys, %p, %c2 timeout %t : !tt.ptr<i16>, i16 -> i1
  check.eq %r, false
  tt.return
}

// Program 0 waits for the last one.
tt.func public @the_first_waits_for_the_last(%p: !tt.ptr<i64> {check.data = dense<[0, 0]> : tensor<2xi64>, check.after = dense<[9, 42]> : tensor<2xi64>}) attributes {check.grid = array<i32: 10, 1, 1>} {
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i64
  %c42 = arith.constant 42 : i64
  %q = tt.addptr %p, %c1 : !tt.ptr<i64>, i32
  %pid = tt.get_program_id x : i32
  %c0 = arith.constant 0 : i32
  %first = arith.cmpi eq, %pid, %c0 : i32
  scf.if %first {
    %r = tt.atomic_poll acquire, gpu, %p, %c9 : !tt.ptr<i64>, i64 -> i1
    tt.store %q, %c42 : !tt.ptr<i64>
  }
  %c9i = arith.constant 9 : i32
  %last = arith.cmpi eq, %pid, %c9i : i32
  scf.if %last {
    tt.atomic_store release, gpu, %p, %c9 : !tt.ptr<i64>
  }
  tt.return
}

tt.func public @nobody_comes(%p: !tt.ptr<i32> {check.data = dense<5> : tensor<1xi32>}) attributes {check.trap = "deadlock: every program that is left waits for another one"} {
  %c1 = arith.constant 1 : i32
  %r = tt.atomic_poll acquire, gpu, %p, %c1 : !tt.ptr<i32>, i32 -> i1
  tt.return
}

tt.func public @outside(%p: !tt.ptr<i32> {check.data = dense<5> : tensor<1xi32>}) attributes {check.trap = "tl.atomic_poll: program (0, 0, 0): reads 4 bytes at offset 4 of arg0"} {
  %c1 = arith.constant 1 : i32
  %q = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
  %r = tt.atomic_poll acquire, gpu, %q, %c1 : !tt.ptr<i32>, i32 -> i1
  tt.return
}
