"""Small PTX texts for the tests of the simulator's Python side, and the processes that run it.

Here:      kernels whose results are plain.
Not here:  what is expected (test_sim_api.py, test_sim_command.py, test_tensor_map.py).
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

import children
import numpy as np
import tiletwin
from tiletwin import sim

PACKAGE_PARENT = pathlib.Path(tiletwin.__file__).resolve().parents[1]
HEADER = ".version 8.8\n.target sm_90a\n.address_size 64\n"

# out[i] = x[i] + y[i] for i < n.
ADD = (
    HEADER
    + """.visible .entry add(
  .param .u64 add_param_0, .param .u64 add_param_1, .param .u64 add_param_2, .param .u32 add_param_3)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<10>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [add_param_0];
  ld.param.u64 %rd2, [add_param_1];
  ld.param.u64 %rd3, [add_param_2];
  ld.param.u32 %r1, [add_param_3];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra END;
  mul.wide.u32 %rd4, %r5, 4;
  add.u64 %rd5, %rd1, %rd4;
  add.u64 %rd6, %rd2, %rd4;
  add.u64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.rn.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
END:
  ret;
}
"""
)
ADD_LOAD_LINE = next(i for i, line in enumerate(ADD.splitlines(), 1) if "ld.global.f32 %f1" in line)

# The bits of each number go to out, 8 bytes for each; then the three words of the structure.
NUMBERS = (
    HEADER
    + """.visible .entry numbers(.param .u64 out, .param .u8 a, .param .s16 b, .param .u32 c, .param .s64 d,
  .param .f32 e, .param .f64 f, .param .b32 g, .param .align 4 .b8 s[12])
{
  .reg .b16 %h<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  .reg .f32 %f1;
  .reg .f64 %fd1;
  ld.param.u64 %rd1, [out];
  ld.param.u8 %h1, [a];
  ld.param.b16 %h2, [b];
  ld.param.u32 %r1, [c];
  ld.param.u64 %rd2, [d];
  ld.param.f32 %f1, [e];
  ld.param.f64 %fd1, [f];
  ld.param.b32 %r2, [g];
  st.global.u8 [%rd1], %h1;
  st.global.b16 [%rd1+8], %h2;
  st.global.u32 [%rd1+16], %r1;
  st.global.u64 [%rd1+24], %rd2;
  st.global.f32 [%rd1+32], %f1;
  st.global.f64 [%rd1+40], %fd1;
  st.global.b32 [%rd1+48], %r2;
  ld.param.b32 %r3, [s];
  ld.param.b32 %r4, [s+4];
  ld.param.b32 %r5, [s+8];
  st.global.b32 [%rd1+56], %r3;
  st.global.b32 [%rd1+60], %r4;
  st.global.b32 [%rd1+64], %r5;
  ret;
}
"""
)

# Each CTA's first thread prints "cta N".
SPEAK = (
    HEADER
    + """.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[8] = {99, 116, 97, 32, 37, 100, 10, 0};
.visible .entry speak()
{
  .local .align 8 .b8 stack[8];
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  mov.u64 %rd1, stack;
  cvta.local.u64 %rd2, %rd1;
  mov.u32 %r1, %ctaid.x;
  st.local.u32 [%rd1], %r1;
  mov.u64 %rd3, text;
  cvta.global.u64 %rd4, %rd3;
  {
    .param .b64 a;
    st.param.b64 [a], %rd4;
    .param .b64 b;
    st.param.b64 [b], %rd2;
    .param .b32 c;
    call.uni (c), vprintf, (a, b);
    ld.param.b32 %r2, [c];
  }
  ret;
}
"""
)

# Never ends.
SPIN = HEADER + ".visible .entry spin() {\nAGAIN:\n  bra AGAIN;\n}\n"

# x = x * y + z without a rounding mode, one thread.
FUSED = (
    HEADER
    + """.visible .entry fused(.param .u64 .ptr .global .align 4 x, .param .f32 y, .param .f32 z) .reqntid 1
{
  .reg .f32 %f<6>;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [y];
  ld.param.f32 %f2, [z];
  ld.global.f32 %f3, [%rd1];
  mul.f32 %f4, %f3, %f1;
  add.f32 %f5, %f4, %f2;
  st.global.f32 [%rd1], %f5;
  ret;
}
"""
)

# A counter of the module, and what a pointer in memory points to: out[0] = ++count; out[1] = *pointers[0].
STATE = (
    HEADER
    + """.visible .global .align 4 .u32 count;
.visible .entry state(.param .u64 .ptr .global .align 16 out, .param .u64 pointers)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [pointers];
  ld.global.u32 %r1, [count];
  add.u32 %r1, %r1, 1;
  st.global.u32 [count], %r1;
  st.global.u32 [%rd1], %r1;
  ld.global.u64 %rd3, [%rd2];
  ld.global.u32 %r2, [%rd3];
  st.global.u32 [%rd1+4], %r2;
  ret;
}
"""
)

# What launches may ask for.
SIZES = (
    HEADER
    + """.extern .shared .align 16 .b8 dynamic[];
.visible .entry exact() .reqntid 32, 2, 1 { ret; }
.visible .entry most() .maxntid 64, 1, 1 { ret; }
.visible .entry clustered() .reqntid 32 .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry free(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %dynamic_smem_size;
  st.global.u32 [%rd1], %r1;
  mov.u32 %r2, %cluster_nctaid.x;
  st.global.u32 [%rd1+4], %r2;
  ret;
}
"""
)


def tile_text(by_pointer: bool = False, rank: int = 2, most_bytes: int = 16384) -> str:
    """`tile(map, out, bytes, c0, c1, ...)`: a tile comes into shared memory, whose bytes go to out. One warp."""
    coordinates = ", ".join(f".param .s32 c{i}" for i in range(rank))
    registers = ", ".join(f"%c{i}" for i in range(rank))
    loads = "\n".join(f"  ld.param.b32 %c{i}, [c{i}];" for i in range(rank))
    map_parameter = ".param .u64 map" if by_pointer else ".param .align 64 .b8 map[128]"
    map_address = "ld.param.u64 %rd3, [map];" if by_pointer else "mov.b64 %rd2, map;\n  cvta.param.u64 %rd3, %rd2;"
    return (
        HEADER
        + f""".visible .entry tile({map_parameter}, .param .u64 out, .param .u32 bytes, {coordinates}) .reqntid 32
{{
  .shared .align 1024 .b8 buffer[{most_bytes}];
  .shared .align 8 .b64 barrier;
  .reg .pred %p<4>;
  .reg .b16 %h<2>;
  .reg .b32 %r<8>, %c<{rank}>;
  .reg .b64 %rd<8>;
{loads}
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [bytes];
  {map_address}
  mov.u32 %r2, barrier;
  mov.u32 %r3, buffer;
  mov.u32 %r4, %tid.x;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra WAIT;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r1;
  cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes """
        + f"""[%r3], [%rd3, {{{registers}}}], [%r2];
WAIT:
  bar.sync 0;
SPIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra SPIN;
NEXT:
  setp.ge.u32 %p3, %r4, %r1;
  @%p3 bra END;
  add.u32 %r5, %r3, %r4;
  ld.shared.u8 %h1, [%r5];
  cvt.u64.u32 %rd4, %r4;
  add.u64 %rd5, %rd1, %rd4;
  st.global.u8 [%rd5], %h1;
  add.u32 %r4, %r4, 32;
  bra NEXT;
END:
  ret;
}}
"""
    )


# A tile of zeros in shared memory goes to the tensor (add: is added to it). One thread.
STORE_TILE = (
    HEADER
    + """.visible .entry store_tile(.param .align 64 .b8 map[128], .param .s32 c0, .param .s32 c1, .param .u32 add)
.reqntid 1
{
  .shared .align 1024 .b8 buffer[1024];
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<3>;
  ld.param.b32 %r1, [c0];
  ld.param.b32 %r2, [c1];
  ld.param.b32 %r3, [add];
  mov.b64 %rd1, map;
  cvta.param.u64 %rd2, %rd1;
  mov.u32 %r4, buffer;
  mov.u32 %r5, 0;
FILL:
  st.shared.b32 [%r4], 0;
  add.u32 %r4, %r4, 4;
  add.u32 %r5, %r5, 4;
  setp.lt.u32 %p1, %r5, 1024;
  @%p1 bra FILL;
  mov.u32 %r4, buffer;
  fence.proxy.async.shared::cta;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra ADD;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r1, %r2}], [%r4];
  bra DONE;
ADD:
  cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd2, {%r1, %r2}], [%r4];
DONE:
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
"""
)


def command(*words: object, folder: pathlib.Path | None = None, **values: str) -> subprocess.CompletedProcess:
    """`tiletwin words...` as it is installed beside Python."""
    program = pathlib.Path(sys.executable).with_name("tiletwin")
    return children.run(*map(str, words), program=program, cwd=folder, COLUMNS="200", TERM="dumb", **values)


def add_kernel(file: str = "add.ptx") -> sim.Kernel:
    return sim.load(ADD, file=file)["add"]


def floats(count: int = 100, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)
