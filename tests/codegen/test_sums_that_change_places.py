"""Sums of products that a loop carries on under other names: none is copied while a product writes to it.

Here:      two that change places, three that go around; NumPy's numbers under all checks of the simulator.
Not here:  sums that stay where they are (test_dots_in_flight.py, test_nested_sums.py).
"""

from __future__ import annotations

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl

MOST = 5


@triton.jit
def around(
    a, b, out, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NAMES: tl.constexpr, TWICE: tl.constexpr
):
    """Iteration i adds a[i] @ b[i] to one of NAMES sums, to each in turn. TWICE: stores it, and adds the same again."""
    m, k, c = tl.arange(0, BM), tl.arange(0, BK), tl.arange(0, BN)
    x = tl.zeros((BM, BN), tl.float32)
    y, z = x, x
    for i in range(n):
        left = tl.load(a + i * BM * BK + m[:, None] * BK + k[None, :])
        right = tl.load(b + i * BK * BN + k[:, None] * BN + c[None, :])
        x = tl.dot(left, right, x)
        if TWICE:
            tl.store(out + m[:, None] * BN + c[None, :], x)
            x = tl.dot(left, right, x)
        if NAMES == 3:
            x, y, z = y, z, x
        else:
            x, y = y, x
    at = out + m[:, None] * BN + c[None, :]
    tl.store(at, x)
    tl.store(at + BM * BN, y)
    tl.store(at + 2 * BM * BN, z)


@pytest.mark.parametrize(("names", "twice"), [(2, 0), (3, 0), (2, 1)])
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize(
    ("block", "warps"), [((64, 128, 32), 4), ((128, 64, 64), 8), ((64, 32, 32), 4), ((16, 32, 32), 2)]
)
def test_sums_change_places(block: tuple[int, int, int], warps: int, stages: int, names: int, twice: int) -> None:
    rows, columns, depth = block
    signature = f"*fp16:16, *fp16:16, *fp32:16, i32, {rows}, {columns}, {depth}, {names}, {twice}"
    code = dots.code_of(around, signature, num_warps=warps, num_stages=stages)
    random = np.random.default_rng(rows)
    a, b = random.integers(-3, 4, (MOST, rows, depth)), random.integers(-3, 4, (MOST, depth, columns))
    for count in (0, 1, 2, 3, MOST):
        out = np.full((3, rows, columns), np.nan, np.float32)
        given = [x.astype(np.float16).reshape(-1) for x in (a, b)]
        small_kernels.launch(code, *given, out.reshape(-1), count)
        sums = [np.zeros((rows, columns)) for _ in range(3)]
        for i in range(count):
            sums[0] = sums[0] + (1 + twice) * (a[i] @ b[i])
            sums[:names] = [*sums[1:names], sums[0]]
        np.testing.assert_array_equal(out, sums)
