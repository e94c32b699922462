// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce and tt.scan with branches in their regions: both arms are computed, the condition picks.

tt.func public @larger_magnitude() {
  %x = arith.constant dense<[[7, -5, 3, -2, -8, -6, -2, 2], [-5, -6, 4, -4, 5, 4, 2, -4]]> : tensor<2x8xi32>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %p = math.absi %a : i32
    %q = math.absi %b : i32
    %c = arith.cmpi sge, %p, %q : i32
    %o = scf.if %c -> (i32) {
      scf.yield %p : i32
    } else {
      %t = arith.addi %q, %q : i32
      %u = arith.subi %t, %q : i32
      scf.yield %u : i32
    }
    tt.reduce.return %o : i32
  }) : (tensor<2x8xi32>) -> tensor<2xi32>
  check.eq %r, dense<[8, 6]> : tensor<2xi32>
  tt.return
}

tt.func public @segmented_sum() {
  %flag = arith.constant dense<[0, 0, 1, 0, 0, 1, 0, 0]> : tensor<8xi32>
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %r:2 = "tt.scan"(%flag, %x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%f0: i32, %v0: f32, %f1: i32, %v1: f32):
    %zero = arith.constant 0 : i32
    %f = arith.ori %f0, %f1 : i32
    %c = arith.cmpi ne, %f1, %zero : i32
    %v = scf.if %c -> (f32) {
      scf.yield %v1 : f32
    } else {
      %s = arith.addf %v0, %v1 : f32
      scf.yield %s : f32
    }
    tt.scan.return %f, %v : i32, f32
  }) : (tensor<8xi32>, tensor<8xf32>) -> (tensor<8xi32>, tensor<8xf32>)
  check.eq %r#0, dense<[0, 0, 1, 1, 1, 1, 1, 1]> : tensor<8xi32>
  check.eq %r#1, dense<[1.0, 3.0, 3.0, 7.0, 12.0, 6.0, 13.0, 21.0]> : tensor<8xf32>
  tt.return
}

tt.func public @a_branch_in_a_branch() {
  %x = arith.constant dense<[3, -4, 9, 0]> : tensor<4xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %zero = arith.constant 0 : i32
    %neg = arith.cmpi slt, %b, %zero : i32
    %o = scf.if %neg -> (i32) {
      %less = arith.cmpi slt, %a, %b : i32
      %i = scf.if %less -> (i32) {
        scf.yield %a : i32
      } else {
        scf.yield %b : i32
      }
      scf.yield %i : i32
    } else {
      %less = arith.cmpi slt, %a, %b : i32
      %m = arith.select %less, %a, %b : i32
      scf.yield %m : i32
    }
    tt.reduce.return %o : i32
  }) : (tensor<4xi32>) -> i32
  check.eq %r, -4 : i32
  tt.return
}
