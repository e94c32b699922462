// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 -split-input-file -verify-diagnostics
// What is not compiled is an error at its line, which names the operation and the target.

tt.func public @asm_operand(%p: !tt.ptr<i32>, %a: i32) {
  // expected-error @below {{names an operand}}
  %y = tt.elementwise_inline_asm "mov.b32 $0, $2;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a : i32 -> i32
  tt.store %p, %y : !tt.ptr<i32>
  tt.return
}

// -----

tt.func public @asm_constraints(%p: !tt.ptr<i32>, %a: i32) {
  // expected-error @below {{has constraints for 3 registers, but needs 2}}
  %y = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %a : i32 -> i32
  tt.store %p, %y : !tt.ptr<i32>
  tt.return
}

// -----

tt.func public @asm_width(%p: !tt.ptr<i32>, %a: i32) {
  // expected-error @below {{has constraint "=h", which holds 16 bits; the result needs 32}}
  %y = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=h,r", packed_element = 1 : i32, pure = true} %a : i32 -> i32
  tt.store %p, %y : !tt.ptr<i32>
  tt.return
}

// -----

tt.func public @library(%p: !tt.ptr<f32>, %x: f32) {
  // expected-error @below {{calls `mine`, which libdevice does not have; functions of /lib/mine.bc cannot be called}}
  %0 = tt.extern_elementwise %x {libname = "mine", libpath = "/lib/mine.bc", pure = true, symbol = "mine"} : (f32) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// -----

tt.func public @library_types(%p: !tt.ptr<f32>, %x: f32) {
  // expected-error @below {{calls `__nv_sqrt` as}}
  %0 = tt.extern_elementwise %x {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_sqrt"} : (f32) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// -----

tt.func public @map_with_effects(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %y = "tt.map_elementwise"(%i) <{pack = 1 : i32}> ({
  ^bb0(%l: i32):
    // expected-error @below {{in a function of tl.map_elementwise is not compiled for sm_80 yet}}
    tt.store %p, %l : !tt.ptr<i32>
    tt.map_elementwise.return %l : i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  %c = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %d = tt.addptr %c, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %d, %y : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

tt.func public @no_such_reduction(%p: !tt.ptr<i64>, %n: i32, %x: i64) {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%n], [%one] : <i64>, <16xsi64>
  %v = tt.splat %x : i64 -> tensor<16xi64>
  // expected-error @below {{inc on elements of si64 is not compiled for sm_80 yet}}
  tt.descriptor_reduce inc, %a[%zero], %v : !tt.tensordesc<16xsi64>, tensor<16xi64>
  tt.return
}

// -----

tt.func public @map_with_prefetch(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %y = "tt.map_elementwise"(%i) <{pack = 1 : i32}> ({
  ^bb0(%l: i32):
    // expected-error @below {{in a function of tl.map_elementwise is not compiled for sm_80 yet}}
    tt.prefetch %p : !tt.ptr<i32>
    tt.map_elementwise.return %l : i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  %c = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %d = tt.addptr %c, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %d, %y : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

tt.func public @no_such_operation(%p: !tt.ptr<f32>, %x: f32) {
  // expected-error @below {{`math.tanh` is no operation of the language, and its rounding is the target's choice}}
  %0 = math.tanh %x : f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// -----

tt.func public @no_row(%p: !tt.ptr<i32>, %x: i32) {
  // expected-error @below {{'arith.ceildivsi' op is not compiled for sm_80 yet}}
  %0 = arith.ceildivsi %x, %x : i32
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
}
