"""tl.map_elementwise with scalar functions of many kinds; test_map_elementwise.py launches them."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def mapped(x_ptr, out_ptr, FN: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out_ptr + i, tl.map_elementwise(FN, tl.load(x_ptr + i)))


@triton.jit
def mapped_two(x_ptr, y_ptr, out_ptr, FN: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.map_elementwise(FN, tl.load(x_ptr + i), tl.load(y_ptr + i))
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + B + i, b)


@triton.jit
def mapped_pack(x_ptr, out_ptr, FN: tl.constexpr, PACK: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    y = tl.map_elementwise(FN, tl.load(x_ptr + i), pack=PACK)
    tl.store(out_ptr + i, y[0])


@triton.jit
def piecewise(x):
    """Nested branches."""
    if x > 0:
        if x > 2.0:
            r = x * 10.0
        else:
            r = libdevice.tanh(x)
    else:
        r = x * 0.5
    return r


@triton.jit
def root(x):
    """Newton's method until it stands still: a loop that runs another number of times for each element."""
    y = tl.abs(x) + 1.0
    before = y + 1.0
    while y < before:
        before = y
        y = 0.5 * (y + tl.abs(x) / y)
    return before


@triton.jit
def power_sum(n):
    total = 0
    for k in range(n):
        total += k * k
    return total


@triton.jit
def collatz(n):
    count = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    return count


@triton.jit
def quotient(a, b):
    """Both results by a condition of two arguments."""
    if b == 0:
        q, r = 0, a
    else:
        q, r = a // b, a % b
    return q, r


@triton.jit
def order_two(a, b):
    if a > b:
        lo, hi = b, a
    else:
        lo, hi = a, b
    return lo, hi


@triton.jit
def order_four(a, b, c, d):
    a, b = order_two(a, b)
    c, d = order_two(c, d)
    a, c = order_two(a, c)
    b, d = order_two(b, d)
    b, c = order_two(b, c)
    return a, b, c, d


@triton.jit
def to_bool(x):
    return x > 1


@triton.jit
def with_scalar(x_ptr, scale, out_ptr, n, B: tl.constexpr):
    """Blocks of two dimensions, a scalar among the arguments, and a loop around, carrying the result."""
    i = tl.arange(0, B)[:, None] * 4 + tl.arange(0, 4)[None, :]
    x = tl.load(x_ptr + i)
    for _ in range(n):
        x = tl.map_elementwise(step, x, scale)
    y = tl.map_elementwise(root, x)
    tl.store(out_ptr + i, x + y)


@triton.jit
def step(x, scale):
    if x < 1.0:
        r = x + scale
    else:
        r = x * 0.5
    return r


@triton.jit
def summed(x_ptr, out_ptr, B: tl.constexpr):
    """Into a reduction."""
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(out_ptr, tl.sum(tl.map_elementwise(collatz, x)))
