// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics -tt-make-ttir

// expected-error@+1 {{recursion: again calls itself, directly or through others}}
tt.func private @again(%x: i32) -> i32 {
  %0 = tt.call @again(%x) : (i32) -> i32
  tt.return %0 : i32
}

// -----

tt.func private @early(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  tt.print "x" {hex = false, isSigned = array<i32>}
  tt.return
}
tt.func public @in_if(%c: i1) {
  scf.if %c {
    // expected-error@+1 {{cannot inline early, which returns early, inside scf.if: give it one return at its end}}
    tt.call @early(%c) : (i1) -> ()
  }
  tt.return
}
