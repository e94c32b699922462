// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics

tt.func @bitcast_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs two pointers or two numbers of one width, got 'f32' and 'i64'}}
  %0 = tt.bitcast %x : tensor<4xf32> -> tensor<4xi64>
  tt.return
}

// -----

tt.func @fp_to_fp_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs a rounding from 'f32' to 'f16'}}
  %0 = tt.fp_to_fp %x : tensor<4xf32> -> tensor<4xf16>
  tt.return
}

// -----

tt.func @fp_to_fp_c2(%x: tensor<4xf16>) {
  // expected-error@+1 {{has a rounding, but widening from 'f16' to 'f32' is exact}}
  %0 = tt.fp_to_fp %x, rounding = rtz : tensor<4xf16> -> tensor<4xf32>
  tt.return
}

// -----

tt.func @mulhiui_c1(%x: tensor<4xi16>) {
  // expected-error@+1 {{needs integers of 32 or 64 bits, got 'tensor<4xi16>'}}
  %0 = tt.mulhiui %x, %x : tensor<4xi16>
  tt.return
}

// -----

tt.func @popcount_c1(%x: tensor<4xi1>) {
  // expected-error@+1 {{needs integers of 8 bits or more, got 'tensor<4xi1>'}}
  %0 = tt.popcount %x : tensor<4xi1>
  tt.return
}

// -----

tt.func @popcount_of_floats(%x: f32) {
  // expected-error@+1 {{operand #0 must be integer or tile of integers, but got 'f32'}}
  %0 = tt.popcount %x : f32
  tt.return
}

// -----

tt.func @map_elementwise_c2(%x: tensor<4xi32>) {
  // expected-error@+1 {{needs a pack that divides 4 elements, got 3}}
  %0 = "tt.map_elementwise"(%x) <{pack = 3 : i32}> ({
  ^bb0(%a: i32, %b: i32, %c: i32):
    tt.map_elementwise.return %a, %b, %c : i32, i32, i32
  }) : (tensor<4xi32>) -> tensor<4xi32>
  tt.return
}

// -----

tt.func @map_elementwise_c3(%x: tensor<4xi32>) {
  // expected-error@+1 {{needs a region with 2 arguments}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32):
    tt.map_elementwise.return %a, %a : i32, i32
  }) : (tensor<4xi32>) -> tensor<4xi32>
  tt.return
}

// -----

tt.func @map_elementwise_c4(%x: tensor<4xi32>) {
  // expected-error@+1 {{needs a region that returns 1 values}}
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    tt.map_elementwise.return %a, %a : i32, i32
  }) : (tensor<4xi32>) -> tensor<4xi32>
  tt.return
}

// -----

tt.func @extern_elementwise_c1(%x: f32) {
  // expected-error@+1 {{names no symbol}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = ""} : (f32) -> f32
  tt.return
}

// -----

tt.func @inline_asm_c1(%x: i32) {
  // expected-error@+1 {{needs packed_element >= 1, got 0}}
  %0 = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 0 : i32, pure = true} %x : i32 -> i32
  tt.return
}

// -----

tt.func @reduce_c1(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error@+1 {{needs operands of one shape, got 4 and 8}}
  %0:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tt.reduce.return %a, %b : f32, f32
  }) : (tensor<4xf32>, tensor<8xf32>) -> (f32, f32)
  tt.return
}

// -----

tt.func @reduce_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs 0 <= axis < 1, got 1}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_c3(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{gives 'tensor<4xf32>', but its result is 'tensor<8xf32>'}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4x8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @reduce_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs a region with 2 arguments: the operands' element types, twice}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: i32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_c5(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs a region that ends in tt.reduce.return of the 1 element types}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a, %b : f32, f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

tt.func @scan_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs one result per operand, of its type}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<4xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @histogram_c1(%x: tensor<4x4xi32>) {
  // expected-error@+1 {{needs tiles of rank 1, got 4x4 and 16}}
  %0 = tt.histogram %x : tensor<4x4xi32> -> tensor<16xi32>
  tt.return
}

// -----

tt.func @dot_c1(%a: tensor<16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{needs operands of one rank, 2 or 3, got a 16, b 16 and result 16x16}}
  %0 = tt.dot %a, %a, %c : tensor<16xf16> * tensor<16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_c2(%a: tensor<16x32xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{needs a of MxK, b of KxN and a result of MxN, got a 16x32, b 16x16 and result 16x16}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_c3(%a: tensor<16x16xf16>, %b: tensor<16x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{needs operands of one element type (or f8 formats), got 'f16' and 'bf16'}}
  %0 = tt.dot %a, %b, %c : tensor<16x16xf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_c4(%a: tensor<16x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{of 'i8' gives i32 (and takes i8), not 'f32'}}
  %0 = tt.dot %a, %a, %c : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_scaled_c2(%a: tensor<16x32xi8>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{needs one K, got 64 of a and 32 of b}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8> * tensor<32x16xbf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_scaled_c4(%a: tensor<16x32xi8>, %s: tensor<16x8xi8>, %b: tensor<64x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{needs a_scale of shape 16x2 (or a group of 16), got 16x8}}
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x8xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_scaled_c4_type(%a: tensor<16x32xi8>, %s: tensor<16x2xf16>, %b: tensor<64x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{needs a_scale of i8 (e8m0) or f8E4M3FN, got 'f16'}}
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xf16> * tensor<64x16xbf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_scaled_c5(%a: tensor<16x32xf16>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{reads a as e4m3, but it holds 'f16'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<16x32xf16> * tensor<32x16xbf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @print_c1(%x: i32) {
  // expected-error@+1 {{needs 1 entries in isSigned, got 0}}
  tt.print "x" {hex = false, isSigned = array<i32>} : %x : i32
  tt.return
}

// -----

tt.func @return_c1() -> i32 {
  // expected-error@+1 {{needs 1 values, got 0}}
  tt.return
}

// -----

tt.func @return_c1_type(%x: f32) -> i32 {
  // expected-error@+1 {{values 0 needs type 'i32', got 'f32'}}
  tt.return %x : f32
}

// -----

tt.func @call_c1() {
  // expected-error@+1 {{calls @nowhere, which is not a tt.func of this module}}
  tt.call @nowhere() : () -> ()
  tt.return
}

// -----

tt.func private @callee(%x: i32) -> i32 { tt.return %x : i32 }
tt.func @call_c2(%x: f32) {
  // expected-error@+1 {{operands 0 needs type 'i32', got 'f32'}}
  %0 = tt.call @callee(%x) : (f32) -> i32
  tt.return
}

// -----

tt.func private @callee(%x: i32) -> i32 { tt.return %x : i32 }
tt.func @call_c3(%x: i32) {
  // expected-error@+1 {{results 0 needs type 'i32', got 'f32'}}
  %0 = tt.call @callee(%x) : (i32) -> f32
  tt.return
}
