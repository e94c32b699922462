"""A kernel with a breakpoint in one program of its grid. The demo drives pdb through it."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, s_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    s = tl.load(s_ptr + row)
    scaled = x * s
    if row == 3:
        breakpoint()
    tl.store(out_ptr + row * n_cols + cols, scaled, mask=mask)


x = torch.arange(40, dtype=torch.float32).reshape(8, 5)
s = torch.linspace(0, 7, 8)
out = torch.empty_like(x)
scale_rows[(8,)](x, s, out, 5, BLOCK=8)
torch.testing.assert_close(out, x * s[:, None])
print("the other programs went on: results agree with torch")
