// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.addptr: elements of the pointee's size, offsets sign-extended; tt.ptr_to_int and tt.int_to_ptr: addresses.

tt.func public @addptr_counts_elements(%p: !tt.ptr<i64> {check.data = dense<0> : tensor<4xi64>}) {
  %c = arith.constant 3 : i32
  %q = tt.addptr %p, %c : !tt.ptr<i64>, i32
  %a = tt.ptr_to_int %p : !tt.ptr<i64> -> i64
  %b = tt.ptr_to_int %q : !tt.ptr<i64> -> i64
  %d = arith.subi %b, %a : i64
  check.eq %d, 24 : i64
  tt.return
}

tt.func public @addptr_of_negative_i8_offset(%p: !tt.ptr<f16> {check.data = dense<0.0> : tensor<4xf16>}, %n: i8 {check.value = -3 : i8}) {
  %q = tt.addptr %p, %n : !tt.ptr<f16>, i8
  %a = tt.ptr_to_int %p : !tt.ptr<f16> -> i64
  %b = tt.ptr_to_int %q : !tt.ptr<f16> -> i64
  %d = arith.subi %b, %a : i64
  check.eq %d, -6 : i64
  tt.return
}

tt.func public @addptr_of_i1_counts_bytes(%p: !tt.ptr<i1> {check.data = dense<true> : tensor<4xi1>}) {
  %c = arith.constant 3 : i32
  %q = tt.addptr %p, %c : !tt.ptr<i1>, i32
  %a = tt.ptr_to_int %p : !tt.ptr<i1> -> i64
  %b = tt.ptr_to_int %q : !tt.ptr<i1> -> i64
  %d = arith.subi %b, %a : i64
  check.eq %d, 3 : i64
  tt.return
}

tt.func public @addptr_of_tiles(%p: !tt.ptr<f32> {check.data = dense<0.0> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %k = arith.muli %i, %i : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %k : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %a = tt.ptr_to_int %ps : tensor<4x!tt.ptr<f32>> -> tensor<4xi64>
  %b = tt.ptr_to_int %q : tensor<4x!tt.ptr<f32>> -> tensor<4xi64>
  %d = arith.subi %b, %a : tensor<4xi64>
  check.eq %d, dense<[0, 4, 16, 36]> : tensor<4xi64>
  tt.return
}

tt.func public @int_to_ptr_and_back(%p: !tt.ptr<f32> {check.data = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %a = tt.ptr_to_int %q : tensor<4x!tt.ptr<f32>> -> tensor<4xi64>
  %b = tt.int_to_ptr %a : tensor<4xi64> -> tensor<4x!tt.ptr<f32>>
  %r = tt.load %b : tensor<4x!tt.ptr<f32>>
  check.eq %r, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  tt.return
}

// 32-bit index arithmetic that wraps: the sum is taken in 32 bits, then sign-extended.
tt.func public @offsets_that_wrap(%p: !tt.ptr<i8> {check.data = dense<0> : tensor<4xi8>}, %n: i32 {check.value = 2147483646 : i32}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = tt.splat %n : i32 -> tensor<4xi32>
  %j = arith.addi %i, %s : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<4x!tt.ptr<i8>>
  %q = tt.addptr %ps, %j : tensor<4x!tt.ptr<i8>>, tensor<4xi32>
  %a = tt.ptr_to_int %ps : tensor<4x!tt.ptr<i8>> -> tensor<4xi64>
  %b = tt.ptr_to_int %q : tensor<4x!tt.ptr<i8>> -> tensor<4xi64>
  %d = arith.subi %b, %a : tensor<4xi64>
  check.eq %d, dense<[2147483646, 2147483647, -2147483648, -2147483647]> : tensor<4xi64>
  tt.return
}
