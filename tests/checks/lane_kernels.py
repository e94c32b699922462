"""Kernels for test_lanes.py: one rule of the checks `undefined`, `nan`, `overflow` and `promises` each.

`SIDE` chooses between the mistake ("bug") and its clean twin ("twin"); the line that is to be named ends in `# HERE`.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def through_shapes(x_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    pair = tl.join(x, x * 2)
    left, right = tl.split(tl.reshape(tl.trans(pair), (B, 2)))
    both = tl.reshape(tl.join(left, right), (2 * B,))
    j = tl.arange(0, 2 * B)
    if SIDE == "bug":
        keep = j < 2 * n + 1
    else:
        keep = (j < n) | ((j >= B) & (j < B + n))
    tl.store(o_ptr + j, both, mask=keep)  # HERE


@triton.jit
def through_a_loop(x_ptr, o_ptr, n, rounds, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    last = total
    for r in range(rounds):
        x = tl.load(x_ptr + r * n + i, mask=i < n)
        total = total + last
        last = x
    if SIDE == "bug":
        tl.store(o_ptr + i, total + last)  # HERE
    else:
        tl.store(o_ptr + i, total + last, mask=i < n)


@triton.jit
def through_while(x_ptr, o_ptr, n, rounds, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.zeros((B,), tl.float32)
    r = 0
    while r < rounds:
        x = tl.load(x_ptr + i, mask=i < n)
        value = x + r
        r += 1
    if SIDE == "bug":
        value = tl.where(i < B, value, 0.0)
    else:
        value = tl.where(i < n, value, 0.0)
    tl.store(o_ptr + i, value)  # HERE


@triton.jit
def through_if(x_ptr, o_ptr, n, flag, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    if flag > 0:
        x = tl.load(x_ptr + i, mask=i < n)
    else:
        x = tl.zeros((B,), tl.float32)
    if SIDE == "bug":
        tl.store(o_ptr + i, x)  # HERE
    else:
        tl.store(o_ptr + i, x, mask=i < n)


@triton.jit
def doubled(x):
    return x + x


@triton.jit
def early_return(x_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    if n == 0:
        return
    x = doubled(tl.load(x_ptr + i, mask=i < n))
    if SIDE == "bug":
        tl.store(o_ptr + i, x)  # HERE
    else:
        tl.store(o_ptr + i, x, mask=i < n)


@triton.jit
def through_and(x_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    good = i < n
    if SIDE == "bug":
        keep = (x > 2) & (i < B)
    else:
        keep = good & (x > 2)
    tl.store(o_ptr + i, i, mask=keep)  # HERE


@triton.jit
def times_mask(x_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    if SIDE == "bug":
        x = x * (i < n + 2)
    else:
        x = x * (i < n)
    tl.store(o_ptr + i, x)  # HERE


@triton.jit
def rows_outside(x_ptr, o_ptr, m, n, M: tl.constexpr, N: tl.constexpr, SIDE: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    if SIDE == "bug":
        x = tl.load(x_ptr + r[:, None] * n + c[None, :], mask=(r[:, None] < m) & (c[None, :] < n))
    else:
        x = tl.load(x_ptr + r[:, None] * n + c[None, :], mask=r[:, None] < m)
    total = tl.sum(x, axis=1)  # HERE
    tl.store(o_ptr + r, total, mask=r < m)


@triton.jit
def sums_in_front(x_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    if SIDE == "bug":
        sums = tl.cumsum(x, axis=0, reverse=True)  # HERE
    else:
        sums = tl.cumsum(x, axis=0)
    tl.store(o_ptr + i, sums, mask=i < n)


@triton.jit
def picked(x_ptr, o_ptr, n, shift, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    if SIDE == "bug":
        y = tl.gather(x, (i + 1) % B, 0)
    else:
        y = tl.gather(x, tl.minimum(i, n - 1), 0)
    tl.store(o_ptr + i, y, mask=i < n)  # HERE


@triton.jit
def counted(x_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    if SIDE == "bug":
        bins = tl.histogram(x, 8)  # HERE
    else:
        bins = tl.histogram(x, 8, mask=i < n)
    tl.store(o_ptr + tl.arange(0, 8), bins)


@triton.jit
def block_store(x_ptr, o_ptr, n, rows, B: tl.constexpr, SIDE: tl.constexpr):
    desc = tl.make_tensor_descriptor(o_ptr, shape=[rows, B], strides=[B, 1], block_shape=[4, B])
    r, i = tl.arange(0, 4), tl.arange(0, B)
    x = tl.load(x_ptr + r[:, None] * B + i[None, :], mask=(r[:, None] < n) & (i[None, :] < B))
    desc.store([0, 0], x)  # HERE


@triton.jit
def divided(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    q = x / y  # HERE
    if SIDE == "bug":
        tl.store(o_ptr + i, q)
    else:
        tl.store(o_ptr + i, q, mask=i < n)


@triton.jit
def infinite_difference(x_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=float("-inf"))
    peak = tl.max(x, 0)
    if SIDE == "twin":
        peak = tl.where(peak == float("-inf"), 0.0, peak)
    e = tl.exp(x - peak)  # HERE
    tl.store(o_ptr + i, e)


@triton.jit
def overflowing_dot(a_ptr, o_ptr, scale, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(a_ptr + i[:, None] * B + i[None, :])
    if SIDE == "twin":
        a = a * scale
    d = tl.dot(a, a, input_precision="ieee")  # HERE
    tl.store(o_ptr + i[:, None] * B + i[None, :], d)


@triton.jit
def silu_is_right(x_ptr, o_ptr, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    e = tl.exp(-x)  # HERE
    if SIDE == "bug":
        y = x * e
    else:
        y = x / (1.0 + e)
    tl.store(o_ptr + i, y)


@triton.jit
def product(x_ptr, o_ptr, factor, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    if SIDE == "twin":
        x = x.to(tl.int64)
    y = x * factor  # HERE
    tl.store(o_ptr + i, y)


@triton.jit
def hashed(x_ptr, o_ptr, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    if SIDE == "twin":
        x = x.to(tl.uint32, bitcast=True)
    h = x * 747796405 + 2891336453 % 2147483648  # HERE
    tl.store(o_ptr + i, h)


@triton.jit
def thrown_away(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    y = tl.load(y_ptr + i, mask=i < n, other=0)
    q = x // y  # HERE
    if SIDE == "bug":
        tl.store(o_ptr + i, q)
    else:
        tl.store(o_ptr + i, q, mask=i < n)


@triton.jit
def wide_product(x_ptr, o_ptr, factor, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    if SIDE == "twin":
        x = x // 4
    y = x * factor  # HERE
    tl.store(o_ptr + i, y)


@triton.jit
def to_narrow(x_ptr, o_ptr, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    if SIDE == "bug":
        y = x.to(tl.int8)  # HERE
    else:
        y = x.to(tl.int16)
    tl.store(o_ptr + i, y)


@triton.jit
def float_to_int(x_ptr, o_ptr, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    if SIDE == "twin":
        x = tl.clamp(x, -2147483648.0, 2147483520.0)
    y = x.to(tl.int32)  # HERE
    tl.store(o_ptr + i, y)


@triton.jit
def random_numbers(o_ptr, seed, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o_ptr + i, tl.rand(seed, i) + tl.randint(seed, i).to(tl.float32) + tl.randn(seed, i))


@triton.jit
def promised(x_ptr, o_ptr, start, B: tl.constexpr, SIDE: tl.constexpr):
    i = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, B), 8), 8)  # HERE
    tl.store(o_ptr + i, tl.load(x_ptr + i))


@triton.jit
def assumed(o_ptr, n, SIDE: tl.constexpr):
    tl.assume(n > 3)  # HERE
    tl.store(o_ptr, n)
