"""What keeps the registers of a thread few: masks that neighbours share, and values where they are needed.

Here:      instructions and their order in PTX, what the assembler says of it; what the kernels compute, against NumPy.
Not here:  pointers of loops (test_loop_pointers.py).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def choose(x, out, n, BLOCK: tl.constexpr):
    """out = x inside of n, else -1, from a load without a mask."""
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.where(at < n, tl.load(x + at), -1.0))


@triton.jit
def choose_square(x, out, m, n, BLOCK: tl.constexpr):
    """The same of a tile, with a mask of two conditions."""
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    at = i * BLOCK + j
    tl.store(out + at, tl.where((i < m) & (j < n), tl.load(x + at), -1.0))


@pytest.mark.parametrize(("hint", "comparisons"), [(":16", 4), ("", 16)], ids=["multiple of 16", "any"])
def test_neighbours_share_a_comparison(hint: str, comparisons: int) -> None:
    code = dots.code_of(choose, f"*fp32:16, *fp32:16, i32{hint}, 2048", num_warps=4)
    assert len(re.findall(r"setp\.", code["ptx"])) == comparisons
    x = np.random.default_rng(1).standard_normal(2048).astype(np.float32)
    for n in (0, 16, 1040, 2048) if hint else (1, 1029):
        out = np.zeros_like(x)
        small_kernels.launch(code, x, out, n)
        np.testing.assert_array_equal(out, np.where(np.arange(2048) < n, x, np.float32(-1)))


@pytest.mark.parametrize(("m", "n"), [(64, 64), (64, 16), (0, 64), (33, 48), (1, 32)])
def test_masks_of_tiles(m: int, n: int) -> None:
    code = dots.code_of(choose_square, "*fp32:16, *fp32:16, i32, i32:16, 64", num_warps=4)
    x = np.random.default_rng(2).standard_normal((64, 64)).astype(np.float32)
    out = np.zeros_like(x)
    small_kernels.launch(code, x.reshape(-1), out.reshape(-1), m, n)
    i, j = np.indices(x.shape)
    np.testing.assert_array_equal(out, np.where((i < m) & (j < n), x, np.float32(-1)))


@triton.jit
def divergence(x, y, out, gradient, BLOCK: tl.constexpr):
    """Of two rows, less their maximum: a chain of operations over more elements than a thread has registers."""
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    most = tl.maximum(tl.max(a, 0), tl.max(b, 0))
    p, q = tl.exp(a - most), tl.exp(b - most)
    middle = 0.5 * p + 0.5 * q
    log = tl.log(middle)
    tl.store(out + at, p * a + q * b - middle * log)
    tl.store(gradient + at, q * (b - log))


def stores_and_logarithms(code: dict[str, Any]) -> str:
    """The order of these two in PTX, a letter for each instruction; a logarithm is a polynomial."""
    found = re.findall(r"(st\.global)|(fma\.rn\.ftz)", code["ptx"])
    return "".join("s" if store else "l" for store, _ in found)


@pytest.mark.parametrize(("block", "warps", "is_large"), [(8192, 1, True), (1024, 1, False), (1024, 4, False)])
def test_values_stand_where_they_are_needed(block: int, warps: int, is_large: bool) -> None:
    code = dots.code_of(divergence, f"*fp32:16, *fp32:16, *fp32:16, *fp32:16, {block}", num_warps=warps)
    order = stores_and_logarithms(code)
    # The first store comes before the last logarithm, only where twice a thread's registers do not hold everything.
    assert (order.index("s") < order.rindex("l")) == is_large
    assert (".minnctapersm 1" in code["ptx"]) == is_large
    random = np.random.default_rng(3)
    x, y = (random.standard_normal(block).astype(np.float32) for _ in range(2))
    out, gradient = np.zeros_like(x), np.zeros_like(x)
    small_kernels.launch(code, x, y, out, gradient)
    a, b = x.astype(np.float64), y.astype(np.float64)
    most = max(a.max(), b.max())
    p, q = np.exp(a - most), np.exp(b - most)
    log = np.log((p + q) / 2)
    np.testing.assert_allclose(out, p * a + q * b - (p + q) / 2 * log, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradient, q * (b - log), rtol=1e-4, atol=1e-5)
