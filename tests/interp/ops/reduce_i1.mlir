// RUN: tiletwin-exec %s --backend=interp
// RUN: tiletwin-exec %s --backend=interp --numerics=ieee --max-ulp=0
// tt.reduce over i1: any, all, parity.

tt.func public @ori_i1_axis_0() {
  %x = arith.constant dense<[[false, false, false, false], [false, true, false, false], [true, true, true, true], [true, false, true, true]]> : tensor<4x4xi1>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i1, %b0: i1):
    %o0 = arith.ori %a0, %b0 : i1
    tt.reduce.return %o0 : i1
  }) : (tensor<4x4xi1>) -> tensor<4xi1>
  check.eq %r, dense<true> : tensor<4xi1>
  tt.return
}

tt.func public @ori_i1_axis_1() {
  %x = arith.constant dense<[[false, false, false, false], [false, true, false, false], [true, true, true, true], [true, false, true, true]]> : tensor<4x4xi1>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i1, %b0: i1):
    %o0 = arith.ori %a0, %b0 : i1
    tt.reduce.return %o0 : i1
  }) : (tensor<4x4xi1>) -> tensor<4xi1>
  check.eq %r, dense<[false, true, true, true]> : tensor<4xi1>
  tt.return
}

tt.func public @andi_i1_axis_0() {
  %x = arith.constant dense<[[false, false, false, false], [false, true, false, false], [true, true, true, true], [true, false, true, true]]> : tensor<4x4xi1>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i1, %b0: i1):
    %o0 = arith.andi %a0, %b0 : i1
    tt.reduce.return %o0 : i1
  }) : (tensor<4x4xi1>) -> tensor<4xi1>
  check.eq %r, dense<false> : tensor<4xi1>
  tt.return
}

tt.func public @andi_i1_axis_1() {
  %x = arith.constant dense<[[false, false, false, false], [false, true, false, false], [true, true, true, true], [true, false, true, true]]> : tensor<4x4xi1>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i1, %b0: i1):
    %o0 = arith.andi %a0, %b0 : i1
    tt.reduce.return %o0 : i1
  }) : (tensor<4x4xi1>) -> tensor<4xi1>
  check.eq %r, dense<[false, false, true, false]> : tensor<4xi1>
  tt.return
}

tt.func public @xori_i1_axis_0() {
  %x = arith.constant dense<[[false, false, false, false], [false, true, false, false], [true, true, true, true], [true, false, true, true]]> : tensor<4x4xi1>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a0: i1, %b0: i1):
    %o0 = arith.xori %a0, %b0 : i1
    tt.reduce.return %o0 : i1
  }) : (tensor<4x4xi1>) -> tensor<4xi1>
  check.eq %r, dense<false> : tensor<4xi1>
  tt.return
}

tt.func public @xori_i1_axis_1() {
  %x = arith.constant dense<[[false, false, false, false], [false, true, false, false], [true, true, true, true], [true, false, true, true]]> : tensor<4x4xi1>
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a0: i1, %b0: i1):
    %o0 = arith.xori %a0, %b0 : i1
    tt.reduce.return %o0 : i1
  }) : (tensor<4x4xi1>) -> tensor<4xi1>
  check.eq %r, dense<[false, true, false, true]> : tensor<4xi1>
  tt.return
}
