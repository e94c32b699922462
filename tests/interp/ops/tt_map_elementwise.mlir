// RUN: tiletwin-exec %s --backend=interp
// tt.map_elementwise: a scalar program for each group of elements.

// Branches alone: computed on whole tiles.
tt.func public @branches(%slope: f32 {check.value = 0.125 : f32}) {
  %x = arith.constant dense<[1.0, -8.0, 0.0, -0.0, 0x7FC00000, 0xFF800000, 4.0, -1.0]> : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %r = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    %c = arith.cmpf ogt, %a, %zero : f32
    %y = scf.if %c -> (f32) {
      scf.yield %a : f32
    } else {
      %b = arith.mulf %a, %slope : f32
      scf.yield %b : f32
    }
    tt.map_elementwise.return %y : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  check.eq %r, dense<[1.0, -1.0, 0.0, -0.0, 0x7FC00000, 0xFF800000, 4.0, -0.125]> : tensor<8xf32>
  tt.return
}

// A loop: element by element.
tt.func public @triangular() {
  %n = arith.constant dense<[[0, 1], [4, 10]]> : tensor<2x2xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = "tt.map_elementwise"(%n) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %sum = scf.for %i = %c0 to %a step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %next = arith.addi %s, %i : i32
      scf.yield %next : i32
    }
    tt.map_elementwise.return %sum : i32
  }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  check.eq %r, dense<[[0, 0], [6, 45]]> : tensor<2x2xi32>
  tt.return
}

// Packs and two results.
tt.func public @swap_and_sum() {
  %x = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi16>
  %y = arith.constant dense<[10, 20, 30, -32768]> : tensor<4xi16>
  %r:2 = "tt.map_elementwise"(%x, %y) <{pack = 2 : i32}> ({
  ^bb0(%a0: i16, %a1: i16, %b0: i16, %b1: i16):
    %s = arith.addi %a0, %b0 : i16
    %t = arith.subi %b1, %a1 : i16
    tt.map_elementwise.return %a1, %a0, %s, %t : i16, i16, i16, i16
  }) : (tensor<4xi16>, tensor<4xi16>) -> (tensor<4xi16>, tensor<4xi16>)
  check.eq %r#0, dense<[2, 1, 4, 3]> : tensor<4xi16>
  check.eq %r#1, dense<[11, 18, 33, 32764]> : tensor<4xi16>
  tt.return
}

// Inline assembly on elements, in a loop around.
tt.func public @carried() {
  %x = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> (tensor<4xi32>) : i32 {
    %m = "tt.map_elementwise"(%t) <{pack = 1 : i32}> ({
    ^bb0(%a: i32):
      %b = tt.elementwise_inline_asm "add.s32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %a, %i : i32, i32 -> i32
      tt.map_elementwise.return %b : i32
    }) : (tensor<4xi32>) -> tensor<4xi32>
    scf.yield %m : tensor<4xi32>
  }
  check.eq %r, dense<[4, 5, 6, 7]> : tensor<4xi32>
  tt.return
}
