// RUN: tiletwin-opt %s -split-input-file --twg-make-ttgir="arch=sm_80 num-warps=4" | FileCheck %s
// Which layout each tile gets, in the kernel of four warps.

// Eight neighbours of a row in a thread, eight threads a row: one access of 16 bytes, and nothing is converted.
// CHECK: #[[ROWS:layout[0-9]*]] = #twg.linear<{register = {{\[\[0, 1\], \[0, 2\], \[0, 4\], \[16, 0\]\]}}, lane = {{\[\[0, 8\], \[0, 16\], \[0, 32\], \[1, 0\], \[2, 0\]\]}}, warp = {{\[\[4, 0\], \[8, 0\]\]}}, block = []}>
// CHECK-LABEL: @rows
// CHECK-NOT: convert_layout
// CHECK: tt.load {{.*}} {twg.vector = 8 : i32} : tensor<32x64x!tt.ptr<f16>, #[[ROWS]]>
// CHECK: arith.addf {{.*}} : tensor<32x64xf16, #[[ROWS]]>
// CHECK: tt.store {{.*}} {twg.vector = 8 : i32} : tensor<32x64x!tt.ptr<f16>, #[[ROWS]]>
// CHECK-NOT: convert_layout
tt.func public @rows(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %m = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c64 = arith.constant dense<64> : tensor<32x1xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %ne = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ms = arith.muli %me, %c64 : tensor<32x1xi32>
  %mb = tt.broadcast %ms : tensor<32x1xi32> -> tensor<32x64xi32>
  %nb = tt.broadcast %ne : tensor<1x64xi32> -> tensor<32x64xi32>
  %o = arith.addi %mb, %nb : tensor<32x64xi32>
  %b = tt.splat %p : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %a = tt.addptr %b, %o : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %x = tt.load %a : tensor<32x64x!tt.ptr<f16>>
  %y = arith.addf %x, %x : tensor<32x64xf16>
  %c = tt.splat %q : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %d = tt.addptr %c, %o : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  tt.store %d, %y : tensor<32x64x!tt.ptr<f16>>
  tt.return
}

// -----

// Addresses that count up along the first dimension; the transposed tile is converted to be stored so. What the offsets are
// made from is made in the layout in which it is needed.
// CHECK-DAG: #[[COLUMNS:layout[0-9]*]] = #twg.linear<{register = {{\[\[1, 0\], \[2, 0\], \[0, 16\]\]}}, lane = {{\[\[4, 0\], \[8, 0\], \[16, 0\], \[0, 1\], \[0, 2\]\]}}, warp = {{\[\[0, 4\], \[0, 8\]\]}}, block = []}>
// CHECK-DAG: #[[TRANSPOSED:layout[0-9]*]] = #twg.linear<{register = {{\[\[0, 1\], \[0, 2\], \[16, 0\]\]}}, lane = {{\[\[0, 4\], \[0, 8\], \[0, 16\], \[1, 0\], \[2, 0\]\]}}, warp = {{\[\[4, 0\], \[8, 0\]\]}}, block = []}>
// CHECK-LABEL: @columns
// CHECK-NOT: convert_layout
// CHECK: tt.load {{.*}} {twg.vector = 4 : i32} : tensor<32x32x!tt.ptr<f32>, #[[COLUMNS]]>
// CHECK: tt.trans {{.*}} : tensor<32x32xf32, #[[COLUMNS]]> -> tensor<32x32xf32, #[[TRANSPOSED]]>
// CHECK: twg.convert_layout {{.*}} : tensor<32x32xf32, #[[TRANSPOSED]]> -> tensor<32x32xf32, #[[COLUMNS]]>
// CHECK-NOT: convert_layout
tt.func public @columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c32 = arith.constant dense<32> : tensor<1x32xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %scaled = arith.muli %columns, %c32 : tensor<1x32xi32>
  %rb = tt.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %scaled : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %rb, %cb : tensor<32x32xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %a = tt.addptr %b, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %x = tt.load %a : tensor<32x32x!tt.ptr<f32>>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x32xf32> -> tensor<32x32xf32>
  %d = tt.splat %q : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %e = tt.addptr %d, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %e, %t : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// -----

// The reduction stays where the tile was loaded; its order is stated, registers first, then lanes. Only the result moves.
// CHECK-DAG: #[[LOADED:layout[0-9]*]] = #twg.linear<{register = {{\[\[0, 32\], \[0, 64\], \[4, 0\]\]}}, lane = {{\[\[0, 1\], \[0, 2\], \[0, 4\], \[0, 8\], \[0, 16\]\]}}, warp = {{\[\[1, 0\], \[2, 0\]\]}}, block = []}>
// CHECK-DAG: #[[SUMS:layout[0-9]*]] = #twg.linear<{register = {{\[\[4\]\]}}, lane = {{\[\[0\], \[0\], \[0\], \[0\], \[0\]\]}}, warp = {{\[\[1\], \[2\]\]}}, block = []}>
// CHECK-LABEL: @reduced
// CHECK: "tt.reduce"
// CHECK: }) {order = array<i32: 6, 5, 0, 1, 2, 3, 4>} : (tensor<8x128xf32, #[[LOADED]]>) -> tensor<8xf32, #[[SUMS]]>
// CHECK: twg.convert_layout
// CHECK: tt.store
tt.func public @reduced(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %r = tt.reshape %i : tensor<1024xi32> -> tensor<8x128xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<8x128x!tt.ptr<f32>>
  %a = tt.addptr %b, %r : tensor<8x128x!tt.ptr<f32>>, tensor<8x128xi32>
  %x = tt.load %a : tensor<8x128x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %m: f32):
    %t = arith.addf %l, %m : f32
    tt.reduce.return %t : f32
  }) : (tensor<8x128xf32>) -> tensor<8xf32>
  %k = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = tt.splat %q : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %d = tt.addptr %c, %k : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %d, %s : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// The order of a scan: bits of the axis in one thread's neighbours, lanes, warps, and registers above them.
// CHECK: #[[ROW:layout[0-9]*]] = #twg.linear<{register = {{\[\[128\]\]}}, lane = {{\[\[1\], \[2\], \[4\], \[8\], \[16\]\]}}, warp = {{\[\[32\], \[64\]\]}}, block = []}>
// CHECK-LABEL: @scanned
// CHECK: }) {order = array<i32: 0, 5, 2, 1>{{.*}}} : (tensor<256xi32, #[[ROW]]>) -> tensor<256xi32, #[[ROW]]>
// CHECK-NOT: convert_layout
tt.func public @scanned(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %x = tt.load %a : tensor<256x!tt.ptr<i32>>
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%l: i32, %r: i32):
    %t = arith.addi %l, %r : i32
    tt.scan.return %t : i32
  }) : (tensor<256xi32>) -> tensor<256xi32>
  %c = tt.splat %q : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %d = tt.addptr %c, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  tt.store %d, %s : tensor<256x!tt.ptr<i32>>
  tt.return
}

// -----

// What a loop carries has one layout in, inside and out, that of the loads.
// CHECK: #[[ROW:layout[0-9]*]] = #twg.linear
// CHECK-NOT: #twg.linear
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} -> (tensor<128xf32, #[[ROW]]>, tensor<128x!tt.ptr<f32>, #[[ROW]]>)
// CHECK-NOT: convert_layout
tt.func public @carried(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<128> : tensor<128xi32>
  %none = arith.constant dense<0.0> : tensor<128xf32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%sum = %none, %at = %a) -> (tensor<128xf32>, tensor<128x!tt.ptr<f32>>) : i32 {
    %x = tt.load %at : tensor<128x!tt.ptr<f32>>
    %s = arith.addf %sum, %x : tensor<128xf32>
    %m = tt.addptr %at, %step : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    scf.yield %s, %m : tensor<128xf32>, tensor<128x!tt.ptr<f32>>
  }
  %c = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %d = tt.addptr %c, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %d, %r#0 : tensor<128x!tt.ptr<f32>>
  tt.return
}

// -----

// What the tensor cores leave, two neighbours of a row in each of four lanes, is stored by accesses of 16 bytes: the lowest bit of
// the lane gives its columns to the registers, and gets columns further on for them.
// CHECK-DAG: #[[DOT:layout[0-9]*]] = #twg.linear<{register = {{\[\[0, 1\], \[8, 0\], .*\]}}, lane = {{\[\[0, 2\], \[0, 4\], \[1, 0\], \[2, 0\], \[4, 0\]\]}},
// CHECK-DAG: #[[STORED:layout[0-9]*]] = #twg.linear<{register = {{\[\[0, 1\], \[0, 2\], .*\]}}, lane = {{\[\[0, 16\], \[0, 4\], \[1, 0\], \[2, 0\], \[4, 0\]\]}},
// CHECK-LABEL: @product
// CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #[[DOT]]>
// CHECK: twg.convert_layout {{.*}} : tensor<64x64xf32, #[[DOT]]> -> tensor<64x64xf32, #[[STORED]]>
// CHECK: tt.store {{.*}} {twg.vector = 4 : i32} : tensor<64x64x!tt.ptr<f32>, #[[STORED]]>
// With a mask that tells neighbours apart there is nothing to gain.
// CHECK-NOT: convert_layout {{.*}}xf32
// CHECK: tt.store {{.*}} : tensor<64x64x!tt.ptr<f32>, #[[DOT]]>
tt.func public @product(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %me = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ne = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ms = arith.muli %me, %c64 : tensor<64x1xi32>
  %mb = tt.broadcast %ms : tensor<64x1xi32> -> tensor<64x64xi32>
  %nb = tt.broadcast %ne : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %mb, %nb : tensor<64x64xi32>
  %b = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %a = tt.addptr %b, %o : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %x = tt.load %a : tensor<64x64x!tt.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tt.dot %x, %x, %zero, inputPrecision = ieee : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %c = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %e = tt.addptr %c, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %e, %d : tensor<64x64x!tt.ptr<f32>>
  %limit = tt.splat %n : i32 -> tensor<64x64xi32>
  %mask = arith.cmpi slt, %nb, %limit : tensor<64x64xi32>
  tt.store %e, %d, %mask : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Transposed, the neighbours of a row lie in eight lanes. They come together all the same, if need be through shared memory.
// CHECK-LABEL: @transposed_product
// CHECK: tt.dot
// CHECK: twg.convert_layout {{.*}} : tensor<64x64xf32,
// CHECK: tt.store {{.*}} {twg.vector = 4 : i32} : tensor<64x64x!tt.ptr<f32>,
tt.func public @transposed_product(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %me = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ne = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ms = arith.muli %me, %c64 : tensor<64x1xi32>
  %mb = tt.broadcast %ms : tensor<64x1xi32> -> tensor<64x64xi32>
  %nb = tt.broadcast %ne : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %mb, %nb : tensor<64x64xi32>
  %b = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %a = tt.addptr %b, %o : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %x = tt.load %a : tensor<64x64x!tt.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tt.dot %x, %x, %zero, inputPrecision = ieee : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %t = tt.trans %d {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
  %c = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %e = tt.addptr %c, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %e, %t : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Both halves of every line, repeated: what is made of them in full size is made once, where the line's elements lie. In a
// layout of each store's own, all of it would be made twice, from halves that are converted first.
// CHECK-LABEL: @halves
// CHECK-NOT: convert_layout
// CHECK: arith.xori
// CHECK-NOT: arith.xori
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func public @halves(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %r = tt.reshape %i : tensor<2048xi32> -> tensor<64x2x16xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<64x2x16x!tt.ptr<i32>>
  %a = tt.addptr %b, %r : tensor<64x2x16x!tt.ptr<i32>>, tensor<64x2x16xi32>
  %x = tt.load %a : tensor<64x2x16x!tt.ptr<i32>>
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: i32, %m: i32):
    %t = arith.addi %l, %m : i32
    tt.reduce.return %t : i32
  }) : (tensor<64x2x16xi32>) -> tensor<64x16xi32>
  %u = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: i32, %m: i32):
    %t = arith.maxsi %l, %m : i32
    tt.reduce.return %t : i32
  }) : (tensor<64x2x16xi32>) -> tensor<64x16xi32>
  %se = tt.expand_dims %s {axis = 1 : i32} : tensor<64x16xi32> -> tensor<64x1x16xi32>
  %ue = tt.expand_dims %u {axis = 1 : i32} : tensor<64x16xi32> -> tensor<64x1x16xi32>
  %sb = tt.broadcast %se : tensor<64x1x16xi32> -> tensor<64x2x16xi32>
  %ub = tt.broadcast %ue : tensor<64x1x16xi32> -> tensor<64x2x16xi32>
  %o = arith.xori %sb, %ub : tensor<64x2x16xi32>
  tt.store %a, %o : tensor<64x2x16x!tt.ptr<i32>>
  %n = arith.trunci %o : tensor<64x2x16xi32> to tensor<64x2x16xi8>
  %c = tt.splat %q : !tt.ptr<i8> -> tensor<64x2x16x!tt.ptr<i8>>
  %d = tt.addptr %c, %r : tensor<64x2x16x!tt.ptr<i8>>, tensor<64x2x16xi32>
  tt.store %d, %n : tensor<64x2x16x!tt.ptr<i8>>
  tt.return
}

// -----

// A tile that is read by columns and one that is read by rows: the sum lies as it is stored, whichever stands first, and the other
// tile is converted before it is widened.
// CHECK-LABEL: @stored
// CHECK-NOT: convert_layout
// CHECK: tt.load {{.*}} : tensor<32x64x!tt.ptr<f16>, #[[COLUMNS:layout[0-9]*]]>
// CHECK: twg.convert_layout {{.*}} : tensor<32x64xf16, #[[COLUMNS]]> -> tensor<32x64xf16, #[[ROWS:layout[0-9]*]]>
// CHECK: arith.extf {{.*}} : tensor<32x64xf16, #[[ROWS]]> to tensor<32x64xf32, #[[ROWS]]>
// CHECK-NOT: convert_layout
// CHECK: tt.store {{.*}} : tensor<32x64x!tt.ptr<f16>, #[[ROWS]]>
// CHECK-NOT: convert_layout
tt.func public @stored(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %m = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c64 = arith.constant dense<64> : tensor<32x1xi32>
  %c32 = arith.constant dense<32> : tensor<1x64xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %ne = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ms = arith.muli %me, %c64 : tensor<32x1xi32>
  %ns = arith.muli %ne, %c32 : tensor<1x64xi32>
  %mb = tt.broadcast %ms : tensor<32x1xi32> -> tensor<32x64xi32>
  %nb = tt.broadcast %ne : tensor<1x64xi32> -> tensor<32x64xi32>
  %mc = tt.broadcast %me : tensor<32x1xi32> -> tensor<32x64xi32>
  %nc = tt.broadcast %ns : tensor<1x64xi32> -> tensor<32x64xi32>
  %rows = arith.addi %mb, %nb : tensor<32x64xi32>
  %columns = arith.addi %mc, %nc : tensor<32x64xi32>
  %b = tt.splat %p : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %by = tt.addptr %b, %columns : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %y = tt.load %by : tensor<32x64x!tt.ptr<f16>>
  %bx = tt.addptr %b, %rows : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %x = tt.load %bx : tensor<32x64x!tt.ptr<f16>>
  %yw = arith.extf %y : tensor<32x64xf16> to tensor<32x64xf32>
  %xw = arith.extf %x : tensor<32x64xf16> to tensor<32x64xf32>
  %s = arith.addf %yw, %xw : tensor<32x64xf32>
  %r = arith.truncf %s : tensor<32x64xf32> to tensor<32x64xf16>
  %c = tt.splat %q : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %d = tt.addptr %c, %rows : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  tt.store %d, %r : tensor<32x64x!tt.ptr<f16>>
  tt.return
}

// -----

// A store has its own vectors: a thread reads sixteen bytes, and one instruction stores eight halves of each thread without gaps.
// CHECK-LABEL: @widened
// CHECK: tt.load {{.*}} {twg.vector = 16 : i32} : tensor<4096x!tt.ptr<i8>, #[[BYTES:layout[0-9]*]]>
// CHECK: twg.convert_layout {{.*}} : tensor<4096x{{.*}}, #[[BYTES]]> -> tensor<4096x{{.*}}, #[[HALVES:layout[0-9]*]]>
// CHECK: tt.store {{.*}} {twg.vector = 8 : i32} : tensor<4096x!tt.ptr<f16>, #[[HALVES]]>
tt.func public @widened(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %b = tt.splat %p : !tt.ptr<i8> -> tensor<4096x!tt.ptr<i8>>
  %a = tt.addptr %b, %i : tensor<4096x!tt.ptr<i8>>, tensor<4096xi32>
  %x = tt.load %a : tensor<4096x!tt.ptr<i8>>
  %y = arith.sitofp %x : tensor<4096xi8> to tensor<4096xf16>
  %c = tt.splat %q : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
  %d = tt.addptr %c, %i : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
  tt.store %d, %y : tensor<4096x!tt.ptr<f16>>
  tt.return
}
