"""How fast the simulator runs PTX, one core unless said otherwise. For run.py.

Gates: elementwise kernels, at least 150 million lane instructions a second; exact tensor-core products, at least 40
million multiply-adds a second; a pipelined matmul of 512³ on two cores within 3 s; checks of bounds, at most 5 %; all
default checks on kernels full of asynchronous operations, at most 2.5 times (others pay for bounds only).
"""

from __future__ import annotations

import functools
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "sim"))


def _looped(name: str, pointers: str, begin: str, loop: str, end: str) -> str:
    """PTX of a kernel that takes pointers, which are in %rd1 and %rd2, and does something for a number of rounds, %r1.
    At the beginning %r2 is the thread's number."""
    taken = "".join(f"  ld.param.u64 %rd{i}, [{p}];\n" for i, p in enumerate(pointers, 1))
    return f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry {name}({"".join(f".param .u64 {p}, " for p in pointers)}.param .u32 rounds)
{{
  .reg .pred %p<3>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<8>;
  ld.param.u32 %r1, [rounds];
{taken}  mov.u32 %r2, %tid.x;
{begin}
  mov.u32 %r5, 0;
LOOP:
{loop}
  add.s32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, %r1;
  @%p2 bra LOOP;
{end}
  ret;
}}
"""


MIXED = _looped(
    "mixed",
    "x",
    """  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r4, %r3, 128, %r2;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  mov.f32 %f2, 0f3F800000;""",
    """  fma.rn.f32 %f3, %f1, 0f3F7FBE77, %f2;
  add.f32 %f4, %f3, 0f3DCCCCCD;
  mul.f32 %f5, %f4, %f4;
  max.f32 %f1, %f5, 0f3A83126F;
  sub.f32 %f1, %f1, %f4;
  shl.b32 %r6, %r4, 3;
  xor.b32 %r7, %r6, %r5;
  add.s32 %r4, %r7, 17;
  setp.gt.s32 %p1, %r4, 0;
  selp.b32 %r4, %r4, %r7, %p1;""",
    "  st.global.f32 [%rd3], %f1;",
)

COPY = _looped(
    "copy",
    "xy",
    """  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;""",
    """  ld.global.f32 %f1, [%rd4];
  ld.global.f32 %f2, [%rd4+512];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd5], %f3;
  st.global.f32 [%rd5+512], %f1;""",
    "",
)

PRODUCTS = _looped(
    "products",
    "x",
    """  mul.wide.u32 %rd2, %r2, 16;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd3];
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  mov.f32 %f4, 0f00000000;""",
    """  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r11, %r12},
    {%f1, %f2, %f3, %f4};""",
    "  st.global.v4.f32 [%rd3], {%f1, %f2, %f3, %f4};",
)


def _best(run: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def _matmul(sim: Any, name: str, size: int) -> tuple[Callable[..., object], Callable[[], float]]:
    """A launch of one of Triton's pipelined products of square matrices, and what its largest error is."""
    import ptx_cases

    case = ptx_cases.all_cases("sm_90")[name]
    kernel = sim.load(case.text)[case.entry]
    dtype = np.float32 if name.endswith("fp32") else np.float16
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal((size, size)).astype(dtype) for _ in range(2))
    c = np.zeros((size, size), dtype)
    arguments = [a, b, c, size, size, size, size, 1, size, 1, size, 1, 0, 0]
    options = {"grid": (size // 64, size // 64), "block": 32 * case.warps, "shared": case.shared}
    return (
        lambda **others: kernel(*arguments, **options, **others),
        lambda: float(np.abs(c.astype(np.float32) - a.astype(np.float32) @ b.astype(np.float32)).max()),
    )


def _checked(launch: Callable[..., object], **checks: tuple[str, ...]) -> tuple[float, float, float]:
    """Seconds with checks (the default ones) and without any, and without / with.

    On one thread, in turns; the fastest of each, since all that is above it is the machine's doing."""
    within, without = [], []
    for _ in range(15):
        without.append(_best(lambda: launch(threads=1, checks=()), 1))
        within.append(_best(lambda: launch(threads=1, **checks), 1))
    return min(within), min(without), min(without) / min(within)


def bench(record: Callable, only: str) -> None:
    """record(name, seconds, peer's seconds or None, ratio, gate, note=...)."""
    from tiletwin import sim

    name = "simulator: elementwise, million lane instructions a second on one core (at least 150)"
    if only in name:
        kernel = sim.load(MIXED)["mixed"]
        x = np.linspace(0.1, 1.0, 64 * 128, dtype=np.float32)
        ran = kernel(x, 2000, grid=64, block=128, threads=1)
        took = _best(lambda: kernel(x, 2000, grid=64, block=128, threads=1))
        rate = ran.lane_instructions / took / 1e6
        record(name, took, None, rate / 150, 1, note=f"{rate:.0f}")

    name = "simulator: exact f16 products, million multiply-adds a second on one core (at least 40)"
    if only in name:
        kernel = sim.load(PRODUCTS)["products"]
        x = np.random.default_rng(0).standard_normal(4 * 32 * 8).astype(np.float16)
        rounds = 3000
        took = _best(lambda: kernel(x.copy(), rounds, grid=1, block=32, threads=1))
        rate = rounds * 16 * 8 * 16 / took / 1e6
        record(name, took, None, rate / 40, 1, note=f"{rate:.0f}")

    name = "simulator: checks of bounds on a kernel of loads and stores (at most 5 %)"
    if only in name:
        x, y = np.ones(1024, np.float32), np.ones(1024, np.float32)
        launch = functools.partial(sim.load(COPY)["copy"], x, y, 20000, grid=4, block=128)
        within, without, ratio = _checked(launch, checks=("bounds",))
        record(name, within, without, ratio, 1 / 1.05, note="off / on")

    name = "simulator: mm_loop_fp16 at 512³ on two cores (limit 3 s)"
    if only in name:
        launch, error = _matmul(sim, "mm_loop_fp16", 512)
        took = _best(lambda: launch(threads=2), 2)
        if error() > 0.5:
            sys.exit(f"{name}: the largest error is {error()}")
        record(name, took, None, 3 / took, 1, note=f"largest error {error():.2g}")

    for case, note in (("mm_loop_fp16", "wgmma"), ("mm_loop_fp32", "wgmma and cp.async of 4 bytes")):
        name = f"simulator: the default checks on {case} (at most 2.5 times)"
        if only in name:
            within, without, ratio = _checked(_matmul(sim, case, 256)[0])
            record(name, within, without, ratio, 1 / 2.5, note=f"off / on; {note}")
