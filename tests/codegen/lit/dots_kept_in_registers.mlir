// RUN: tiletwin-translate %s --emit-ttgir --arch=sm_90a -split-input-file | FileCheck %s
// First matrices that a loop does not change are in registers, if its sums leave room for them.

// They come there in front of the loop.
// CHECK-LABEL: @room
// CHECK: twg.convert_layout {{.*}} : tensor<64x64xf16
// CHECK: scf.for
// CHECK-NOT: twg.convert_layout {{.*}} : tensor<64x64xf16
// CHECK: twg.warpgroup_dot {{.*}} : tensor<64x64xf16, #{{[a-z0-9]+}}> * !twg.memdesc<64x64xf16
tt.func public @room(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %scaled = arith.muli %rows, %c64 : tensor<64x1xi32>
  %wide = tt.broadcast %scaled : tensor<64x1xi32> -> tensor<64x64xi32>
  %along = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %wide, %along : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ap = tt.addptr %as, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %x = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %end:2 = scf.for %i = %zero to %n step %one iter_args(%p = %bp, %q = %op) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f32>>) : i32 {
    %y = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %none : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.store %q, %d : tensor<64x64x!tt.ptr<f32>>
    %p1 = tt.addptr %p, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %q1 = tt.addptr %q, %step : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    scf.yield %p1, %q1 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// A sum of 128 registers leaves none, so that each product reads the matrix from memory.
// CHECK-LABEL: @no_room
// CHECK: twg.warpgroup_dot {{.*}} : !twg.memdesc<64x64xf16, {{.*}}> * !twg.memdesc<64x256xf16
tt.func public @no_room(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x256xf32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %c256 = arith.constant dense<256> : tensor<64x1xi32>
  %step = arith.constant dense<16384> : tensor<64x256xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %few = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %many = tt.expand_dims %s {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %short = arith.muli %rows, %c64 : tensor<64x1xi32>
  %long = arith.muli %rows, %c256 : tensor<64x1xi32>
  %w0 = tt.broadcast %short : tensor<64x1xi32> -> tensor<64x64xi32>
  %w1 = tt.broadcast %few : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %w0, %w1 : tensor<64x64xi32>
  %v0 = tt.broadcast %long : tensor<64x1xi32> -> tensor<64x256xi32>
  %v1 = tt.broadcast %many : tensor<1x256xi32> -> tensor<64x256xi32>
  %to = arith.addi %v0, %v1 : tensor<64x256xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ap = tt.addptr %as, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %x = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x256x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %to : tensor<64x256x!tt.ptr<f16>>, tensor<64x256xi32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x256x!tt.ptr<f32>>
  %op = tt.addptr %os, %to : tensor<64x256x!tt.ptr<f32>>, tensor<64x256xi32>
  %end:2 = scf.for %i = %zero to %n step %one iter_args(%p = %bp, %q = %op) -> (tensor<64x256x!tt.ptr<f16>>, tensor<64x256x!tt.ptr<f32>>) : i32 {
    %y = tt.load %p : tensor<64x256x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %none : tensor<64x64xf16> * tensor<64x256xf16> -> tensor<64x256xf32>
    tt.store %q, %d : tensor<64x256x!tt.ptr<f32>>
    %p1 = tt.addptr %p, %step : tensor<64x256x!tt.ptr<f16>>, tensor<64x256xi32>
    %q1 = tt.addptr %q, %step : tensor<64x256x!tt.ptr<f32>>, tensor<64x256xi32>
    scf.yield %p1, %q1 : tensor<64x256x!tt.ptr<f16>>, tensor<64x256x!tt.ptr<f32>>
  }
  tt.return
}
