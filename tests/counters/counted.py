"""PTX texts with one access each, and what the simulator counts for them; for tests."""

from __future__ import annotations

import numpy as np
from tiletwin import counters, sim
from tiletwin.counters import Launch

TEXT = """.version 8.3
.target {target}
.address_size 64
.visible .entry k(.param .u64 p)
{{
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<16>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  .shared .align 128 .b8 tile[16384];
  ld.param.u64 %rd0, [p];
  cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
{body}
  ret;
}}
"""
FIRST_LINE = 16
"""Of the body in the text."""


def counted(body: str, block: int = 32, grid: int = 1, target: str = "sm_90a") -> Launch:
    """A launch of the body. %r0 is the thread, %r1 an address in shared memory, %rd0 one of 16 KiB of zeros in global
    memory."""
    room = np.zeros(16384 + 256, np.uint8)
    start = -room.ctypes.data % 256
    own = room.data[start : start + 16384]
    kernel = sim.load(TEXT.format(body=body, target=target), file="k.ptx")["k"]
    with counters.collect() as launches:
        kernel(np.frombuffer(own, np.uint8), grid=grid, block=block)
    return launches[-1]


def global_at(step: int, first: int = 0) -> str:
    """%rd1: the address of a thread, step bytes from its neighbour's."""
    return f"  mul.wide.u32 %rd1, %r0, {step};\n  add.s64 %rd1, %rd0, %rd1;\n  add.s64 %rd1, %rd1, {first};\n"


def shared_at(step: int) -> str:
    """%r2: likewise in shared memory."""
    return f"  mul.lo.u32 %r2, %r0, {step};\n  add.u32 %r2, %r1, %r2;\n"
