// RUN: tiletwin-exec %s --backend=interp
// tt.dot reads f32 operands as tf32 if told: the low 13 bits are dropped. With correct rounding asked for, it does not.

tt.func public @tf32_drops_the_low_13_bits() {
  %a = arith.constant dense<[[1.0004883, 0.0], [0.0, 1.0009766]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %c = arith.constant dense<0.0> : tensor<2x2xf32>
  %r = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<2x2xf32> * tensor<2x2xf32> -> tensor<2x2xf32>
  %s = tt.dot %a, %b, %c : tensor<2x2xf32> * tensor<2x2xf32> -> tensor<2x2xf32>
  check.eq %r, dense<[[1.0, 0.0], [0.0, 1.0009766]]> : tensor<2x2xf32>
  check.eq %s, dense<[[1.0004883, 0.0], [0.0, 1.0009766]]> : tensor<2x2xf32>
  tt.return
}
