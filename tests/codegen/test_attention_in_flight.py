"""Attention on warpgroups: its second product, whose sum each iteration scales, stays in flight across iterations.

Here:      the bits of the same kernel with num_stages = 1, where every product is waited for at once, under several
           orders of warps and copies; NumPy; that the assembler keeps the products in flight.
Not here:  sums that products alone add to, and what is found without a wait (test_dots_in_flight.py); each wait and
           barrier dropped in turn (test_planted_protocol_mistakes.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl

SCHEDULES = ("turns", "seed:1,copies=drawn", "seed:2,copies=late")


@triton.jit
def causal_attention(q, k, v, out, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Of the last BM tokens of T, with other operations between the products than `attention` has."""
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        inside = (start + n < T)[:, None]
        keys = tl.load(k + (start + n)[:, None] * D + d[None, :], mask=inside, other=0.0)
        s = tl.dot(queries, tl.trans(keys)) * 0.125
        s = tl.where(start + n[None, :] <= T - BM + m[:, None], s, -float("inf"))
        p = tl.exp2(s)
        total += tl.sum(p, 1)
        values = tl.load(v + (start + n)[:, None] * D + d[None, :], mask=inside, other=0.0)
        acc = tl.dot(p.to(values.dtype), values, acc * 1.5)
    tl.store(out + m[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def scaled_weights(a, b, out, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The sum is scaled as attention's is, but the matrix in registers, b of 32 bits, is made from memory alone."""
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        left = tl.load(a + (start + m)[:, None] * D + n[None, :], mask=(start + n < T)[None, :], other=0.0)
        right = tl.load(b + (start + n)[:, None] * D + d[None, :])
        acc = tl.dot(left, right, acc * 1.5)
    tl.store(out + m[:, None] * D + d[None, :], acc)


def attention_of(
    kernel: Any, kind: str, width: int, rows: int, block: int, length: int, **options: Any
) -> tuple[np.ndarray, dict[str, Any], list[np.ndarray]]:
    """What the kernel computes, its code, and the numbers of q, k and v."""
    random = np.random.default_rng(3)
    stored = [dots.bits(kind, random.standard_normal((n, width))) for n in (rows, length, length)]
    signature = f"*{kind}:16, *{kind}:16, *{kind}:16, *fp32:16, i32, {width}, {rows}, {block}"
    code = dots.code_of(kernel, signature, **options)
    out = np.full((rows, width), 77, np.float32)
    for schedule in SCHEDULES:
        again = np.full((rows, width), 77, np.float32)
        small_kernels.launch(code, *[x.reshape(-1) for x in (*stored, again)], length, schedule=schedule)
        assert schedule == SCHEDULES[0] or (again.view(np.uint32) == out.view(np.uint32)).all()
        out = again
    return out, code, [dots.value(kind, x).astype(np.float64) for x in stored]


ATTENTIONS = [
    (dots.attention, "fp16", 64, 64, 32, 96, 4),
    (causal_attention, "fp16", 64, 64, 32, 96, 4),
    (dots.attention, "bf16", 32, 128, 64, 128, 4),
    (dots.attention, "fp16", 128, 128, 32, 64, 8),
    (causal_attention, "bf16", 128, 64, 64, 192, 4),
    (dots.attention, "fp16", 256, 64, 32, 64, 4),
]
"""Kernel, type, width, rows, block, tokens, warps."""


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=f"{c[0].__name__}-{dots.name_of(c[1:])}", marks=[pytest.mark.slow] * (c not in ATTENTIONS[:2]))
     for c in ATTENTIONS],
)  # fmt: skip
def test_a_scaled_sum_is_waited_for_where_it_is_scaled(case: tuple) -> None:
    """The second product goes on while the next iteration waits for copies and begins its first one."""
    kernel, kind, width, rows, block, length, warps = case
    want, code, (q, k, v) = attention_of(kernel, kind, width, rows, block, length, num_warps=warps, num_stages=1)
    assert dots.in_flight(code) == 0
    for stages in (2, 3):
        got, code, _ = attention_of(kernel, kind, width, rows, block, length, num_warps=warps, num_stages=stages)
        assert (got.view(np.uint32) == want.view(np.uint32)).all()
        assert dots.in_flight(code) == 2 and dots.waits(code) == [0, 0, 0]  # one wait in the loop
        dots.assert_not_serialised(code)
    s = q @ k.T * 0.125
    if kernel is causal_attention:
        at = np.arange(length)
        s = np.where(at <= (length - rows + np.arange(rows))[:, None], s, -np.inf)
        later = length // block - 1 - at // block  # blocks that come behind a token's
        weights = 1.5**later
    else:
        weights = np.ones(length)
    p = np.exp2(s)
    exact = (p * weights) @ v / p.sum(1)[:, None]
    np.testing.assert_allclose(got, exact, atol=(2e-2 if kind == "bf16" else 2e-3) * np.abs(exact).max())


def test_registers_that_do_not_come_from_a_wait_are_read_to_the_end() -> None:
    """The next iteration may write them before the sum is scaled: the product is waited for at once."""
    width, rows, block, length = 64, 64, 32, 96
    random = np.random.default_rng(5)
    a, b = (random.integers(-3, 4, (length + rows, width)).astype(np.float32) for _ in range(2))
    signature = f"*fp32:16, *fp32:16, *fp32:16, i32, {width}, {rows}, {block}"
    code = dots.code_of(scaled_weights, signature, num_warps=4, num_stages=3)
    assert "transposed" in code["ttgir"] and dots.in_flight(code) == 0
    want = np.zeros((rows, width))
    for start in range(0, length, block):
        want = want * 1.5 + a[start : start + rows, :block].astype(np.float64) @ b[start : start + block]
    for schedule in SCHEDULES:
        out = np.full((rows, width), 77, np.float32)
        small_kernels.launch(code, a.reshape(-1), b.reshape(-1), out.reshape(-1), length, schedule=schedule)
        np.testing.assert_array_equal(out, want)
