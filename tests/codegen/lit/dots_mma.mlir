// RUN: tiletwin-translate %s --emit-ptx --arch=sm_75 --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_80 --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,FROM80,SM80
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_89 --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,FROM80,SM89
// RUN: tiletwin-translate %s --emit-ptx --arch=sm_90a --num-warps=1 -split-input-file | FileCheck %s --check-prefixes=CHECK,FROM80,SM90
// tt.dot by mma.sync: the shape that each target has for the format, operands by ldmatrix, two tiles of 16 x 8 results.

// A thread loads neighbours of one column, so columns lie in one piece: A is read transposed, B as it lies. Steps along K add to
// one accumulator.
// CHECK-LABEL: .entry f16(
// CHECK: bar{{(rier)?}}.sync
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {[[A0:%r[0-9]+]], [[A1:%r[0-9]+]], [[A2:%r[0-9]+]], [[A3:%r[0-9]+]]}, [{{%r[0-9]+}}];
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// SM75: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 [[D:{[^}]*}]], {[[A0]],[[A1]]}, {{{%r[0-9]+}}}, [[D]];
// SM75: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// SM75: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 [[D]], {[[A2]],[[A3]]}, {{{%r[0-9]+}}}, [[D]];
// SM75: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// FROM80: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 [[D:{[^}]*}]], {[[A0]],[[A1]],[[A2]],[[A3]]}, {{{%r[0-9]+,%r[0-9]+}}}, [[D]];
// FROM80: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: mma.sync
// CHECK: ret;
tt.func public @f16(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ai = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ar = tt.reshape %ai : tensor<256xi32> -> tensor<16x16xi32>
  %ab = tt.splat %a : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %ap = tt.addptr %ab, %ar : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<f16>>
  %bi = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %br = tt.reshape %bi : tensor<256xi32> -> tensor<16x16xi32>
  %bb = tt.splat %b : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %bp = tt.addptr %bb, %br : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<f16>>
  %z = tt.dot %x, %y, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: .entry f16_sums(
// SM75-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16
// FROM80-COUNT-2: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16
// CHECK-NOT: mma.sync
// CHECK: ret;
tt.func public @f16_sums(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f16>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf16>
  %ai = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ar = tt.reshape %ai : tensor<256xi32> -> tensor<16x16xi32>
  %ab = tt.splat %a : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %ap = tt.addptr %ab, %ar : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<f16>>
  %bi = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %br = tt.reshape %bi : tensor<256xi32> -> tensor<16x16xi32>
  %bb = tt.splat %b : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %bp = tt.addptr %bb, %br : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<f16>>
  %z = tt.dot %x, %y, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f16>>
  tt.return
}

// -----

// CHECK-LABEL: .entry bf16(
// SM75-NOT: mma.sync
// SM75: fma.rn.f32
// FROM80: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// FROM80: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// FROM80-COUNT-2: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: ret;
tt.func public @bf16(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ai = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ar = tt.reshape %ai : tensor<256xi32> -> tensor<16x16xi32>
  %ab = tt.splat %a : !tt.ptr<bf16> -> tensor<16x16x!tt.ptr<bf16>>
  %ap = tt.addptr %ab, %ar : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<bf16>>
  %bi = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %br = tt.reshape %bi : tensor<256xi32> -> tensor<16x16xi32>
  %bb = tt.splat %b : !tt.ptr<bf16> -> tensor<16x16x!tt.ptr<bf16>>
  %bp = tt.addptr %bb, %br : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<bf16>>
  %z = tt.dot %x, %y, %zero : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// ldmatrix moves 32-bit elements too, where they are not transposed.
// CHECK-LABEL: .entry tf32(
// SM75-NOT: mma.sync
// SM75: fma.rn.f32
// FROM80: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// FROM80-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK: ret;
tt.func public @tf32(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ai = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ar = tt.reshape %ai : tensor<256xi32> -> tensor<16x16xi32>
  %ab = tt.splat %a : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ap = tt.addptr %ab, %ar : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<f32>>
  %bi = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %br = tt.reshape %bi : tensor<256xi32> -> tensor<16x16xi32>
  %bb = tt.splat %b : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %bp = tt.addptr %bb, %br : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<f32>>
  %z = tt.dot %x, %y, %zero, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Sums of 8-bit integers wrap.
// CHECK-LABEL: .entry i8(
// CHECK-NOT: satfinite
// SM75-COUNT-8: mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32
// FROM80-COUNT-2: mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32
// CHECK-NOT: satfinite
// CHECK: ret;
tt.func public @i8(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %d: !tt.ptr<i32>) {
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %ai = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %ar = tt.reshape %ai : tensor<512xi32> -> tensor<16x32xi32>
  %ab = tt.splat %a : !tt.ptr<i8> -> tensor<16x32x!tt.ptr<i8>>
  %ap = tt.addptr %ab, %ar : tensor<16x32x!tt.ptr<i8>>, tensor<16x32xi32>
  %x = tt.load %ap : tensor<16x32x!tt.ptr<i8>>
  %bi = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %br = tt.reshape %bi : tensor<512xi32> -> tensor<32x16xi32>
  %bb = tt.splat %b : !tt.ptr<i8> -> tensor<32x16x!tt.ptr<i8>>
  %bp = tt.addptr %bb, %br : tensor<32x16x!tt.ptr<i8>>, tensor<32x16xi32>
  %y = tt.load %bp : tensor<32x16x!tt.ptr<i8>>
  %z = tt.dot %x, %y, %zero : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<i32> -> tensor<16x16x!tt.ptr<i32>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<i32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<i32>>
  tt.return
}

// -----

// sm_89 multiplies f8; others widen it to f16, and so does sm_90a for tiles that are too small for wgmma.
// CHECK-LABEL: .entry f8(
// SM75-COUNT-8: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// SM80-COUNT-4: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// SM89-COUNT-2: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
// SM90: cvt.rn.f16x2.e4m3x2
// SM90-COUNT-4: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: ret;
tt.func public @f8(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ai = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %ar = tt.reshape %ai : tensor<512xi32> -> tensor<16x32xi32>
  %ab = tt.splat %a : !tt.ptr<f8E4M3FN> -> tensor<16x32x!tt.ptr<f8E4M3FN>>
  %ap = tt.addptr %ab, %ar : tensor<16x32x!tt.ptr<f8E4M3FN>>, tensor<16x32xi32>
  %x = tt.load %ap : tensor<16x32x!tt.ptr<f8E4M3FN>>
  %bi = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %br = tt.reshape %bi : tensor<512xi32> -> tensor<32x16xi32>
  %bb = tt.splat %b : !tt.ptr<f8E4M3FN> -> tensor<32x16x!tt.ptr<f8E4M3FN>>
  %bp = tt.addptr %bb, %br : tensor<32x16x!tt.ptr<f8E4M3FN>>, tensor<32x16xi32>
  %y = tt.load %bp : tensor<32x16x!tt.ptr<f8E4M3FN>>
  %z = tt.dot %x, %y, %zero : tensor<16x32xf8E4M3FN> * tensor<32x16xf8E4M3FN> -> tensor<16x16xf32>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: .entry f64(
// SM75-NOT: mma.sync
// SM75: fma.rn.f64
// FROM80-COUNT-16: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CHECK: ret;
tt.func public @f64(%a: !tt.ptr<f64> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f64> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f64>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf64>
  %ai = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ar = tt.reshape %ai : tensor<256xi32> -> tensor<16x16xi32>
  %ab = tt.splat %a : !tt.ptr<f64> -> tensor<16x16x!tt.ptr<f64>>
  %ap = tt.addptr %ab, %ar : tensor<16x16x!tt.ptr<f64>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<f64>>
  %bi = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %br = tt.reshape %bi : tensor<256xi32> -> tensor<16x16xi32>
  %bb = tt.splat %b : !tt.ptr<f64> -> tensor<16x16x!tt.ptr<f64>>
  %bp = tt.addptr %bb, %br : tensor<16x16x!tt.ptr<f64>>, tensor<16x16xi32>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<f64>>
  %z = tt.dot %x, %y, %zero : tensor<16x16xf64> * tensor<16x16xf64> -> tensor<16x16xf64>
  %di = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %dr = tt.reshape %di : tensor<256xi32> -> tensor<16x16xi32>
  %db = tt.splat %d : !tt.ptr<f64> -> tensor<16x16x!tt.ptr<f64>>
  %dp = tt.addptr %db, %dr : tensor<16x16x!tt.ptr<f64>>, tensor<16x16xi32>
  tt.store %dp, %z : tensor<16x16x!tt.ptr<f64>>
  tt.return
}
