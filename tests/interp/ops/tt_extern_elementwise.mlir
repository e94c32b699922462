// RUN: tiletwin-exec %s --backend=interp
// tt.extern_elementwise: functions of libdevice by symbol. Values from mpmath.

tt.func public @tanh() {
  %x = arith.constant dense<[0.5, -0.0, 1.0e-30, -2.0, 20.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<8xf32>
  %r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<8xf32>) -> tensor<8xf32>
  check.close %r, dense<[0.46211716, -0.0, 1.0e-30, -0.9640276, 1.0, 1.0, -1.0, 0x7FC00000]> : tensor<8xf32>, ulp = 1
  tt.return
}

tt.func public @pow() {
  %x = arith.constant dense<[2.0, -2.0, -2.0, 0.0, 1.0, 4.0, 1.0e-20, 10.0]> : tensor<8xf32>
  %y = arith.constant dense<[0.5, 3.0, 0.5, -1.0, 0x7FC00000, -0.5, 2.0, 39.0]> : tensor<8xf32>
  %r = tt.extern_elementwise %x, %y {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  check.close %r, dense<[1.4142135, -8.0, 0x7FC00000, 0x7F800000, 1.0, 0.5, 1.0e-40, 0x7F800000]> : tensor<8xf32>, ulp = 1
  tt.return
}

// Rounding: 1/3 lies between 0x3EAAAAAA and 0x3EAAAAAB.
tt.func public @directions() {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %y = arith.constant dense<[3.0, -3.0, 3.0, -3.0]> : tensor<4xf32>
  %d = tt.extern_elementwise %x, %y {libname = "", libpath = "", pure = true, symbol = "__nv_fdiv_rd"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = tt.extern_elementwise %x, %y {libname = "", libpath = "", pure = true, symbol = "__nv_fdiv_ru"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = tt.extern_elementwise %x, %y {libname = "", libpath = "", pure = true, symbol = "__nv_fdiv_rz"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  check.eq %d, dense<[0x3EAAAAAA, 0xBEAAAAAB, 0x3EAAAAAA, 0xBEAAAAAB]> : tensor<4xf32>
  check.eq %u, dense<[0x3EAAAAAB, 0xBEAAAAAA, 0x3EAAAAAB, 0xBEAAAAAA]> : tensor<4xf32>
  check.eq %z, dense<[0x3EAAAAAA, 0xBEAAAAAA, 0x3EAAAAAA, 0xBEAAAAAA]> : tensor<4xf32>
  tt.return
}

// Four operands; none of the squares may overflow.
tt.func public @norm(%a: f64 {check.value = 1.0e+308 : f64}) {
  %r = tt.extern_elementwise %a, %a, %a, %a {libname = "", libpath = "", pure = true, symbol = "__nv_rnorm4d"} : (f64, f64, f64, f64) -> f64
  check.close %r, 5.0e-309 : f64, ulp = 1
  tt.return
}

tt.func public @integers(%n: i32 {check.value = -2 : i32}) {
  %x = arith.constant dense<[0, 1, -1, 256]> : tensor<4xi32>
  %c = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_clz"} : (tensor<4xi32>) -> tensor<4xi32>
  %p = tt.extern_elementwise %n {libname = "", libpath = "", pure = true, symbol = "__nv_popc"} : (i32) -> i32
  check.eq %c, dense<[32, 31, 0, 23]> : tensor<4xi32>
  check.eq %p, 31 : i32
  tt.return
}

tt.func public @unknown(%x: f32 {check.value = 1.0 : f32}) attributes {check.error = "there is no device function `__nv_frobf`"} {
  %r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_frobf"} : (f32) -> f32
  check.eq %r, 1.0 : f32
  tt.return
}

tt.func public @wrong_types(%x: f32 {check.value = 1.0 : f32}) attributes {check.error = "__nv_sin is (f64) -> f64, not (f32) -> f32"} {
  %r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_sin"} : (f32) -> f32
  check.eq %r, 1.0 : f32
  tt.return
}
