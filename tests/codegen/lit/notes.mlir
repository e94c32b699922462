// RUN: tiletwin-opt %s --twg-notes | FileCheck %s --check-prefix=NOTES
// RUN: tiletwin-translate %s --emit-ptx --line-info --arch=sm_80 | FileCheck %s --check-prefix=PTX
// What variables hold: operations that only look, and comments of the PTX. A note's result is its value.

// NOTES: twg.reaching = "kernel.py:2
// NOTES-SAME: kernel.py:3 0,1
// NOTES-SAME: kernel.py:4 0,1,2,3
// NOTES-LABEL: @sum
// NOTES: twg.note 0, "B", "int32" constant 128
// NOTES: twg.note 1, "x", "int32" holds %[[X:.*]] : i32
// NOTES: %[[SUM:.*]] = arith.addi %[[X]], %[[X]]
// NOTES: twg.note 2, "sum", "int32" holds %[[SUM]] : i32
// NOTES: twg.note 3, "at", "int32" holds %{{.*}} : tensor<128xi32>
// NOTES-NOT: debug_

// PTX-DAG: // tiletwin.var: 2 0x1
// PTX-DAG: // tiletwin.var: 2.0 %r
// PTX: // tiletwin.note: 0|B||int32|constant|128
// PTX: // tiletwin.note: 1|x||int32|i32|parameter 0
// PTX: // tiletwin.note: 2|sum||int32|i32|scalar
// PTX: // tiletwin.note: 3|at||int32|i32|128 {{.*}};1,2,4,8,16;32,64;
// PTX: // tiletwin.line: kernel.py:4 0,1,2,3
tt.func public @sum(%x: i32, %p: !tt.ptr<i32>) {
  tt.debug_constant "B", "int32", 128 : i64 loc("kernel.py":2:1)
  %0 = tt.debug_bind "x", "int32", %x : i32 loc("kernel.py":2:1)
  tt.debug_line loc("kernel.py":3:3)
  %1 = arith.addi %0, %0 : i32 loc("kernel.py":3:9)
  %2 = tt.debug_bind "sum", "int32", %1 : i32 loc("kernel.py":3:3)
  %3 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32> loc("kernel.py":3:20)
  %4 = tt.debug_bind "at", "int32", %3 : tensor<128xi32> loc("kernel.py":3:3)
  tt.debug_line loc("kernel.py":4:3)
  %5 = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>> loc("kernel.py":4:3)
  %6 = tt.addptr %5, %4 : tensor<128x!tt.ptr<i32>>, tensor<128xi32> loc("kernel.py":4:3)
  %7 = tt.splat %2 : i32 -> tensor<128xi32> loc("kernel.py":4:3)
  tt.store %6, %7 : tensor<128x!tt.ptr<i32>> loc("kernel.py":4:3)
  tt.return loc("kernel.py":2:1)
} loc("kernel.py":2:1)
