// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics -tt-make-ttir

// expected-error@+1 {{recursion: again calls itself, directly or through others}}
tt.func private @again(%x: i32) -> i32 {
  %0 = tt.call @again(%x) : (i32) -> i32
  tt.return %0 : i32
}
