"""Sums that several loops around each other carry keep the product's layout in all of them, as a convolution's do.

Here:      conversions that stand in loops; what the kernel computes, against NumPy, with all checks of the simulator.
Not here:  sums of one loop (test_dots_in_flight.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl

M, N, K = 64, 32, 16


@triton.jit
def convolution(
    a, b, c, rows, columns, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FIRST: tl.constexpr
):
    """c = the sum of a[i, j, s] @ b[i, j, s] over three loops. FIRST: what the sum begins with: nothing, or c."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_c = c + m[:, None] * BN + n[None, :]
    acc = tl.load(at_c) if FIRST == "c" else tl.zeros((BM, BN), tl.float32)
    for i in range(rows):
        for j in range(columns):
            for s in range(steps):
                block = (i * columns + j) * steps + s
                left = tl.load(a + (block * BM + m[:, None]) * BK + k[None, :])
                right = tl.load(b + (block * BK + k[:, None]) * BN + n[None, :])
                acc += tl.dot(left, right)
    tl.store(at_c, acc)


@triton.jit
def while_loop(
    a, b, c, rows, columns, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FIRST: tl.constexpr
):
    """The same with a loop of another kind around the others."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_c = c + m[:, None] * BN + n[None, :]
    acc = tl.load(at_c) if FIRST == "c" else tl.zeros((BM, BN), tl.float32)
    block = 0
    while block < rows * columns * steps:
        for _ in range(columns * steps):
            left = tl.load(a + (block * BM + m[:, None]) * BK + k[None, :])
            right = tl.load(b + (block * BK + k[:, None]) * BN + n[None, :])
            acc = tl.dot(left, right, acc)
            block += 1
    tl.store(at_c, acc)


def conversions_in_loops(code: dict[str, Any]) -> int:
    """Conversions of sums that stand deeper than the kernel's own block."""
    found = [line for line in code["ttgir"].splitlines() if "twg.convert_layout" in line and f"{M}x{N}xf32" in line]
    return sum(len(line) - len(line.lstrip()) > 4 for line in found)


@pytest.mark.parametrize("kernel", [convolution, while_loop], ids=lambda kernel: kernel.fn.__name__)
@pytest.mark.parametrize("first", ["nothing", "c"])
@pytest.mark.parametrize("warps", [2, 4])
def test_no_conversion_in_a_loop(kernel: Any, first: str, warps: int) -> None:
    signature = f"*fp16:16, *fp16:16, *fp32:16, i32, i32, i32, {M}, {N}, {K}, {first!r}"
    code = dots.code_of(kernel, signature, num_warps=warps, num_stages=2)
    assert conversions_in_loops(code) == 0
    random = np.random.default_rng(7)
    for counts in ((2, 3, 2), (1, 1, 1), (0, 3, 2), (2, 3, 0) if kernel is convolution else (2, 1, 1)):
        blocks = int(np.prod(counts))
        a = random.standard_normal((max(blocks, 1), M, K)).astype(np.float16)
        b = random.standard_normal((max(blocks, 1), K, N)).astype(np.float16)
        c = random.standard_normal((M, N)).astype(np.float32)
        start = c.astype(np.float64) if first == "c" else 0
        want = start + np.einsum("bmk,bkn->mn", a[:blocks].astype(np.float64), b[:blocks].astype(np.float64))
        small_kernels.launch(code, a, b, c, *counts)
        np.testing.assert_allclose(c, want, atol=1e-3)
