// RUN: tiletwin-exec %s --backend=interp
// exp2 of a difference runs as one function where nothing else reads the difference, and as two where something does.

tt.func public @only_reader(%p: !tt.ptr<f32> {check.data = dense<[3.0, 4.0, 5.0, 6.0]> : tensor<4xf32>,
                                              check.after = dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %x = tt.load %q : tensor<4x!tt.ptr<f32>>
  %d = arith.subf %x, %three : tensor<4xf32>
  %e = math.exp2 %d : tensor<4xf32>
  tt.store %q, %e : tensor<4x!tt.ptr<f32>>
  tt.return
}

// The difference is stored as well.
tt.func public @stored_too(%p: !tt.ptr<f32> {check.data = dense<[3.0, 4.0, 5.0, 6.0]> : tensor<4xf32>,
                                             check.after = dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>},
                           %o: !tt.ptr<f32> {check.data = dense<0.0> : tensor<4xf32>,
                                             check.after = dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %r = tt.addptr %os, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %x = tt.load %q : tensor<4x!tt.ptr<f32>>
  %d = arith.subf %x, %three : tensor<4xf32>
  %e = math.exp2 %d : tensor<4xf32>
  tt.store %r, %d : tensor<4x!tt.ptr<f32>>
  tt.store %q, %e : tensor<4x!tt.ptr<f32>>
  tt.return
}

// The difference is an operand of a later operation, and leaves the group.
tt.func public @read_later(%p: !tt.ptr<f32> {check.data = dense<[3.0, 4.0, 5.0, 6.0]> : tensor<4xf32>,
                                             check.after = dense<[6.0, 7.0, 9.0, 13.0]> : tensor<4xf32>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %x = tt.load %q : tensor<4x!tt.ptr<f32>>
  %d = arith.subf %x, %three : tensor<4xf32>
  %e = math.exp2 %d : tensor<4xf32>
  %m = "tt.reduce"(%d) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<4xf32>) -> f32
  %ms = tt.splat %m : f32 -> tensor<4xf32>
  %y = arith.addf %e, %ms : tensor<4xf32>
  %z = arith.subf %y, %one : tensor<4xf32>
  tt.store %q, %z : tensor<4x!tt.ptr<f32>>
  tt.return
}

// Operands keep their places: casts on either side, and a product or difference as either operand.
tt.func public @places(%p: !tt.ptr<f32> {check.data = dense<[3.0, 4.0, 5.0, 6.0]> : tensor<4xf32>,
                                         check.after = dense<[1.0, 0.0, 6.0, 60.0]> : tensor<4xf32>},
                       %h: !tt.ptr<f16> {check.data = dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf16>,
                                         check.after = dense<[4.0, 4.0, 2.0, -4.0]> : tensor<4xf16>}) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %hs = tt.splat %h : !tt.ptr<f16> -> tensor<4x!tt.ptr<f16>>
  %r = tt.addptr %hs, %i : tensor<4x!tt.ptr<f16>>, tensor<4xi32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %x = tt.load %q : tensor<4x!tt.ptr<f32>>
  %n = tt.load %r : tensor<4x!tt.ptr<f16>>
  %w1 = arith.extf %n : tensor<4xf16> to tensor<4xf32>
  %w2 = arith.extf %n : tensor<4xf16> to tensor<4xf32>
  %w3 = arith.extf %n : tensor<4xf16> to tensor<4xf32>
  // (x - w) * 2, rounded to f16
  %d = arith.subf %x, %w1 : tensor<4xf32>
  %e = arith.mulf %d, %two : tensor<4xf32>
  %f = arith.truncf %e : tensor<4xf32> to tensor<4xf16>
  // (x - w * 2) * (2 - w)
  %g = arith.mulf %w2, %two : tensor<4xf32>
  %k = arith.subf %x, %g : tensor<4xf32>
  %l = arith.subf %two, %w3 : tensor<4xf32>
  %m = arith.mulf %k, %l : tensor<4xf32>
  tt.store %r, %f : tensor<4x!tt.ptr<f16>>
  tt.store %q, %m : tensor<4x!tt.ptr<f32>>
  tt.return
}
