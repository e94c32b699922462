"""Causal attention over rows of D columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def _attend(q, k, v, o, rows, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    block, head = tl.program_id(0), tl.program_id(1)
    m, d = block * M + tl.arange(0, M), tl.arange(0, D)
    at = head * rows * D + m[:, None] * D + d[None, :]
    query = tl.load(q + at, mask=m[:, None] < rows, other=0.0)
    most, total = tl.full([M], float("-inf"), tl.float32), tl.zeros([M], tl.float32)
    sums = tl.zeros([M, D], tl.float32)
    for first in range(0, (block + 1) * M, N):
        n = first + tl.arange(0, N)
        there = head * rows * D + n[:, None] * D + d[None, :]
        scores = tl.dot(query, tl.trans(tl.load(k + there, mask=n[:, None] < rows, other=0.0))) * scale
        scores = tl.where((m[:, None] >= n[None, :]) & (n[None, :] < rows), scores, float("-inf"))
        now = tl.maximum(most, tl.max(scores, 1))
        p, keep = tl.exp(scores - now[:, None]), tl.exp(most - now)
        total = total * keep + tl.sum(p, 1)
        values = tl.load(v + there, mask=n[:, None] < rows, other=0.0)
        sums = sums * keep[:, None] + tl.dot(p.to(values.dtype), values)
        most = now
    tl.store(o + at, (sums / total[:, None]).to(o.dtype.element_ty), mask=m[:, None] < rows)


def attention(q, k, v):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    batch, heads, rows, d = q.shape
    o = torch.empty_like(q)
    if q.numel():
        _attend[(triton.cdiv(rows, 64), batch * heads)](q, k, v, o, rows, d**-0.5, D=d, M=64, N=32)
    return o
