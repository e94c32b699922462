"""Sums that a product begins and a loop without products goes on with: they lie as what the loop adds.

Here:      that no iteration exchanges them between threads; NumPy's numbers, for no iteration, one and several.
Not here:  numbers of rows (test_carried_rows.py), indices (test_carried_indices.py).
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
def counted(a, b, x, out, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HAS: tl.constexpr):
    """a @ b and the sum of n tiles, of tile i the rows from i on. Without the product for n of at most HAS."""
    m, k, c = tl.arange(0, BM), tl.arange(0, BK), tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    if n > HAS:
        sums = tl.dot(tl.load(a + m[:, None] * BK + k[None, :]), tl.load(b + k[:, None] * BN + c[None, :]), sums)
    for i in range(n):
        tile = tl.load(x + i * BM * BN + m[:, None] * BN + c[None, :]).to(tl.float32)
        sums += tl.where(m[:, None] >= i, tile, 0.0)
    tl.store(out + m[:, None] * BN + c[None, :], sums)


@triton.jit
def asked(a, b, x, out, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HAS: tl.constexpr):
    """The same in a loop with a condition."""
    m, k, c = tl.arange(0, BM), tl.arange(0, BK), tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    if n > HAS:
        sums = tl.dot(tl.load(a + m[:, None] * BK + k[None, :]), tl.load(b + k[:, None] * BN + c[None, :]), sums)
    i = 0
    while i < n:
        tile = tl.load(x + i * BM * BN + m[:, None] * BN + c[None, :]).to(tl.float32)
        sums += tl.where(m[:, None] >= i, tile, 0.0)
        i += 1
    tl.store(out + m[:, None] * BN + c[None, :], sums)


def in_loop(text: str) -> str:
    """What stands in a text's last loop."""
    start = max(text.rfind("scf.for"), text.rfind("scf.while"))
    return text[start : text.index("scf.yield", start)]


@pytest.mark.parametrize("kernel", [counted, asked], ids=lambda kernel: kernel.fn.__name__)
@pytest.mark.parametrize(
    ("block", "warps"), [((16, 64, 16), 1), ((64, 64, 32), 4), ((128, 32, 16), 8), ((16, 16, 16), 2)]
)
@pytest.mark.parametrize("tiles", [0, 1, 7])
def test_no_iteration_exchanges_sums(kernel: Any, block: tuple[int, int, int], warps: int, tiles: int) -> None:
    rows, columns, depth = block
    has = 1
    signature = f"*fp16:16, *fp16:16, *bf16:16, *fp32:16, i32, {rows}, {columns}, {depth}, {has}"
    code = dots.code_of(kernel, signature, num_warps=warps)
    assert "twg.convert_layout" not in in_loop(code["ttgir"])
    random = np.random.default_rng(rows + tiles)
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((rows, depth), (depth, columns)))
    x = random.integers(-4, 5, (max(tiles, 1), rows, columns)).astype(np.float32)
    out = np.full((rows, columns), np.nan, np.float32)
    small_kernels.launch(code, *(t.reshape(-1) for t in (a, b, dots.bits("bf16", x), out)), tiles)
    wanted = a.astype(np.float32) @ b.astype(np.float32) if tiles > has else np.zeros((rows, columns), np.float32)
    for i in range(tiles):
        wanted += np.where(np.arange(rows)[:, None] >= i, x[i], 0)
    np.testing.assert_array_equal(out, wanted)
