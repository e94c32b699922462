"""What real Triton's interpreter rounds wrong, and what it rounds otherwise by right: see docs/differential.md.

tiletwin diff --backends interp,triton demo/diff_conversions.py
"""

import torch
import triton
import triton.language as tl


@triton.jit
def narrow(x, out, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, v.to(tl.bfloat16))


@triton.jit
def softmax(x, out, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + i, e / tl.sum(e, 0))


@triton.jit
def scale_rows(x, mean, out, n, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    tl.store(mean + row, tl.sum(v, 0) / n)
    tl.store(out + row * n + i, (v * 0.37).to(tl.float8e5), mask=i < n)


torch.manual_seed(0)
x = torch.randn(4, 256)
narrow[(4,)](x, torch.empty(4, 256, dtype=torch.bfloat16), N=256)
softmax[(4,)](x, torch.empty(4, 256), N=256)
rows = torch.randn(8, 100).mul(64).round() / 64  # their sums are exact, in any order
scale_rows[(8,)](rows, torch.empty(8), torch.empty(8, 100, dtype=torch.float8_e5m2), 100, N=128)
