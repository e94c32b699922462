// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.print: one line an element, with the program's id; programs in order.

tt.func public @text_only() attributes {check.prints = "pid (0, 0, 0) just text\0A"} {
  tt.print " just text" {hex = false, isSigned = array<i32>}
  tt.return
}

tt.func public @scalars(%x: i32 {check.value = -5 : i32}, %f: f32 {check.value = 1.5 : f32})
    attributes {check.prints = "pid (0, 0, 0) idx () x: -5\0Apid (0, 0, 0) idx () x: 4294967291\0Apid (0, 0, 0) idx () f: 1.500000\0A"} {
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : i32
  tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %x : i32
  tt.print " f: " {hex = false, isSigned = array<i32: 0>} : %f : f32
  tt.return
}

tt.func public @a_tile() attributes {check.prints = "pid (0, 0, 0) idx (0, 0) t: 1\0Apid (0, 0, 0) idx (0, 1) t: 2\0Apid (0, 0, 0) idx (1, 0) t: 3\0Apid (0, 0, 0) idx (1, 1) t: -4\0A"} {
  %t = arith.constant dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>
  tt.print " t: " {hex = false, isSigned = array<i32: 1>} : %t : tensor<2x2xi8>
  tt.return
}

tt.func public @programs_in_order() attributes {check.grid = array<i32: 2, 2, 1>,
    check.prints = "pid (0, 0, 0) idx () x: 0\0Apid (1, 0, 0) idx () x: 1\0Apid (0, 1, 0) idx () x: 0\0Apid (1, 1, 0) idx () x: 1\0A"} {
  %x = tt.get_program_id x : i32
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : i32
  tt.return
}

// The trapped program's own text is printed, nothing of programs above it.
tt.func public @up_to_a_trap() attributes {check.grid = array<i32: 64, 1, 1>, check.trap = "program (1, 0, 0)",
    check.prints = "pid (0, 0, 0) idx () x: 0\0Apid (1, 0, 0) idx () x: 1\0A"} {
  %x = tt.get_program_id x : i32
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : i32
  %c1 = arith.constant 1 : i32
  %ok = arith.cmpi ne, %x, %c1 : i32
  tt.assert %ok, "one" : i1
  tt.return
}
