"""What kernels of other files reach through this module (sim_kernels.py)."""

import tiletwin as triton
import tiletwin.language as tl

SCALE = tl.constexpr(3)


@triton.jit
def scaled(v):
    return v * SCALE


@triton.jit
def shifted(v):
    return scaled(v) + 1


@triton.jit
def nearly(v):
    least: tl.constexpr = 0.5
    return v + least


def half(count):
    return count // 2


@tl.constexpr
def middle(count):
    return half(getattr(count, "value", count))


def untouched(fn):
    """A decorator that other processes need not know."""
    return fn
