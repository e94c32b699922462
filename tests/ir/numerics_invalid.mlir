// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics -tt-numerics="only-verify capability=75"

// What is not said explicitly is an error, at its line.
tt.func public @leftovers(%x: f32, %b: bf16, %f: f8E5M2, %i: i32) attributes {noinline = false} {
  // expected-error@+1 {{numerics for sm_75: `math.exp` leaves its rounding to the target}}
  %0 = math.exp %x : f32
  // expected-error@+1 {{numerics for sm_75: `arith.divf` leaves its rounding to the target}}
  %1 = arith.divf %x, %x : f32
  // expected-error@+1 {{numerics for sm_75: `tt.precise_divf` leaves its rounding to the target}}
  %2 = tt.precise_divf %x, %x : f32
  // expected-error@+1 {{numerics for sm_75: `math.tan` is no operation of the language}}
  %3 = math.tan %x : f32
  // expected-error@+1 {{numerics for sm_75: `arith.mulf` has fast-math flags}}
  %4 = arith.mulf %x, %x fastmath<contract> : f32
  // expected-error@+1 {{numerics for sm_75: `arith.addf` has no instruction on the target}}
  %5 = arith.addf %b, %b : bf16
  // expected-error@+1 {{numerics for sm_75: `arith.addf` has no instruction on the target}}
  %6 = arith.addf %f, %f : f8E5M2
  // expected-error@+1 {{numerics for sm_75: `arith.sitofp` may be rounded twice on the target}}
  %7 = arith.sitofp %i : i32 to bf16
  %8 = arith.addf %x, %x : f32
  %9 = math.absf %x : f32
  %10 = arith.divsi %i, %i : i32
  tt.return
}

// -----

tt.func public @rsqrt_c1(%x: f64) attributes {noinline = false} {
  // expected-error@+1 {{flushes denormals of f32 only, got ftz for 'f64'}}
  %0 = tw.rsqrt_approx %x ftz : f64
  tt.return
}

// -----

tt.func public @div_full_type(%x: f64) attributes {noinline = false} {
  // expected-error@+1 {{must be f32 or tile of f32, but got 'f64'}}
  %0 = tw.div_full %x, %x : f64
  tt.return
}

// -----

tt.func public @order(%t: tensor<4xf32>) -> f32 attributes {noinline = false} {
  // expected-error@+1 {{needs each of the 2 index bits of its axis once in tw.order}}
  %0 = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tt.reduce.return %s : f32
  }) {tw.order = array<i32: 1, 1>} : (tensor<4xf32>) -> f32
  tt.return %0 : f32
}

// -----

tt.func public @order_elsewhere(%x: f32) attributes {noinline = false} {
  // expected-error@+1 {{has tw.order, which only tt.reduce may have}}
  %0 = arith.addf %x, %x {tw.order = array<i32: 1, 0>} : f32
  tt.return
}
