"""Kernels with the names and parameters of entries that the fake driver runs (fake_cuda.c)."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0) + tl.load(y + i, mask=i < n, other=0.0)
    tl.store(out + i, v, mask=i < n)


@triton.jit
def fault(x):
    """Loses the fake driver's context."""
    tl.store(x, 1.0)
