"""Rotary embedding: x[batch, row, head, D] with tables of D / 2 columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rotate(x, cos, sin, o, rows, heads, D: tl.constexpr):
    number = tl.program_id(0)
    row = number // heads % rows
    i = tl.arange(0, D // 2)
    a, b = tl.load(x + number * D + i), tl.load(x + number * D + D // 2 + i)
    c, s = tl.load(cos + row * (D // 2) + i), tl.load(sin + row * (D // 2) + i)
    tl.store(o + number * D + i, a * c - b * s)
    tl.store(o + number * D + D // 2 + i, b * c + a * s)


def rope(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    o = torch.empty_like(x)
    batch, rows, heads, d = x.shape
    if x.numel():
        _rotate[(batch * rows * heads,)](x, cos, sin, o, rows, heads, D=d)
    return o
