"""Kernels that call functions, return early or compute at compile time, and what they must store."""

from __future__ import annotations

import math

import triton
import triton.language as tl
from construct_kernels import DTYPE, NAMES, SCALE, WEIGHTS, Limits


@triton.jit
def sign_of(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@triton.jit
def store_unless(ptr, x, skip):
    if x == skip:
        return
    tl.store(ptr, x)


@triton.jit
def first_or(x, limit):
    if x > limit:
        y = x * 2
        if y > 30:
            return y, 1
        y += 1
        return y, 2
    return x, 3


@triton.jit
def early_returns_in_loops(o_ptr, n):
    total = 0
    for i in range(n):
        total = total * 3 + sign_of(i - 2)
        store_unless(o_ptr + i, i, 1)
        if i > 3:
            total += sign_of(total)
            for j in range(2):
                a, b = first_or(i * 5 + j, 22)
                total += a * b
    k = 0
    while sign_of(k - n) < 0:
        k += 1
    tl.store(o_ptr + 8, total)
    tl.store(o_ptr + 9, k)


@triton.jit
def block_or_zero(x, use):
    if use == 0:
        return tl.zeros_like(x)
    return x * use


@triton.jit
def early_returns_of_blocks(o_ptr, n):
    i = tl.arange(0, 8)
    acc = tl.zeros((8,), tl.int32)
    for k in range(n):
        acc += block_or_zero(i + k, k % 3)
        acc = block_or_zero(acc, (k < 4).to(tl.int32))
    tl.store(o_ptr + i, acc)


@triton.jit
def leave_early(o_ptr, n, MODE: tl.constexpr):
    tl.store(o_ptr, 1)
    if MODE == "all":
        return
    if n > 3:
        if n > 10:
            tl.store(o_ptr + 1, 11)
            return
        tl.store(o_ptr + 1, 4)
    for k in tl.static_range(4):
        if n == k:
            return
        tl.store(o_ptr + 2 + k, k)
    tl.store(o_ptr + 6, 7)


@triton.jit
def apply(fn: tl.constexpr, x, *more):
    return fn(x, *more)


@triton.jit
def apply_untyped(fn, x):
    return fn(x)


@triton.jit
def add_one(x):
    return x + 1


@triton.jit
def weighted(a, b=10, *rest, c: tl.constexpr = 2, d=None):
    """Defaults, keywords, *args and keyword-only parameters."""
    total = a + b * 10
    for k in tl.static_range(len(rest)):
        total += rest[k] * 100
    if d is not None:
        total += d
    return total * c


@triton.jit(noinline=True)
def outlined(x, y: tl.constexpr, flag=True):
    if flag:
        return x * y
    return x


@triton.jit(noinline=True)
def outlined_pair(p, x):
    tl.store(p, x)
    return x + 1, x + 2


@triton.jit
def functions(o_ptr, n):
    tl.store(o_ptr, apply(add_one, n))
    tl.store(o_ptr + 1, apply_untyped(add_one, n))
    tl.store(o_ptr + 2, apply(weighted, n, 1, 2))
    tl.store(o_ptr + 3, weighted(n))
    tl.store(o_ptr + 4, weighted(n, b=n, c=1, d=5))
    tl.store(o_ptr + 5, weighted(*(n, 2, 3), c=3))
    tl.store(o_ptr + 6, outlined(n, 4) + outlined(n, 5, flag=False))
    a, b = outlined_pair(o_ptr + 7, n)
    tl.store(o_ptr + 8, a * b)
    tl.store(o_ptr + 9, Limits.clip(n, 3) + Limits.twice(n) + Limits.WIDTH)


@triton.jit
def element_bits(dtype, x):
    tl.static_assert(dtype.value == tl.int64)
    return x.to(dtype.value) + dtype.primitive_bitwidth


@triton.jit
def pass_on(dtype: tl.constexpr, x):
    return element_bits(dtype, x)


@triton.jit
def power(x, n: tl.constexpr):
    """Calls itself with another compile-time argument."""
    if n == 0:
        return 1
    else:
        return x * power(x, n - 1)


@triton.jit
def powers(o_ptr, x, N: tl.constexpr):
    tl.store(o_ptr, power(x, N))


@triton.jit
def unit(x):
    return 4


@triton.jit
def compile_time_values(o_ptr, n, N: tl.constexpr, OP: tl.constexpr, DT: tl.constexpr):
    tl.store(o_ptr, pass_on(tl.int64, n) + pass_on(DT, n) + pass_on(DTYPE, n))
    width: tl.constexpr = unit(n)
    i = tl.arange(0, width)
    tl.store(o_ptr + 1 + i, i * SCALE)
    tl.static_assert(OP in NAMES and OP not in ("tanh", "log"), f"no such activation: {OP}")
    tl.static_assert(f"{OP}-{N:03d}" == "exp-006")
    tl.static_assert(1 < N <= 6 < 10)
    a: tl.constexpr
    b: tl.constexpr
    a, c = N, N
    b = math.log2(N + 2)
    tl.static_assert(a == 6 and b == 3)
    tl.static_assert(c.dtype == tl.int32)
    tl.store(o_ptr + 5, tl.sum(tl.full((8,), 1, DTYPE), 0) if OP == "exp" and N else 0)
    kept: tl.constexpr = [w * w for w in WEIGHTS if w != 2]
    tl.static_assert(kept[1] == 16 and len(kept) == 2)
    more = [n + w for w in WEIGHTS]
    tl.store(o_ptr + 6, more[0] * more[-1])
    tl.store(o_ptr + 7, len(WEIGHTS[1:]) + WEIGHTS[::-1][0])
    tl.store(o_ptr + 8, max(N, 3, 9) + min(n, N, 4))
    label = "text"
    tl.static_assert(label + "!" == "text!")
    function = tl.maximum if N > 5 else tl.minimum
    tl.store(o_ptr + 9, function(n, 100))
