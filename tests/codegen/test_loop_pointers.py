"""Pointers that a loop moves together become one pointer and constants, where their distances are constants.

Here:      how many pointers a loop carries in LLVM IR; what the kernel computes, against NumPy, with all checks of the
           simulator.
Not here:  which loads are copied ahead (test_pipelined_dots.py, test_addresses_ahead.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def rows(a, b, c, K, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WAY: tl.constexpr):
    """c = a @ b; b has rows of BN. WAY: how a row of `a` is found."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    if WAY == 0:  # a constant distance
        at_m = m * 256
    elif WAY == 1:  # a distance that the launch says
        at_m = m * stride
    elif WAY == 2:  # around the end: rows of a thread lie apart by one distance, but for some
        at_m = ((m + stride) % BM) * 256
    else:  # from the last one backwards: bits are turned over, which is looked through no further
        at_m = (BM - 1 - m) * 256
    at_a = a + at_m[:, None] + k[None, :]
    at_b = b + (k * BN)[:, None] + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        left, right = tl.load(at_a), tl.load(at_b)
        at_a += BK
        at_b += BK * BN
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * BN + n[None, :], acc)


def carried(code: dict[str, Any]) -> int:
    """Pointers to global memory that the loop carries."""
    return code["llir"].count("= phi ptr addrspace(1)")


@pytest.mark.parametrize(
    ("way", "stride", "pointers"),
    [(0, 256, 2), (1, 256, 5), (2, 48, 5), (3, 256, 5)],
    ids=["constant", "stride", "around", "backwards"],
)
@pytest.mark.parametrize("stages", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_rows(way: int, stride: int, pointers: int, stages: int) -> None:
    signature = f"*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, 64, 64, 64, {way}"
    code = dots.code_of(rows, signature, num_warps=4, num_stages=stages)
    assert carried(code) == pointers
    random = np.random.default_rng(way)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((64, 256), (256, 64)))
    c = np.zeros((64, 64), np.float32)
    small_kernels.launch(code, a.reshape(-1), b.reshape(-1), c.reshape(-1), 256, stride)
    taken = {2: np.roll(a, -stride, 0), 3: a[::-1]}.get(way, a)
    np.testing.assert_allclose(c, taken.astype(np.float64) @ b.astype(np.float64), atol=1e-3)
