// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.probe_call: a record where the condition holds in some lane; of a breakpoint too, if the program cannot start again.

tt.func public @scalar_condition() attributes {check.grid = array<i32: 3, 1, 1>,
    check.prints = "print 4 (1, 0, 0) 01000000\0A"} {
  %x = tt.get_program_id x : i32
  %c1 = arith.constant 1 : i32
  %is = arith.cmpi eq, %x, %c1 : i32
  tt.probe_call "print_if" %is, %x {site = 4 : i32, isSigned = array<i32: 1>} : i1, i32
  tt.return
}

tt.func public @any_lane(%n: i8 {check.value = 3 : i8}) attributes {
    check.prints = "print 1 (0, 0, 0) 010203ff 03\0Aprint 3 (0, 0, 0)\0A"} {
  %a = arith.constant dense<[1, 2, 3, -1]> : tensor<4xi8>
  %c0 = arith.constant dense<0> : tensor<4xi8>
  %c9 = arith.constant dense<9> : tensor<4xi8>
  %never = arith.cmpi sgt, %a, %c9 : tensor<4xi8>
  tt.probe_call "print_if" %never, %a {site = 0 : i32, isSigned = array<i32: 1>} : tensor<4xi1>, tensor<4xi8>
  %last = arith.cmpi slt, %a, %c0 : tensor<4xi8>
  tt.probe_call "print_if" %last, %a, %n {site = 1 : i32, isSigned = array<i32: 1, 1>} : tensor<4xi1>, tensor<4xi8>, i8
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %c4 = arith.constant dense<4> : tensor<4xi32>
  %outside = arith.cmpi sge, %r, %c4 : tensor<4xi32>
  tt.probe_call "print_if" %outside {site = 2 : i32, isSigned = array<i32>} : tensor<4xi1>
  %inside = arith.cmpi slt, %r, %c4 : tensor<4xi32>
  tt.probe_call "print_if" %inside {site = 3 : i32, isSigned = array<i32>} : tensor<4xi1>
  tt.return
}

// Values in every form, in a loop, beside prints.
tt.func public @forms(%p: !tt.ptr<i8> {check.data = dense<[5, 6, 7, 8]> : tensor<4xi8>}) attributes {
    check.prints = "print 0 (0, 0, 0) 0000000001000000 05060708 01010000 0000803f\0Apid (0, 0, 0) i: 0\0Aprint 1 (0, 0, 0) 01000000\0A"} {
  %true = arith.constant true
  %r = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %r4 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<4x!tt.ptr<i8>>
  %at = tt.addptr %ps, %r4 : tensor<4x!tt.ptr<i8>>, tensor<4xi32>
  %x = tt.load %at : tensor<4x!tt.ptr<i8>>
  %c2 = arith.constant dense<2> : tensor<4xi32>
  %mask = arith.cmpi slt, %r4, %c2 : tensor<4xi32>
  %half = arith.constant dense<[0.0, 1.0]> : tensor<2xbf16>
  tt.probe_call "print_if" %true, %r, %x, %mask, %half {site = 0 : i32, isSigned = array<i32: 1, 1, 0, 0>} : i1, tensor<2xi32>, tensor<4xi8>, tensor<4xi1>, tensor<2xbf16>
  tt.print " i: 0" {hex = false, isSigned = array<i32>}
  %lo = arith.constant 0 : i32
  %hi = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %lo to %hi step %one : i32 {
    %is = arith.cmpi eq, %i, %one : i32
    tt.probe_call "print_if" %is, %i {site = 1 : i32, isSigned = array<i32: 1>} : i1, i32
  }
  tt.return
}

tt.func public @breaks(%p: !tt.ptr<i8> {check.data = dense<[5, 6]> : tensor<2xi8>, check.after = dense<[9, 6]> : tensor<2xi8>}) attributes {
    check.prints = "break 0 (0, 0, 0) 05\0A"} {
  %true = arith.constant true
  %x = tt.load %p : !tt.ptr<i8>
  %c9 = arith.constant 9 : i8
  tt.store %p, %c9 : !tt.ptr<i8>
  tt.probe_call "breakpoint_if" %true, %x {site = 0 : i32, isSigned = array<i32: 1>} : i1, i8
  tt.return
}
