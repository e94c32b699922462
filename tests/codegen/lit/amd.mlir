// RUN: tiletwin-translate %s --emit-amdgcn --arch=gfx942 --num-warps=2 | FileCheck %s --check-prefixes=CHECK,GFX9
// RUN: tiletwin-translate %s --emit-amdgcn --arch=gfx1100 --num-warps=2 | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: tiletwin-translate %s --emit-facts --arch=gfx942 --num-warps=2 | FileCheck %s --check-prefix=FACTS
// AMD GPUs: the same layouts for wavefronts of 64 or 32 lanes, accesses under the execution mask instead of predicates, shuffles by
// ds_bpermute, shared memory in the LDS.

// CHECK: .amdgcn_target "amdgcn-amd-amdhsa--[[ARCH:gfx942|gfx1100]]"
// CHECK-LABEL: sum:
// GFX9: and_b32{{.*}} 63
// GFX11: and_b32{{.*}} 31
// CHECK: v_cmp{{x?}}_gt_i32
// CHECK: s_cbranch_execz
// CHECK: global_load_{{dword|b32}}
// CHECK: s_waitcnt vmcnt(0)
// CHECK: v_add_f32
// GFX9-COUNT-6: ds_bpermute_b32
// GFX11-COUNT-5: ds_bpermute_b32
// CHECK-NOT: ds_bpermute_b32
// CHECK: ds_{{write|store}}_b32
// CHECK: s_barrier
// CHECK: ds_{{read|load}}
// CHECK: v_add_f32
// CHECK: global_store_{{dword|b32}}
// CHECK: s_endpgm
// FACTS: kernel sum
// FACTS-NEXT: arguments ptr ptr i32
// FACTS-NEXT: shared 16
tt.func public @sum(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %a = tt.addptr %b, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %l = tt.splat %n : i32 -> tensor<256xi32>
  %m = arith.cmpi slt, %i, %l : tensor<256xi32>
  %x = tt.load %a, %m : tensor<256x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<256xf32>
  %s = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%l0: f32, %r: f32):
    %t = arith.addf %l0, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<256xf32>) -> f32
  tt.store %o, %s : !tt.ptr<f32>
  tt.return
}
