"""Kernels that store what one construct of the language gives, and what that must be.

Here:      the kernels of values, loops and tuples.
Not here:  kernels with functions (function_kernels.py), running them in both modes (test_constructs.py).
"""

from __future__ import annotations

from typing import NamedTuple

import triton
import triton.language as tl

SCALE = tl.constexpr(3)
WEIGHTS = tl.constexpr((1, 2, 4))
NAMES = tl.constexpr(("relu", "exp"))
DTYPE = tl.int64


class Limits:
    """A class that is a namespace of compile-time values and functions."""

    WIDTH = tl.constexpr(8)

    @staticmethod
    @triton.jit
    def clip(x, high):
        return tl.minimum(x, high)

    @triton.jit
    def twice(x):
        return x * 2


class Span(NamedTuple):
    low: tl.tensor
    high: tl.tensor = 9


@triton.aggregate
class Counter:
    value: tl.tensor
    step: tl.constexpr = 1

    @triton.jit
    def advance(self, times=1):
        return Counter(self.value + self.step * times, self.step)

    @triton.jit
    def __add__(self, other):
        return Counter(self.value + other.value, self.step)

    @triton.jit
    def __neg__(self):
        return Counter(-self.value, self.step)

    @triton.jit
    def __lt__(self, other):
        return self.value < other.value

    @triton.jit
    def __getitem__(self, index):
        return self.value * 10 + index

    @triton.constexpr_function
    def double_step(self):
        return 2 * self.step

    @staticmethod
    @triton.jit
    def zero():
        return Counter(tl.full((), 0, tl.int32), 5)


@triton.aggregate
class Wide(Counter):
    scale: tl.constexpr = 7

    @triton.jit
    def scaled(self):
        return self.value * self.scale


@triton.aggregate
class Checked:
    items: tl.tuple
    size: tl.constexpr

    @triton.constexpr_function
    def __init__(self, items, size=2):
        self.items = items
        self.size = tl.constexpr(size)


@triton.constexpr_function
def rank_of(x):
    return len(x.shape)


@triton.jit
def carried_tuples(o_ptr, n):
    pair = (0, 1)
    span = Span(n, n * 2)
    nested = ((n, 1.5), n)
    for i in range(n):
        pair = (pair[1], pair[0] + pair[1])
        span = Span(span.low - 1, span.high + i)
        nested = ((nested[0][0] + 1, nested[0][1] * 2), i)
    tl.store(o_ptr, pair[0])
    tl.store(o_ptr + 1, span.low)
    tl.store(o_ptr + 2, span.high)
    tl.store(o_ptr + 3, nested[0][0])
    tl.store(o_ptr + 4, nested[0][1].to(tl.int32))
    tl.store(o_ptr + 5, nested[1])


@triton.jit
def carried_pointers(x_ptr, o_ptr, n, B: tl.constexpr):
    row = x_ptr + tl.arange(0, B)
    here = o_ptr
    pointers = (x_ptr, o_ptr + 4)
    total = tl.zeros((B,), tl.int64)
    for _ in range(n):
        total += tl.load(row)
        row += B
        tl.store(here, tl.load(pointers[0]))
        tl.store(pointers[1], tl.load(pointers[0]) * 2)
        here += 1
        pointers = (pointers[0] + 1, pointers[1] + 1)
    while tl.load(pointers[0]) < 12:
        pointers = (pointers[0] + 1, pointers[1])
    tl.store(o_ptr + 8, tl.sum(total, 0))
    tl.store(o_ptr + 9, tl.load(pointers[0]))


@triton.jit
def carried_aggregate(o_ptr, n):
    c = Counter(n, 3)
    w = Wide(n)
    for i in range(n):
        if i % 2 == 0:
            c = c.advance()
        else:
            c = c + c
        w = Wide((w + w).value)
    tl.store(o_ptr, c.value)
    tl.store(o_ptr + 1, w.scaled())
    limit = Counter(tl.full((), 1000, tl.int32), 3)
    while c < limit:
        c = c.advance(times=c.value)
    tl.store(o_ptr + 2, c.value)


@triton.jit
def aggregates(o_ptr, n):
    c = Counter(n)
    bound = c.advance
    tl.store(o_ptr, bound(4).value)
    tl.store(o_ptr + 1, (-c).value)
    tl.store(o_ptr + 2, c[3])
    tl.store(o_ptr + 3, c.double_step() * rank_of(tl.arange(0, 4)[None, :]))
    tl.store(o_ptr + 4, tl.aggregate_replace(c, value=c.value * 5).value)
    tl.store(o_ptr + 5, Counter.zero().advance().value)
    tl.store(o_ptr + 6, Wide(n, scale=2).advance().value)
    k = Checked((n, 4))
    tl.static_assert(k.size == 2 and len(k.items) == 2)
    tl.store(o_ptr + 7, k.items[0] + k.items[1])


@triton.jit
def annotated_locals(o_ptr, n: tl.int32, f: tl.float32):
    x: tl.int32 = 5
    y: "tl.float32" = 2.5  # noqa: UP037
    "a string that does nothing"
    z: tl.constexpr = n.dtype.primitive_bitwidth
    tl.static_assert(x.dtype == tl.int32 and y.dtype == tl.float32 and n.dtype == tl.int32)
    tl.static_assert(isinstance(f, tl.tensor) and isinstance(z, int) and not isinstance(z, tl.constexpr))
    tl.store(o_ptr, x + z)
    tl.store(o_ptr + 1, (y * 2 + f).to(tl.int32))
    assert n > 0, "n is positive"
    tl.store(o_ptr + 2, f.to(tl.int64) + n.to(tl.int64))


@triton.jit
def logic(o_ptr, n, m):
    i = tl.arange(0, 8)
    tl.store(o_ptr + i, ((i > 2) and (i < n)) or (not (i < m)))
    big = n > 3
    low, high = n < m, not big
    tl.store(o_ptr + 8, (big and not low) or high)
    tl.store(o_ptr + 9, 1 < n < m <= 7)
    tl.store(o_ptr + 10, (3 < i + n - i <= m).to(tl.int32).sum())
    mask = (i < 4) & (n > 3)
    tl.store(o_ptr + 11, tl.sum(mask.to(tl.int32), 0))
    tl.store(o_ptr + 12, (n if n > m else m) + (100 if m is not None else 0))
    if (tl.sum(i, 0, keep_dims=True) > 3) and big:
        tl.store(o_ptr + 13, 1)
    else:
        tl.store(o_ptr + 13, 2)
    tl.store(o_ptr + 14, True if not (n == m) and (n > 0 or m > 0) else False)


@triton.jit
def loops(o_ptr, n, step):
    a = 0
    for i in range(n, 0, -2):
        a = a * 10 + i
    b = 0
    for i in tl.range(1, n, step, num_stages=3, loop_unroll_factor=2, flatten=True, disallow_acc_multi_buffer=True):
        b = b * 10 + i
    c = 0
    for k in tl.static_range(6, 0, -2):
        for j in range(k):
            c += j * k
    d = 0
    while tl.condition(d < n, disable_licm=True):
        d += 4
    e = 0
    for i in range(0, n):
        if i % 2:
            e += i
        elif i > 3:
            e += 100
        else:
            pass
    f = n
    while f > 1:
        g = f
        while g > 2:
            g -= 2
        f -= g
    for _ in range(3, 3):
        f = 100
    for u in range(tl.full((), 2, tl.int64), n):
        tl.static_assert(u.dtype == tl.int64)
        f += u.to(tl.int32)
    tl.store(o_ptr, a)
    tl.store(o_ptr + 1, b)
    tl.store(o_ptr + 2, c)
    tl.store(o_ptr + 3, d)
    tl.store(o_ptr + 4, e)
    tl.store(o_ptr + 5, f)


@triton.jit
def assignments(o_ptr, n):
    (a, b), c = (n, n + 1), n + 2
    a, b = b, a
    [d, e] = a, c
    t = (a, b) + (c,)  # noqa: RUF005
    x, y, z = t
    d += 1
    d *= (w := d + 1)
    t += (w,)
    f = t * 2
    tl.store(o_ptr, a * 100 + b * 10 + c)
    tl.store(o_ptr + 1, d + e)
    tl.store(o_ptr + 2, x + y + z + w)
    tl.store(o_ptr + 3, len(f) + len(t[1:3]))
    tl.store(o_ptr + 4, f[-1])
    block = tl.arange(0, 4)
    grid = block[:, None] * 4 + block[None, :]
    tl.store(o_ptr + 5, tl.sum(grid[None, :, :].reshape(16), 0))


@triton.jit
def named_tuples(o_ptr, n):
    s = Span(n)
    if n > 2:
        s = Span(s.high, s.low)
    low, high = s
    tl.store(o_ptr, low * 100 + high)
    tl.store(o_ptr + 1, s[0] + s.high)
    tl.store(o_ptr + 2, len(s))


@triton.jit
def tuple_arguments(pointers, sizes, span, o_ptr):
    x = tl.load(pointers[0] + 1) + tl.load(pointers[1][0])
    tl.static_assert(len(sizes) == 3 and sizes[2] is None)
    tl.store(o_ptr, x + sizes[0] * 10 + sizes[1])
    tl.store(o_ptr + 1, span.low + span.high)


@triton.jit
def many_arguments(o_ptr, *numbers, scale: tl.constexpr = 1):
    total = 0
    for k in tl.static_range(len(numbers)):
        total = total * 10 + numbers[k]
    tl.store(o_ptr, total * scale)


def doubled(fn):
    """A decorator below @triton.jit that changes nothing."""
    import functools

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@triton.jit
@doubled
def decorated_below(o_ptr, n):
    tl.store(o_ptr, n * SCALE)
