"""Kernels of test_casts.py."""

import triton
import triton.language as tl


@triton.jit
def cast_all(x_ptr, o_ptr, n, DT: tl.constexpr, MODE: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(o_ptr + i, tl.cast(tl.load(x_ptr + i, mask), DT, fp_downcast_rounding=MODE), mask)


@triton.jit
def cast_by_store(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask), mask)


@triton.jit
def cast_scalar(x_ptr, o_ptr, n, DT: tl.constexpr):
    for i in range(n):
        tl.store(o_ptr + i, tl.load(x_ptr + i).to(DT))


@triton.jit
def bitcast_all(x_ptr, o_ptr, n, DT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask).to(DT, bitcast=True), mask)


@triton.jit
def small_float_operations(x_ptr, y_ptr, o_ptr, c_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    mask = i < n
    x = tl.load(x_ptr + i, mask)
    y = tl.load(y_ptr + i, mask)
    tl.store(o_ptr + i, x + y, mask)
    tl.store(o_ptr + n + i, x - y, mask)
    tl.store(o_ptr + 2 * n + i, x * y, mask)
    tl.store(o_ptr + 3 * n + i, -x, mask)
    tl.store(o_ptr + 4 * n + i, tl.abs(x), mask)
    tl.store(o_ptr + 5 * n + i, tl.where(x < y, x, y), mask)
    tl.store(o_ptr + 6 * n + i, tl.maximum(x, y), mask)
    tl.store(c_ptr + i, x < y, mask)
    tl.store(c_ptr + n + i, x == y, mask)
    tl.store(c_ptr + 2 * n + i, x != y, mask)
    tl.store(c_ptr + 3 * n + i, x >= y, mask)


@triton.jit
def small_float_reductions(x_ptr, s_ptr, m_ptr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    tl.store(s_ptr + tl.arange(0, R), tl.sum(x, 1))
    tl.store(m_ptr + tl.arange(0, R), tl.max(x, 1))


@triton.jit
def e4b15_moves(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    mask = i < n
    x = tl.load(x_ptr + i, mask)
    y = tl.load(y_ptr + i, mask)
    tl.store(o_ptr + i, tl.where(i % 2 == 0, x, y), mask)
    tl.store(o_ptr + n + i, tl.abs(x), mask)


@triton.jit
def e4b15_add(x_ptr, o_ptr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(o_ptr + tl.arange(0, B), x + x)


@triton.jit
def custom_float8(x_ptr, o_ptr, DT: tl.constexpr, OLD: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    if OLD:
        r = tl.extra.cuda.convert_custom_float8_sm70(x, DT)
    else:
        r = tl.extra.cuda.convert_custom_float8_sm80(x, DT)
    tl.store(o_ptr + tl.arange(0, B), r)


@triton.jit
def lower(x, y):
    return tl.minimum(x, y)


@triton.jit
def higher(x, y):
    return tl.maximum(x, y)


@triton.jit
def small_float_extrema(x_ptr, low_ptr, high_ptr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    tl.store(low_ptr + tl.arange(0, R), tl.reduce(x, 1, lower))
    tl.store(high_ptr + tl.arange(0, R), tl.reduce(x, 1, higher))
