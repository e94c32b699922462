// RUN: tiletwin-translate %s --emit-ptx --num-warps=1 -split-input-file | FileCheck %s
// RUN: tiletwin-translate %s --emit-llvm --num-warps=1 -split-input-file | FileCheck %s --check-prefix=LLIR
// Loops and branches: all threads of a program go the same way.

// CHECK-LABEL: .entry counting(
// CHECK-DAG: ld.param.b32 [[N:%r[0-9]+]], [counting_param_1];
// CHECK-DAG: ld.param.b32 [[STEP:%r[0-9]+]], [counting_param_2];
// CHECK: [[LOOP:\$L[_A-Z0-9]+]]:
// CHECK: xor.b32 [[S:%r[0-9]+]], [[S]], [[I:%r[0-9]+]];
// CHECK: st.global.b32 {{.*}}, [[S]];
// CHECK: add.s32 [[I]], [[I]], [[STEP]];
// CHECK: setp.lt.s32 [[MORE:%p[0-9]+]], [[I]], [[N]];
// CHECK: @[[MORE]] bra [[LOOP]];
// CHECK: st.global.b32 {{.*}}, [[S]];
tt.func public @counting(%p: !tt.ptr<i32>, %n: i32, %step: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %s = scf.for %i = %zero to %n step %step iter_args(%a = %one) -> (i32) : i32 {
    %b = arith.xori %a, %i : i32
    tt.store %p, %b : !tt.ptr<i32>
    scf.yield %b : i32
  }
  tt.store %p, %s : !tt.ptr<i32>
  tt.return
}

// -----

// CHECK-LABEL: .entry unsigned(
// CHECK: setp.lt.u32 [[MORE:%p[0-9]+]],
// CHECK: @[[MORE]] bra
tt.func public @unsigned(%p: !tt.ptr<i32>, %n: i32, %step: i32) {
  %zero = arith.constant 0 : i32
  scf.for unsigned %i = %zero to %n step %step : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  tt.return
}

// -----

// CHECK-LABEL: .entry choices(
// CHECK: @{{%p[0-9]+}} bra [[END:\$L[_A-Z0-9]+]];
// CHECK: add.s32 [[R:%r[0-9]+]], [[R]], 1;
// CHECK: st.global.b32
// CHECK: [[END]]:
// CHECK: st.global.b32 {{.*}}, [[R]];
tt.func public @choices(%p: !tt.ptr<i32>, %c: i1, %a: i32) {
  %one = arith.constant 1 : i32
  %r = scf.if %c -> (i32) {
    tt.store %p, %one : !tt.ptr<i32>
    %b = arith.addi %a, %one : i32
    scf.yield %b : i32
  } else {
    scf.yield %a : i32
  }
  tt.store %p, %r : !tt.ptr<i32>
  tt.return
}

// -----

// What is waited for is read anew each time, by one thread for all.
// CHECK-LABEL: .entry waiting(
// CHECK: [[LOOP:\$L[_A-Z0-9]+]]:
// CHECK: @{{%p[0-9]+}} ld.volatile.global.b32 [[READ:%r[0-9]+]],
// CHECK: shfl.sync.idx.b32 [[Y:%r[0-9]+]], [[READ]], 0, 31, -1;
// CHECK: setp.eq.b32 [[DONE:%p[0-9]+]], [[Y]],
// CHECK: @[[DONE]] bra [[END:\$L[_A-Z0-9]+]];
// CHECK: st.global.b32 {{.*}}, [[Y]];
// CHECK: bra{{(.uni)?}} [[LOOP]];
// CHECK: [[END]]:
tt.func public @waiting(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    %y = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    %c = arith.cmpi ne, %y, %x : i32
    scf.condition(%c) %y : i32
  } do {
  ^bb0(%z: i32):
    tt.store %q, %z : !tt.ptr<i32>
    scf.yield %z : i32
  }
  tt.store %q, %r : !tt.ptr<i32>
  tt.return
}

// -----

// Two edges to one block carry values of their own.
// CHECK-LABEL: .entry branches(
// CHECK: selp.{{.*}}[[C:%p[0-9]+]];
// CHECK: st.global.b32
// CHECK: ret;
tt.func public @branches(%p: !tt.ptr<i32>, %c: i1, %a: i32, %b: i32) {
  cf.cond_br %c, ^early(%a : i32), ^late
^early(%x: i32):
  tt.store %p, %x : !tt.ptr<i32>
  cf.br ^end
^late:
  cf.cond_br %c, ^end, ^early(%b : i32)
^end:
  tt.return
}

// -----

// CHECK-LABEL: .entry regions(
// CHECK: add.s32 [[B:%r[0-9]+]], {{%r[0-9]+}}, 1;
// CHECK: st.global.b32 {{.*}}, [[B]];
tt.func public @regions(%p: !tt.ptr<i32>, %a: i32) {
  %one = arith.constant 1 : i32
  %r = scf.execute_region -> i32 {
    %b = arith.addi %a, %one : i32
    scf.yield %b : i32
  }
  tt.store %p, %r : !tt.ptr<i32>
  tt.return
}

// -----

// A function that returns early, inlined: the ways out meet in one block.
// CHECK-LABEL: .entry several_ways_out(
// CHECK: @{{%p[0-9]+}} bra [[LATE:\$L[_A-Z0-9]+]];
// CHECK-DAG: add.s32 [[R:%r[0-9]+]], {{%r[0-9]+}}, 1;
// CHECK: [[END:\$L[_A-Z0-9]+]]:
// CHECK: st.global.b32
// CHECK: ret;
tt.func public @several_ways_out(%p: !tt.ptr<i32>, %a: i32, %c: i1) {
  %one = arith.constant 1 : i32
  %r = scf.execute_region -> i32 {
    cf.cond_br %c, ^early, ^late(%a : i32)
  ^early:
    tt.store %p, %a : !tt.ptr<i32>
    %b = arith.addi %a, %one : i32
    scf.yield %b : i32
  ^late(%x: i32):
    scf.yield %x : i32
  }
  tt.store %p, %r : !tt.ptr<i32>
  tt.return
}

// -----

// disable_licm of a loop reaches LLVM, and it alone.
// LLIR-LABEL: define ptx_kernel void @keeps_its_invariants(
// LLIR: br {{.*}}, !llvm.loop [[LOOP:![0-9]+]]
// LLIR: [[LOOP]] = distinct !{[[LOOP]], [[LICM:![0-9]+]]
// LLIR: [[LICM]] = !{!"llvm.licm.disable"}
tt.func public @keeps_its_invariants(%p: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {llvm.loop_annotation = #llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>}
  tt.return
}

// -----

// A promise reaches LLVM: the branch that it excludes is gone.
// CHECK-LABEL: .entry promised(
// CHECK-NOT: bra
// CHECK: ret;
tt.func public @promised(%p: !tt.ptr<i32>, %n: i32) {
  %one = arith.constant 1 : i32
  %holds = arith.cmpi sgt, %n, %one : i32
  llvm.intr.assume %holds : i1
  %never = arith.cmpi slt, %n, %one : i32
  scf.if %never {
    tt.store %p, %one : !tt.ptr<i32>
  }
  tt.return
}
