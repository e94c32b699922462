// RUN: tiletwin-exec %s --backend=interp
// tt.debug_line: a note for a debugger; plans without one leave it out.

tt.func public @between_operations() {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  tt.debug_line
  %a = arith.addf %x, %x : tensor<4xf32>
  tt.debug_line
  %b = arith.mulf %a, %x : tensor<4xf32>
  check.eq %b, dense<[2.0, 8.0, 18.0, 32.0]> : tensor<4xf32>
  tt.return
}
