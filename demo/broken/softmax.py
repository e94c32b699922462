"""A softmax that is wrong in most rows. docs/debugging.md finds out why, with a check."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask)
    peak = tl.max(x, axis=0)
    e = tl.exp(x - peak)
    tl.store(out_ptr + row * n_cols + cols, e / tl.sum(e, axis=0), mask=mask)


torch.manual_seed(0)
x = torch.randn(8, 100) - 2
out = torch.empty_like(x)
softmax[(8,)](x, out, 100, BLOCK=128)
wrong = [row for row in range(8) if not torch.allclose(out[row], x[row].softmax(0), atol=1e-5)]
print(f"rows that differ from torch: {wrong}")
