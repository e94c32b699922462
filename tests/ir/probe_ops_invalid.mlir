// RUN: tiletwin-opt %s -split-input-file -verify-diagnostics

tt.func @probe_lanes_c1(%bad: tensor<8xi8>) {
  // expected-error@+1 {{needs 1 to 255 origins for i8 lanes, got 0}}
  tt.probe_lanes %bad, "nan", "tt.store" {message = "m", advice = "a"} : tensor<8xi8>
  tt.return
}

// -----

tt.func @probe_lanes_c1_parts(%bad: tensor<8xi8>) {
  // expected-error@+1 {{needs origins with id, where, operation and text, got}}
  tt.probe_lanes %bad, "nan", "tt.store" {message = "m", advice = "a", origins = [{id = 1 : i32}]} : tensor<8xi8>
  tt.return
}

// -----

tt.func @probe_lanes_c2(%bad: i1) {
  // expected-error@+1 {{has at_origin and no origins}}
  tt.probe_lanes %bad, "nan", "tt.store" {message = "m", advice = "a", at_origin} : i1
  tt.return
}

// -----

tt.func @probe_lanes_c3(%bad: i1) {
  // expected-error@+1 {{has the check 'speed', which does not exist}}
  tt.probe_lanes %bad, "speed", "tt.store" {message = "m", advice = "a"} : i1
  tt.return
}

// -----

tt.func @promise_c1(%x: i32) {
  // expected-error@+1 {{has the kind 'odd'; expected multiple_of, max_contiguous or max_constancy}}
  tt.promise "odd" [2], %x : i32
  tt.return
}

// -----

tt.func @promise_c2(%x: tensor<8x8xi32>) {
  // expected-error@+1 {{needs 2 values, got 1}}
  tt.promise "multiple_of" [2], %x : tensor<8x8xi32>
  tt.return
}
