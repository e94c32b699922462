// RUN: tiletwin-exec %s --backend=interp
// tt.debug_constant: a note for a debugger; plans without one leave it out.

tt.func public @numbers_and_text(%x: i32 {check.value = 7 : i32}) {
  tt.debug_constant "BLOCK", "int32", 128 : i64
  tt.debug_constant "scale", "fp64", 0.5 : f64
  tt.debug_constant "precision", "str", "ieee"
  check.eq %x, 7 : i32
  tt.return
}
