"""Loads whose addresses were loaded or computed keep the layout of what these come from: any costs the same.

Here:      conversions beside gathered loads; what the kernels compute, against NumPy.
Not here:  loads of neighbours (test_vector_accesses.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl

N, LEVELS = 512, 64


@triton.jit
def search(x, levels, out, n, N: tl.constexpr, LEVELS: tl.constexpr, STEPS: tl.constexpr):
    """out = the number of levels that lie below x, by halving. Two rows: gathers have another shape than x."""
    at = tl.arange(0, N)
    number = tl.reshape(tl.load(x + at, mask=at < n, other=0.0), (2, N // 2))
    low, high = tl.zeros((2, N // 2), tl.int32), tl.full((2, N // 2), LEVELS, tl.int32)
    for _ in range(STEPS):
        middle = (low + high) // 2
        above = number > tl.load(levels + middle)
        low = tl.where(above, middle + 1, low)
        high = tl.where(above, high, middle)
    tl.store(out + at, tl.reshape(low, (N,)), mask=at < n)


@triton.jit
def chase(x, levels, out, n, N: tl.constexpr, LEVELS: tl.constexpr, STEPS: tl.constexpr):
    """out = where a list of links leads to, STEPS further on; `levels` holds the links, as numbers."""
    at = tl.arange(0, N)
    place = tl.reshape(tl.load(x + at, mask=at < n, other=0.0), (2, N // 2)).to(tl.int32)
    for _ in range(STEPS):
        place = tl.load(levels + place).to(tl.int32)
    tl.store(out + at, tl.reshape(place, (N,)), mask=at < n)


@pytest.mark.parametrize("kernel", [search, chase], ids=lambda kernel: kernel.fn.__name__)
@pytest.mark.parametrize("count", [N, N - 3, 1])
@pytest.mark.parametrize("warps", [1, 4])
def test_gathered_loads_need_no_conversion(kernel: Any, count: int, warps: int) -> None:
    steps = 7 if kernel is search else 3
    signature = f"*fp32:16, *fp32:16, *i32:16, i32, {N}, {LEVELS}, {steps}"
    code = dots.code_of(kernel, signature, num_warps=warps)
    assert "convert_layout" not in code["ttgir"]
    random = np.random.default_rng(count)
    out = np.full(N, -1, np.int32)
    if kernel is search:
        levels = np.sort(random.standard_normal(LEVELS)).astype(np.float32)
        x = random.standard_normal(N).astype(np.float32)
        x[: LEVELS // 2] = levels[::2]
        levels[-1] = np.inf
        want = np.searchsorted(levels, x, side="left")
    else:
        levels = random.permutation(LEVELS).astype(np.float32)
        x = random.integers(0, LEVELS, N).astype(np.float32)
        want = x.astype(np.int64)
        for _ in range(steps):
            want = levels[want].astype(np.int64)
    small_kernels.launch(code, x, levels, out, count)
    np.testing.assert_array_equal(out[:count], want[:count])
    assert (out[count:] == -1).all()
