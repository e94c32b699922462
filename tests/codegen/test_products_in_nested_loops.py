"""Products in a loop and in loops inside of it: each loop copies operands ahead, and one waits where another begins.

Here:      one sum, in flight or read in each iteration; NumPy's numbers under all checks, for no iteration and several.
Not here:  sums that leave nested loops (test_nested_sums.py), loops over tiles (test_tile_loops.py).
"""

from __future__ import annotations

import numpy as np
import pytest
import small_kernels
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.compiler import ASTSource

BM, BN, BK, BJ = 64, 32, 64, 32
BOUND = 12.0


@triton.jit
def nested(
    a, b, c, d, out, outer, inner, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BJ: tl.constexpr,
    READ: tl.constexpr, AGAIN: tl.constexpr, FIRST: tl.constexpr,
):  # fmt: skip
    """In each of `outer` iterations the sum gets `inner` products c[j] @ d[j] and one a[i] @ b[i]. READ: it is bounded
    behind each of c and d. AGAIN: a second loop of them. FIRST: the product of a and b comes before, not behind."""
    m, n, k, j = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK), tl.arange(0, BJ)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(outer):
        if FIRST:
            left = tl.load(a + i * BM * BK + m[:, None] * BK + k[None, :])
            total = tl.dot(left, tl.load(b + i * BK * BN + k[:, None] * BN + n[None, :]), total)
        for _ in tl.static_range(2 if AGAIN else 1):
            for step in range(inner):
                short = tl.load(c + step * BM * BJ + m[:, None] * BJ + j[None, :])
                total = tl.dot(short, tl.load(d + step * BJ * BN + j[:, None] * BN + n[None, :]), total)
                if READ:
                    total = tl.minimum(total, 12.0)
        if not FIRST:
            left = tl.load(a + i * BM * BK + m[:, None] * BK + k[None, :])
            total = tl.dot(left, tl.load(b + i * BK * BN + k[:, None] * BN + n[None, :]), total)
    tl.store(out + m[:, None] * BN + n[None, :], total)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize(("read", "again", "first"), [(1, 0, 0), (0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1)])
def test_loops_in_loops(read: int, again: int, first: int, stages: int, arch: str) -> None:
    blocks = f"{BM}, {BN}, {BK}, {BJ}, {read}, {again}, {first}"
    signature = f"*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, i32, i32, {blocks}"
    options = {"num_warps": 4, "num_stages": stages}
    ttir = triton.compile(ASTSource(nested, signature), target="cuda:90", options=options).asm["ttir"]
    code = small_kernels.compiled(ttir, arch, **options)
    random = np.random.default_rng(stages)
    most = 4
    a, b = random.integers(-2, 3, (most, BM, BK)), random.integers(-2, 3, (most, BK, BN))
    c, d = random.integers(-1, 3, (most, BM, BJ)), random.integers(-1, 3, (most, BJ, BN))
    given = [x.astype(np.float16).reshape(-1) for x in (a, b, c, d)]
    for outer, inner in ((0, 1), (1, 0), (1, 1), (3, 2), (2, 4)):
        out = np.full((BM, BN), np.nan, np.float32)
        small_kernels.launch(code, *given, out.reshape(-1), outer, inner)
        wanted = np.zeros((BM, BN))
        for i in range(outer):
            wanted += a[i] @ b[i] if first else 0
            for step in [*range(inner)] * (1 + again):
                wanted += c[step] @ d[step]
                wanted = np.minimum(wanted, BOUND) if read else wanted
            wanted += 0 if first else a[i] @ b[i]
        np.testing.assert_array_equal(out, wanted)
