"""A kernel that the fake driver knows by its name: test_fake_jit_launch.py launches it."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def mapped(x, BLOCK: tl.constexpr):
    """Through a tensor descriptor. The fake driver logs the first 8 bytes of its first two arguments."""
    x.store([0, BLOCK], x.load([0, 0]))
