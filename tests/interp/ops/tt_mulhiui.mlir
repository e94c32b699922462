// RUN: tiletwin-exec %s --backend=interp
// tt.mulhiui: the upper half of the unsigned product.

tt.func public @mulhiui_i32() {
  %x = arith.constant dense<[-1, -2147483648, 305419896, -1, 3, -2, 2147483647, 0]> : tensor<8xi32>
  %y = arith.constant dense<[-1, 2, -1698898192, 1, 5, -3, 4, -1]> : tensor<8xi32>
  %r = tt.mulhiui %x, %y : tensor<8xi32>
  check.eq %r, dense<[-2, 1, 184609358, 0, 0, -5, 1, 0]> : tensor<8xi32>
  tt.return
}

tt.func public @mulhiui_i64() {
  %x = arith.constant dense<[-1, -9223372036854775808, 305419896, -1, 3, -2, 9223372036854775807, 0]> : tensor<8xi64>
  %y = arith.constant dense<[-1, 2, 2596069104, 1, 5, -3, 4, -1]> : tensor<8xi64>
  %r = tt.mulhiui %x, %y : tensor<8xi64>
  check.eq %r, dense<[-2, 1, 0, 0, 0, -5, 1, 0]> : tensor<8xi64>
  tt.return
}

tt.func public @mulhiui_scalar(%x: i32 {check.value = -1 : i32}) {
  %r = tt.mulhiui %x, %x : i32
  check.eq %r, -2 : i32
  tt.return
}
