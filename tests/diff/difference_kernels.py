"""A minimal kernel for each entry of docs/triton_differences.md (test_triton_differences.py)."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def clamped(x, o, low: tl.constexpr, high: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.clamp(tl.load(x + i), low, high))


@triton.jit
def product(a, b, o, ALLOW: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + i, tl.dot(tl.load(a + i), tl.load(b + i), allow_tf32=ALLOW))


@triton.jit
def sums_of_products(a, b, c, o, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + i, tl.dot(tl.load(a + i), tl.load(b + i), tl.load(c + i), out_dtype=tl.int32))
