// RUN: tiletwin-opt %s -tt-make-debug-ttir | FileCheck %s

// Functions with notes keep their calls; the language's own are inlined, equal operations stay where they are.
// CHECK-LABEL: tt.func public @kernel
// CHECK: tt.debug_line
// CHECK-NEXT: %[[A:.*]] = arith.addi
// CHECK-NEXT: %[[X:.*]] = tt.debug_bind "x", "int32", %[[A]]
// CHECK-NEXT: tt.debug_line
// CHECK-NEXT: %[[B:.*]] = arith.addi
// CHECK-NEXT: %[[Y:.*]] = tt.debug_bind "y", "int32", %[[B]]
// CHECK-NEXT: tt.debug_line
// CHECK-NEXT: %[[P:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK-NEXT: tt.debug_line
// CHECK-NEXT: tt.call @user(%[[P]])
tt.func public @kernel(%p: !tt.ptr<i32>, %n: i32) {
  tt.debug_line
  %a = arith.addi %n, %n : i32
  %x = tt.debug_bind "x", "int32", %a : i32
  tt.debug_line
  %b = arith.addi %n, %n : i32
  %y = tt.debug_bind "y", "int32", %b : i32
  tt.debug_line
  %c = tt.call @library(%x, %y) : (i32, i32) -> i32
  tt.debug_line
  %d = tt.call @user(%c) : (i32) -> i32
  tt.store %p, %d : !tt.ptr<i32>
  tt.return
}
tt.func private @library(%a: i32, %b: i32) -> i32 {
  %c = arith.muli %a, %b : i32
  tt.return %c : i32
}
tt.func private @user(%a: i32) -> i32 {
  tt.debug_line
  %b = arith.addi %a, %a : i32
  tt.return %b : i32
}

// A combine function's body has no notes.
// CHECK-LABEL: tt.func public @reduction
// CHECK: "tt.reduce"
// CHECK-NEXT: ^bb0(%[[C:.*]]: f32, %[[D:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[C]], %[[D]]
// CHECK-NEXT: tt.reduce.return %[[S]]
tt.func public @reduction(%p: !tt.ptr<f32>, %x: tensor<4xf32>) {
  tt.debug_line
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = tt.call @plus(%a, %b) : (f32, f32) -> f32
    tt.reduce.return %1 : f32
  }) : (tensor<4xf32>) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}
tt.func private @plus(%a: f32, %b: f32) -> f32 {
  tt.debug_line
  %c = arith.addf %a, %b : f32
  %d = tt.debug_bind "d", "fp32", %c : f32
  tt.return %d : f32
}
