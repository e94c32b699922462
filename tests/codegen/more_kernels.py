"""Kernels that use what tests/data/kernels does not: names of older kernels, of authors of libraries, and names that
Triton does not have.

Read by scripts/cuda_column.py, as the files of that folder are. Results are tested in tests/language and tests/python.
"""

import triton
import triton.language as tl
from cases import case
from triton.language import core, target_info


@triton.jit
def moved_blocks(x_ptr, o_ptr, n, B: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,))
    o = tl.make_block_ptr(o_ptr, (n,), (1,), (0,), (B,), (0,))
    for _ in range(0, n, B):
        tl.store(o, tl.load(x, boundary_check=(0,)), boundary_check=(0,))
        x = core.advance(x, (B,))
        o = o.advance((B,))


@core.extern
def larger(x, _semantic=None):
    kind = core.dtype("fp32")
    table = {(kind, kind): ("__nv_fmaxf", kind)}
    return core.extern_elementwise("", "", [x, x], table, is_pure=True, _semantic=_semantic)


@triton.jit
def of_libraries(x_ptr, o_ptr, n):
    i = tl.arange(0, 8)
    x = tl.load(x_ptr + i)
    wide = n > 4
    either = (i > 5).logical_or(i < 2) & (i > 1).logical_and(not wide)
    top = tl.standard.sort_impl(larger(x), 8, descending=True)
    extremes = core.builtin_max(n, 100) + core.builtin_min(n, -100)
    tl.store(o_ptr + i, tl.where(either, top, extremes + target_info.current_target().arch))


@triton.jit
def old_float8(x_ptr, o_ptr, NEW: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(x_ptr + i)
    if NEW:
        tl.store(o_ptr + i, tl.extra.cuda.convert_custom_float8_sm80(x, tl.float32))
    else:
        tl.store(o_ptr + i, tl.extra.cuda.convert_custom_float8_sm70(x, tl.float32))


@triton.jit
def beyond_triton(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.prefetch(x_ptr + B + i, mask=i < n)
    x = tl.load(x_ptr + i, mask=i < n, other=-1)
    tl.store(o_ptr + i, tl.popcount(x) + tl.reduce_and(x, 0))


CASES = [
    case("moved_blocks", moved_blocks, "*fp32 *fp32 i32", {"B": 128}),
    case("of_libraries", of_libraries, "*fp32 *fp32 i32"),
    case("beyond_triton", beyond_triton, "*i32 *i32 i32", {"B": 128}),
    case("old_float8_sm80", old_float8, "*fp8e4b15 *fp32", {"NEW": True}),
    case("old_float8_sm70", old_float8, "*fp8e4b15 *fp32", {"NEW": False}),
]
