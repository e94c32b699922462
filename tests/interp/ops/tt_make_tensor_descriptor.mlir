// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.make_tensor_descriptor: what its memory must be like, and descriptors that are chosen at run time.

tt.func public @select_0(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}, %q: !tt.ptr<f32> {check.data = dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0], [-17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0], [-33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0]]> : tensor<5x8xf32>}, %c: i1 {check.value = false}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %z = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %b = tt.make_tensor_descriptor %q, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %three = arith.constant 3 : i32
  %d = arith.select %c, %b, %a : !tt.tensordesc<4x4xf32>
  %r = tt.descriptor_load %d[%three, %z] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[25.0, 26.0, 27.0, 28.0], [33.0, 34.0, 35.0, 36.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @branch_0(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}, %q: !tt.ptr<f32> {check.data = dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0], [-17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0], [-33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0]]> : tensor<5x8xf32>}, %c: i1 {check.value = false}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %z = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %b = tt.make_tensor_descriptor %q, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %three = arith.constant 3 : i32
  %d = scf.if %c -> (!tt.tensordesc<4x4xf32>) {
    scf.yield %b : !tt.tensordesc<4x4xf32>
  } else {
    scf.yield %a : !tt.tensordesc<4x4xf32>
  }
  %r = tt.descriptor_load %d[%three, %z] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[25.0, 26.0, 27.0, 28.0], [33.0, 34.0, 35.0, 36.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @select_1(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}, %q: !tt.ptr<f32> {check.data = dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0], [-17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0], [-33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0]]> : tensor<5x8xf32>}, %c: i1 {check.value = true}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %z = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %b = tt.make_tensor_descriptor %q, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %three = arith.constant 3 : i32
  %d = arith.select %c, %b, %a : !tt.tensordesc<4x4xf32>
  %r = tt.descriptor_load %d[%three, %z] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[-25.0, -26.0, -27.0, -28.0], [-33.0, -34.0, -35.0, -36.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @branch_1(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}, %q: !tt.ptr<f32> {check.data = dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0], [-17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0], [-33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0]]> : tensor<5x8xf32>}, %c: i1 {check.value = true}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %z = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %b = tt.make_tensor_descriptor %q, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %three = arith.constant 3 : i32
  %d = scf.if %c -> (!tt.tensordesc<4x4xf32>) {
    scf.yield %b : !tt.tensordesc<4x4xf32>
  } else {
    scf.yield %a : !tt.tensordesc<4x4xf32>
  }
  %r = tt.descriptor_load %d[%three, %z] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[-25.0, -26.0, -27.0, -28.0], [-33.0, -34.0, -35.0, -36.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @swapped_in_a_loop_0_times(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}, %q: !tt.ptr<f32> {check.data = dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0], [-17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0], [-33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0]]> : tensor<5x8xf32>}, %n: i32 {check.value = 0 : i32}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %z = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %b = tt.make_tensor_descriptor %q, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %d:2 = scf.for %k = %z to %n step %one iter_args(%u = %a, %w = %b) -> (!tt.tensordesc<4x4xf32>, !tt.tensordesc<4x4xf32>) : i32 {
    scf.yield %w, %u : !tt.tensordesc<4x4xf32>, !tt.tensordesc<4x4xf32>
  }
  %r = tt.descriptor_load %d#0[%three, %z] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[25.0, 26.0, 27.0, 28.0], [33.0, 34.0, 35.0, 36.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @swapped_in_a_loop_1_times(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}, %q: !tt.ptr<f32> {check.data = dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0], [-17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0], [-33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0]]> : tensor<5x8xf32>}, %n: i32 {check.value = 1 : i32}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %z = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %b = tt.make_tensor_descriptor %q, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %d:2 = scf.for %k = %z to %n step %one iter_args(%u = %a, %w = %b) -> (!tt.tensordesc<4x4xf32>, !tt.tensordesc<4x4xf32>) : i32 {
    scf.yield %w, %u : !tt.tensordesc<4x4xf32>, !tt.tensordesc<4x4xf32>
  }
  %r = tt.descriptor_load %d#0[%three, %z] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[-25.0, -26.0, -27.0, -28.0], [-33.0, -34.0, -35.0, -36.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @swapped_in_a_loop_2_times(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}, %q: !tt.ptr<f32> {check.data = dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0], [-17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0], [-33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0]]> : tensor<5x8xf32>}, %n: i32 {check.value = 2 : i32}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %z = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %b = tt.make_tensor_descriptor %q, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %d:2 = scf.for %k = %z to %n step %one iter_args(%u = %a, %w = %b) -> (!tt.tensordesc<4x4xf32>, !tt.tensordesc<4x4xf32>) : i32 {
    scf.yield %w, %u : !tt.tensordesc<4x4xf32>, !tt.tensordesc<4x4xf32>
  }
  %r = tt.descriptor_load %d#0[%three, %z] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[25.0, 26.0, 27.0, 28.0], [33.0, 34.0, 35.0, 36.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @swapped_in_a_loop_3_times(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}, %q: !tt.ptr<f32> {check.data = dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0], [-9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0], [-17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0], [-33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0]]> : tensor<5x8xf32>}, %n: i32 {check.value = 3 : i32}) {
  %s0 = arith.constant 5 : i32
  %s1 = arith.constant 8 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %z = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %p, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %b = tt.make_tensor_descriptor %q, [%s0, %s1], [%t0, %t1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %d:2 = scf.for %k = %z to %n step %one iter_args(%u = %a, %w = %b) -> (!tt.tensordesc<4x4xf32>, !tt.tensordesc<4x4xf32>) : i32 {
    scf.yield %w, %u : !tt.tensordesc<4x4xf32>, !tt.tensordesc<4x4xf32>
  }
  %r = tt.descriptor_load %d#0[%three, %z] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  check.eq %r, dense<[[-25.0, -26.0, -27.0, -28.0], [-33.0, -34.0, -35.0, -36.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<4x4xf32>
  tt.return
}

tt.func public @base_not_aligned(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) attributes {check.trap = "tl.make_tensor_descriptor: program (0, 0, 0): the base of a descriptor must lie at a multiple of 16 bytes, and its address is 12 past one"} {
  %o = arith.constant 3 : i32
  %b = tt.addptr %p, %o : !tt.ptr<f32>, i32
  %s0 = arith.constant 2 : i32
  %s1 = arith.constant 4 : i32
  %z = arith.constant 0 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %b, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<2x4xf32>
  %r = tt.descriptor_load %d[%z, %z] : !tt.tensordesc<2x4xf32> -> tensor<2x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  tt.return
}

tt.func public @stride_not_aligned(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) attributes {check.trap = "stride 0 of a descriptor must be a multiple of 16 bytes, got 6 elements of 4 bytes"} {
  %o = arith.constant 0 : i32
  %b = tt.addptr %p, %o : !tt.ptr<f32>, i32
  %s0 = arith.constant 2 : i32
  %s1 = arith.constant 4 : i32
  %z = arith.constant 0 : i32
  %t0 = arith.constant 6 : i64
  %t1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %b, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<2x4xf32>
  %r = tt.descriptor_load %d[%z, %z] : !tt.tensordesc<2x4xf32> -> tensor<2x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  tt.return
}

tt.func public @last_stride(%p: !tt.ptr<f32> {check.data = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0], [25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0], [33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0]]> : tensor<5x8xf32>}) attributes {check.trap = "the last stride of a descriptor must be 1, got 2"} {
  %o = arith.constant 0 : i32
  %b = tt.addptr %p, %o : !tt.ptr<f32>, i32
  %s0 = arith.constant 2 : i32
  %s1 = arith.constant 4 : i32
  %z = arith.constant 0 : i32
  %t0 = arith.constant 8 : i64
  %t1 = arith.constant 2 : i64
  %d = tt.make_tensor_descriptor %b, [%s0, %s1], [%t0, %t1] : !tt.ptr<f32>, !tt.tensordesc<2x4xf32>
  %r = tt.descriptor_load %d[%z, %z] : !tt.tensordesc<2x4xf32> -> tensor<2x4xf32>
  check.eq %r, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  tt.return
}
