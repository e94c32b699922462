// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce of values with their indices: the largest or smallest, the lowest index among equals.

tt.func public @argmax_f16_4x8_axis_1() {
  %x = arith.constant dense<[[-3.0, 1.0, -5.0, -2.0, 3.0, -3.0, 4.0, -4.0], [5.0, 4.0, -4.0, 4.0, 4.0, -2.0, 5.0, 0.0], [-3.0, -1.0, 5.0, -3.0, 1.0, -5.0, -2.0, 5.0], [-5.0, -1.0, -1.0, -4.0, -5.0, 2.0, -1.0, 4.0]]> : tensor<4x8xf16>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: f16, %a1: i32, %b0: f16, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f16
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf ogt, %a0, %b0 : f16
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f16
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f16, i32
  }) : (tensor<4x8xf16>, tensor<4x8xi32>) -> (tensor<4xf16>, tensor<4xi32>)
  check.eq %r#0, dense<[4.0, 5.0, 5.0, 4.0]> : tensor<4xf16>
  check.eq %r#1, dense<[6, 0, 2, 7]> : tensor<4xi32>
  tt.return
}

tt.func public @argmin_f16_4x8_axis_1() {
  %x = arith.constant dense<[[4.0, -5.0, -2.0, 2.0, 5.0, 5.0, 2.0, -5.0], [5.0, 3.0, -5.0, -3.0, 3.0, -2.0, 0.0, 2.0], [-2.0, 0.0, -3.0, -5.0, 1.0, 3.0, 4.0, 5.0], [5.0, -2.0, -5.0, 0.0, -2.0, 4.0, 0.0, -5.0]]> : tensor<4x8xf16>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: f16, %a1: i32, %b0: f16, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f16
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf olt, %a0, %b0 : f16
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f16
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f16, i32
  }) : (tensor<4x8xf16>, tensor<4x8xi32>) -> (tensor<4xf16>, tensor<4xi32>)
  check.eq %r#0, dense<-5.0> : tensor<4xf16>
  check.eq %r#1, dense<[1, 2, 3, 2]> : tensor<4xi32>
  tt.return
}

tt.func public @argmax_bf16_4x8_axis_1() {
  %x = arith.constant dense<[[0.0, -4.0, -1.0, 1.0, -1.0, -3.0, 3.0, 1.0], [2.0, 2.0, 2.0, 4.0, 4.0, 1.0, -1.0, 2.0], [0.0, -1.0, -5.0, 5.0, 1.0, 3.0, -5.0, 0.0], [3.0, -3.0, 1.0, 2.0, -3.0, 2.0, -3.0, -5.0]]> : tensor<4x8xbf16>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: bf16, %a1: i32, %b0: bf16, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : bf16
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf ogt, %a0, %b0 : bf16
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : bf16
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : bf16, i32
  }) : (tensor<4x8xbf16>, tensor<4x8xi32>) -> (tensor<4xbf16>, tensor<4xi32>)
  check.eq %r#0, dense<[3.0, 4.0, 5.0, 3.0]> : tensor<4xbf16>
  check.eq %r#1, dense<[6, 3, 3, 0]> : tensor<4xi32>
  tt.return
}

tt.func public @argmin_bf16_4x8_axis_1() {
  %x = arith.constant dense<[[-2.0, -3.0, -5.0, 5.0, 3.0, 4.0, 1.0, -1.0], [3.0, 5.0, -3.0, 3.0, 2.0, 3.0, 3.0, 3.0], [-1.0, 1.0, 1.0, -2.0, 5.0, 4.0, 1.0, 3.0], [0.0, 1.0, -3.0, -4.0, -5.0, -3.0, 4.0, 0.0]]> : tensor<4x8xbf16>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: bf16, %a1: i32, %b0: bf16, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : bf16
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf olt, %a0, %b0 : bf16
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : bf16
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : bf16, i32
  }) : (tensor<4x8xbf16>, tensor<4x8xi32>) -> (tensor<4xbf16>, tensor<4xi32>)
  check.eq %r#0, dense<[-5.0, -3.0, -2.0, -5.0]> : tensor<4xbf16>
  check.eq %r#1, dense<[2, 2, 3, 4]> : tensor<4xi32>
  tt.return
}

tt.func public @argmax_f32_16_axis_0() {
  %x = arith.constant dense<[-3.0, 0.0, 2.0, 4.0, 3.0, 3.0, -5.0, 2.0, -4.0, 1.0, -3.0, 1.0, 0.0, -3.0, 2.0, -3.0]> : tensor<16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %a1: i32, %b0: f32, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf ogt, %a0, %b0 : f32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f32, i32
  }) : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
  check.eq %r#0, 4.0 : f32
  check.eq %r#1, 3 : i32
  tt.return
}

tt.func public @argmax_f32_4x8_axis_1() {
  %x = arith.constant dense<[[5.0, 1.0, -1.0, 5.0, 1.0, -1.0, 3.0, 4.0], [-5.0, 2.0, -4.0, 3.0, 3.0, -5.0, 5.0, 0.0], [-3.0, -3.0, 5.0, 1.0, 2.0, -1.0, 5.0, 3.0], [-1.0, -2.0, -3.0, 2.0, 1.0, -5.0, 3.0, 5.0]]> : tensor<4x8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: f32, %a1: i32, %b0: f32, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf ogt, %a0, %b0 : f32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f32, i32
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  check.eq %r#0, dense<5.0> : tensor<4xf32>
  check.eq %r#1, dense<[0, 6, 2, 7]> : tensor<4xi32>
  tt.return
}

tt.func public @argmax_f32_4x8_axis_0() {
  %x = arith.constant dense<[[-4.0, 5.0, 1.0, 4.0, 4.0, 2.0, 3.0, 5.0], [-4.0, 4.0, -4.0, -5.0, 0.0, 3.0, 4.0, 2.0], [2.0, -4.0, 5.0, 2.0, 0.0, -3.0, 2.0, 1.0], [-3.0, 1.0, 0.0, -2.0, -1.0, 1.0, 2.0, -4.0]]> : tensor<4x8xf32>
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %e = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %j = tt.broadcast %e : tensor<4x1xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %a1: i32, %b0: f32, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf ogt, %a0, %b0 : f32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f32, i32
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  check.eq %r#0, dense<[2.0, 5.0, 5.0, 4.0, 4.0, 3.0, 4.0, 5.0]> : tensor<8xf32>
  check.eq %r#1, dense<[2, 0, 2, 0, 0, 1, 1, 0]> : tensor<8xi32>
  tt.return
}

tt.func public @argmin_f32_16_axis_0() {
  %x = arith.constant dense<[5.0, -2.0, 1.0, -3.0, 4.0, 1.0, 3.0, 5.0, 1.0, 1.0, 0.0, -2.0, 3.0, 0.0, -3.0, 0.0]> : tensor<16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %a1: i32, %b0: f32, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf olt, %a0, %b0 : f32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f32, i32
  }) : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
  check.eq %r#0, -3.0 : f32
  check.eq %r#1, 3 : i32
  tt.return
}

tt.func public @argmin_f32_4x8_axis_1() {
  %x = arith.constant dense<[[2.0, 1.0, -5.0, -1.0, -2.0, 2.0, -2.0, 2.0], [-3.0, 0.0, 1.0, -5.0, -4.0, 4.0, -2.0, -5.0], [-3.0, 1.0, 2.0, 3.0, 2.0, 1.0, 5.0, -2.0], [0.0, -5.0, -5.0, 1.0, 4.0, 0.0, -4.0, 4.0]]> : tensor<4x8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: f32, %a1: i32, %b0: f32, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf olt, %a0, %b0 : f32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f32, i32
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  check.eq %r#0, dense<[-5.0, -5.0, -3.0, -5.0]> : tensor<4xf32>
  check.eq %r#1, dense<[2, 3, 0, 1]> : tensor<4xi32>
  tt.return
}

tt.func public @argmin_f32_4x8_axis_0() {
  %x = arith.constant dense<[[5.0, -2.0, 2.0, 4.0, 1.0, 4.0, 2.0, -2.0], [-1.0, 3.0, 4.0, -3.0, -1.0, -4.0, 3.0, -5.0], [4.0, 5.0, 5.0, -2.0, 4.0, -2.0, -3.0, 5.0], [-1.0, -4.0, 2.0, -5.0, 4.0, 1.0, -5.0, 0.0]]> : tensor<4x8xf32>
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %e = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %j = tt.broadcast %e : tensor<4x1xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a0: f32, %a1: i32, %b0: f32, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf olt, %a0, %b0 : f32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f32, i32
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  check.eq %r#0, dense<[-1.0, -4.0, 2.0, -5.0, -1.0, -4.0, -5.0, -5.0]> : tensor<8xf32>
  check.eq %r#1, dense<[1, 3, 0, 3, 1, 1, 3, 1]> : tensor<8xi32>
  tt.return
}

tt.func public @argmax_f64_4x8_axis_1() {
  %x = arith.constant dense<[[-4.0, -2.0, -2.0, 4.0, 0.0, -1.0, 2.0, 0.0], [2.0, 0.0, -1.0, 4.0, 4.0, -3.0, -4.0, 1.0], [2.0, 2.0, 5.0, 3.0, 1.0, 2.0, -2.0, 4.0], [0.0, 1.0, 3.0, 2.0, 0.0, -3.0, -5.0, 0.0]]> : tensor<4x8xf64>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: f64, %a1: i32, %b0: f64, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f64
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf ogt, %a0, %b0 : f64
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f64
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f64, i32
  }) : (tensor<4x8xf64>, tensor<4x8xi32>) -> (tensor<4xf64>, tensor<4xi32>)
  check.eq %r#0, dense<[4.0, 4.0, 5.0, 3.0]> : tensor<4xf64>
  check.eq %r#1, dense<[3, 3, 2, 2]> : tensor<4xi32>
  tt.return
}

tt.func public @argmin_f64_4x8_axis_1() {
  %x = arith.constant dense<[[-4.0, -4.0, 3.0, 0.0, -3.0, 5.0, 1.0, 2.0], [4.0, 4.0, 0.0, -1.0, -2.0, -5.0, 4.0, -5.0], [2.0, -1.0, 3.0, -4.0, 3.0, 2.0, -3.0, 2.0], [-5.0, 5.0, 1.0, 5.0, 0.0, 5.0, -3.0, 1.0]]> : tensor<4x8xf64>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: f64, %a1: i32, %b0: f64, %b1: i32):
    %eq = arith.cmpf oeq, %a0, %b0 : f64
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf olt, %a0, %b0 : f64
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : f64
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : f64, i32
  }) : (tensor<4x8xf64>, tensor<4x8xi32>) -> (tensor<4xf64>, tensor<4xi32>)
  check.eq %r#0, dense<[-4.0, -5.0, -4.0, -5.0]> : tensor<4xf64>
  check.eq %r#1, dense<[0, 5, 3, 0]> : tensor<4xi32>
  tt.return
}

tt.func public @argmax_i8_4x8_axis_1() {
  %x = arith.constant dense<[[-4, 0, -5, -2, 5, 0, 2, 2], [5, 1, -2, 4, -4, 3, 2, 5], [2, 3, 2, 2, 5, 3, -5, -5], [2, -1, 3, -1, 5, -3, 5, -2]]> : tensor<4x8xi8>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %a1: i32, %b0: i8, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i8
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi sgt, %a0, %b0 : i8
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i8
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i8, i32
  }) : (tensor<4x8xi8>, tensor<4x8xi32>) -> (tensor<4xi8>, tensor<4xi32>)
  check.eq %r#0, dense<5> : tensor<4xi8>
  check.eq %r#1, dense<[4, 0, 4, 4]> : tensor<4xi32>
  tt.return
}

tt.func public @argmin_i8_4x8_axis_1() {
  %x = arith.constant dense<[[-3, 5, -5, -3, 1, 1, 3, -1], [-3, 5, -2, -1, -4, 5, -3, -5], [-5, -5, -2, 4, 2, 5, -4, 1], [-2, -2, 5, 5, 2, -2, 2, -1]]> : tensor<4x8xi8>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: i8, %a1: i32, %b0: i8, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i8
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi slt, %a0, %b0 : i8
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i8
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i8, i32
  }) : (tensor<4x8xi8>, tensor<4x8xi32>) -> (tensor<4xi8>, tensor<4xi32>)
  check.eq %r#0, dense<[-5, -5, -5, -2]> : tensor<4xi8>
  check.eq %r#1, dense<[2, 7, 0, 0]> : tensor<4xi32>
  tt.return
}

tt.func public @argmax_i32_16_axis_0() {
  %x = arith.constant dense<[-3, -3, -4, -4, 5, -5, 5, 1, 5, -1, 0, -5, 5, 5, -3, 3]> : tensor<16xi32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi sgt, %a0, %b0 : i32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i32, i32
  }) : (tensor<16xi32>, tensor<16xi32>) -> (i32, i32)
  check.eq %r#0, 5 : i32
  check.eq %r#1, 4 : i32
  tt.return
}

tt.func public @argmax_i32_4x8_axis_1() {
  %x = arith.constant dense<[[5, -4, -3, -5, -5, 3, -2, -4], [-1, -2, -2, 5, 3, 3, 2, 4], [5, -1, 3, 0, 2, -5, -4, -5], [-1, 0, 1, 5, 1, 2, 3, 1]]> : tensor<4x8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi sgt, %a0, %b0 : i32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i32, i32
  }) : (tensor<4x8xi32>, tensor<4x8xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.eq %r#0, dense<5> : tensor<4xi32>
  check.eq %r#1, dense<[0, 3, 0, 3]> : tensor<4xi32>
  tt.return
}

tt.func public @argmax_i32_4x8_axis_0() {
  %x = arith.constant dense<[[2, -3, -5, 5, -1, 3, -4, 2], [0, 2, 3, 2, -3, 3, 3, -1], [-4, -4, -4, -3, -2, -3, 2, -5], [5, -2, -5, -3, 1, 3, 5, 1]]> : tensor<4x8xi32>
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %e = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %j = tt.broadcast %e : tensor<4x1xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi sgt, %a0, %b0 : i32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i32, i32
  }) : (tensor<4x8xi32>, tensor<4x8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  check.eq %r#0, dense<[5, 2, 3, 5, 1, 3, 5, 2]> : tensor<8xi32>
  check.eq %r#1, dense<[3, 1, 1, 0, 3, 0, 3, 0]> : tensor<8xi32>
  tt.return
}

tt.func public @argmin_i32_16_axis_0() {
  %x = arith.constant dense<[4, 5, -4, 2, 0, -3, -5, 0, -5, 4, 5, -2, 2, -4, -5, 5]> : tensor<16xi32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi slt, %a0, %b0 : i32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i32, i32
  }) : (tensor<16xi32>, tensor<16xi32>) -> (i32, i32)
  check.eq %r#0, -5 : i32
  check.eq %r#1, 6 : i32
  tt.return
}

tt.func public @argmin_i32_4x8_axis_1() {
  %x = arith.constant dense<[[3, 2, 5, 5, -2, 1, -5, -3], [-2, 4, -2, -2, 4, -1, -1, -2], [-2, -4, 1, 4, -3, -3, -3, 2], [0, 5, -1, 3, 5, 1, 0, 1]]> : tensor<4x8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi slt, %a0, %b0 : i32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i32, i32
  }) : (tensor<4x8xi32>, tensor<4x8xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.eq %r#0, dense<[-5, -2, -4, -1]> : tensor<4xi32>
  check.eq %r#1, dense<[6, 0, 1, 2]> : tensor<4xi32>
  tt.return
}

tt.func public @argmin_i32_4x8_axis_0() {
  %x = arith.constant dense<[[3, 0, -1, -4, 2, 4, 2, -1], [2, -5, 1, 4, 0, -2, -5, 3], [-4, 1, -4, 1, 1, -4, 1, 2], [0, 2, 5, 2, -5, 4, 5, 0]]> : tensor<4x8xi32>
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %e = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %j = tt.broadcast %e : tensor<4x1xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i32
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi slt, %a0, %b0 : i32
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i32
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i32, i32
  }) : (tensor<4x8xi32>, tensor<4x8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  check.eq %r#0, dense<[-4, -5, -4, -4, -5, -4, -5, -1]> : tensor<8xi32>
  check.eq %r#1, dense<[2, 1, 2, 0, 3, 2, 1, 0]> : tensor<8xi32>
  tt.return
}

tt.func public @argmax_i64_4x8_axis_1() {
  %x = arith.constant dense<[[-5, -4, 4, 0, 5, 0, 2, -1], [-5, -4, -2, -3, -2, 3, 4, -4], [-1, 4, 2, 4, -4, -5, -4, -3], [-3, -3, -4, 1, -5, 1, 4, 0]]> : tensor<4x8xi64>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %a1: i32, %b0: i64, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i64
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi sgt, %a0, %b0 : i64
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i64
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i64, i32
  }) : (tensor<4x8xi64>, tensor<4x8xi32>) -> (tensor<4xi64>, tensor<4xi32>)
  check.eq %r#0, dense<[5, 4, 4, 4]> : tensor<4xi64>
  check.eq %r#1, dense<[4, 6, 1, 6]> : tensor<4xi32>
  tt.return
}

tt.func public @argmin_i64_4x8_axis_1() {
  %x = arith.constant dense<[[3, -5, 0, 5, -2, 4, -2, -1], [2, -1, 3, 1, 5, 1, -3, 1], [2, -5, 4, -3, -5, -4, -3, 4], [0, 5, 2, 3, 5, -5, -3, 0]]> : tensor<4x8xi64>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %j = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %r:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a0: i64, %a1: i32, %b0: i64, %b1: i32):
    %eq = arith.cmpi eq, %a0, %b0 : i64
    %lt = arith.cmpi slt, %a1, %b1 : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpi slt, %a0, %b0 : i64
    %w = arith.ori %gt, %tie : i1
    %o0 = arith.select %w, %a0, %b0 : i64
    %o1 = arith.select %w, %a1, %b1 : i32
    tt.reduce.return %o0, %o1 : i64, i32
  }) : (tensor<4x8xi64>, tensor<4x8xi32>) -> (tensor<4xi64>, tensor<4xi32>)
  check.eq %r#0, dense<[-5, -3, -5, -5]> : tensor<4xi64>
  check.eq %r#1, dense<[1, 6, 1, 5]> : tensor<4xi32>
  tt.return
}
