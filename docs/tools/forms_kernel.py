"""A kernel whose values have every form that the interpreter's plan knows; pictures.py runs it and draws them."""

import torch
import triton
import triton.language as tl


@triton.jit
def forms(x_ptr, index_ptr, out_ptr, n_cols, scale, R: tl.constexpr, C: tl.constexpr):
    rows = tl.arange(0, R)[:, None]
    cols = tl.arange(0, C)[None, :]
    offsets = rows * C + cols
    mask = (cols < n_cols) & (rows >= 0)
    x = tl.load(x_ptr + offsets)
    factor = tl.zeros((R, C), tl.float32) + scale
    y = x * factor
    z = tl.exp(y)
    total = tl.cumsum(z, axis=1)
    picked = tl.load(index_ptr + tl.arange(0, R))
    places = picked[:, None] * C + cols
    w = tl.load(x_ptr + places, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, total + w, mask=mask)


if __name__ == "__main__":
    torch.manual_seed(0)
    values = torch.randn(8, 16)
    index = torch.tensor([3, 0, 6, 6, 1, 7, 2, 5], dtype=torch.int32)
    forms[(1,)](values, index, torch.empty(8, 16), 12, 0.5, R=8, C=16)
