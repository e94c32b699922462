"""A load without a mask, whose last program reads behind the end: docs/debugging.md."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, x * 2, mask=offs < n)


x = torch.arange(1000, dtype=torch.float32)
out = torch.empty_like(x)
double[(4,)](x, out, 1000, BLOCK=256)
