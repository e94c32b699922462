"""Kernels that tests plant mistakes into. Lines are found by the words in their comments."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def softmax(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))  # load
    high = tl.max(v, 0)  # max
    e = tl.exp(v - high)  # exp
    total = tl.sum(e, 0)
    tl.store(o + row * n + c, e / total, mask=c < n)  # store


@triton.jit
def matmul(a, b, c, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])  # left
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])  # right
        acc = tl.dot(x, y, acc)  # dot
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))  # narrow


@triton.jit
def clipped(x, o, n, limit, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    inside = v < limit  # compare
    kept = tl.where(inside, v, limit)  # choose
    if tl.program_id(0) == 2:
        kept = kept * 2.0  # twice
    tl.store(o + i, kept, mask=i < n)


@triton.jit
def narrowed(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    small = v.to(tl.float16)  # round
    tl.store(o + i, small, mask=i < n)
