"""Numbers of rows that loops carry beside products: they lie as the reductions that make them do.

Here:      that no iteration exchanges them between threads, whatever they go through on the way; NumPy's numbers, and
           the same bits with one stage.
Not here:  products in flight (test_attention_in_flight.py), indices (test_carried_indices.py).
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
def attention(q, k, v, out, scale, T, BT: tl.constexpr, BS: tl.constexpr, D: tl.constexpr, PIVOT: tl.constexpr):
    """To all keys before a program's own queries. PIVOT: rows without a key stay finite."""
    t, d = T - BT + tl.arange(0, BT), tl.arange(0, D)
    queries = tl.load(q + t[:, None] * D + d[None, :])
    total = tl.zeros((BT, D), tl.float32)
    most, sums = tl.full((BT,), float("-inf"), tl.float32), tl.zeros((BT,), tl.float32)
    for start in range(0, T - BT, BS):
        s = start + tl.arange(0, BS)
        keys, values = tl.load(k + d[:, None] + s[None, :] * D), tl.load(v + s[:, None] * D + d[None, :])
        scores = tl.dot(queries, keys) * scale * 1.44269504
        most, before = tl.maximum(most, tl.max(scores, 1)), most
        pivot = tl.where(most == float("-inf"), 0.0, most) if PIVOT else most
        shrunk = tl.exp2(before - pivot)
        p = tl.exp2(scores - pivot[:, None])
        sums = sums * shrunk + tl.sum(p, 1)
        total = total * shrunk[:, None] + tl.dot(p.to(queries.dtype), values)
    tl.store(out + tl.arange(0, BT)[:, None] * D + d[None, :], total / sums[:, None])


def exchanged(code: dict[str, Any]) -> list[str]:
    return re.findall(r"twg\.convert_layout .*: tensor<\d+xf32", code["ttgir"].split("scf.for", 1)[1])


@pytest.mark.parametrize("pivot", [False, True])
@pytest.mark.parametrize(("rows", "warps"), [(64, 4), (128, 8), (32, 2)])
def test_rows_of_attention(rows: int, warps: int, pivot: bool) -> None:
    width, block, tokens = 64, 64, 192 + rows
    signature = f"*fp16:16, *fp16:16, *fp16:16, *fp32:16, fp32, i32:16, {rows}, {block}, {width}, {int(pivot)}"
    generator = np.random.default_rng(1)
    q, k, v = (generator.standard_normal((tokens, width)).astype(np.float16) for _ in range(3))
    got = []
    for stages in (1, 3):
        code = dots.code_of(attention, signature, num_warps=warps, num_stages=stages)
        assert not exchanged(code)
        out = np.zeros((rows, width), np.float32)
        small_kernels.launch(code, *(x.reshape(-1) for x in (q, k, v, out)), np.float32(0.125), tokens)
        got.append(out)
    np.testing.assert_array_equal(got[0].view(np.uint32), got[1].view(np.uint32))
    scores = q[-rows:].astype(np.float64) @ k[:-rows].astype(np.float64).T * 0.125
    p = np.exp(scores - scores.max(1, keepdims=True))
    wanted = p / p.sum(1, keepdims=True) @ v[:-rows].astype(np.float64)
    np.testing.assert_allclose(got[0], wanted, rtol=0, atol=5e-3)
