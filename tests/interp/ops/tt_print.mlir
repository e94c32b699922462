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

// As the GPU prints: indices as wide as the largest, addresses and hexadecimal numbers as C's printf has them.
tt.func public @narrow_hex() attributes {check.prints = "pid (0, 0, 0) idx (0) t: 0x7f\0Apid (0, 0, 0) idx (1) t: 0xffffff80\0Apid (0, 0, 0) idx (0) t: 0x7f\0Apid (0, 0, 0) idx (1) t: 0x80\0A"} {
  %t = arith.constant dense<[127, -128]> : tensor<2xi8>
  tt.print " t: " {hex = true, isSigned = array<i32: 1>} : %t : tensor<2xi8>
  tt.print " t: " {hex = true, isSigned = array<i32: 0>} : %t : tensor<2xi8>
  tt.return
}

tt.func public @formats(%p: i64 {check.value = 4096 : i64}) attributes {check.prints = "pid (0, 0, 0) idx () p: 0x1000\0Apid (0, 0, 0) idx () p: 0x0000000000001000\0Apid (0, 0, 0) idx () b: 0x1\0Apid (0, 0, 0) idx (): 0x3fc0\0A"} {
  %q = tt.int_to_ptr %p : i64 -> !tt.ptr<f32>
  tt.print " p: " {hex = false, isSigned = array<i32: 0>} : %q : !tt.ptr<f32>
  tt.print " p: " {hex = true, isSigned = array<i32: 0>} : %q : !tt.ptr<f32>
  %b = arith.constant true
  tt.print " b: " {hex = true, isSigned = array<i32: 0>} : %b : i1
  %f = arith.constant 1.5 : bf16
  tt.print ": " {hex = true, isSigned = array<i32: 0>} : %f : bf16
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
