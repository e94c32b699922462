"""Kernels about names: what shadows what, what a branch or a loop leaves behind, which ranges a loop takes.

Here:      the kernels.
Not here:  what they must give (test_scopes.py).
"""

from __future__ import annotations

import enum
from typing import NamedTuple

import triton
import triton.language as tl

WIDTH = tl.constexpr(3)
NUMBERS = tl.constexpr((3, 4))


class Colour(enum.Enum):
    RED = 4


class Pair(NamedTuple):
    a: tl.tensor
    b: tl.tensor


@triton.aggregate
class Box:
    v: tl.tensor


@triton.aggregate
class Crate:
    box: Box
    rest: tl.tuple


@triton.jit
def min(a, b):
    """Takes the place of Python's min in this file."""
    return a * 100 + b


@triton.jit
def len(a):
    return a + 1


@triton.jit
def names_of_python(max, range):
    sum = max * 10
    return sum + range


@triton.jit
def shadowed(o_ptr, n, m):
    tl.store(o_ptr, min(n, m))
    tl.store(o_ptr + 1, len(n))
    tl.store(o_ptr + 2, names_of_python(n, m))
    total = WIDTH + n  # noqa: F823
    WIDTH = n
    tl.store(o_ptr + 3, total + WIDTH)
    shadowed = m
    tl.store(o_ptr + 4, shadowed)


@triton.jit
def values_of_branches(o_ptr, n, m):
    inner = None
    both = None
    if n > m:
        inner = n * 2
        tl.store(o_ptr, inner)
        both = n
    else:
        both = m
    tl.store(o_ptr + 1, both)
    inner = m  # has a value again
    tl.store(o_ptr + 2, inner)
    for i in range(n):
        found = None
        if i > 2:
            found = i * 10
            tl.store(o_ptr + 3, found)
    pair = Pair(n, m)
    pointer = o_ptr + 5
    box = Box(n)
    if m > 2:
        pair = Pair(pair.b, pair.a + 1)
        pointer += 1
        box = Box(box.v + 1)
    tl.store(o_ptr + 4, pair.a * 10 + pair.b)
    tl.store(pointer, box.v)


@triton.jit
def carried_objects(o_ptr, n, m):
    crate = Crate(Box(n), (m, n))
    boxes = (Box(n), Box(m))
    for _ in range(3):
        crate = Crate(Box(crate.box.v + 1), (crate.rest[1], crate.rest[0]))
        boxes = (boxes[1], Box(boxes[0].v + 1))
    tl.store(o_ptr, crate.box.v * 100 + crate.rest[0] * 10 + crate.rest[1])
    tl.store(o_ptr + 1, boxes[0].v * 10 + boxes[1].v)


@triton.jit
def ranges(o_ptr, n, m):
    count = 0
    for i in range(n.to(tl.int8)):
        tl.static_assert(i.dtype == tl.int32)
        count += 1
    tl.store(o_ptr, count)
    for _ in range((n + 195).to(tl.uint8)):  # 200 as a signed number of 8 bits is negative
        count += 1
    for _ in range(n > m):  # and so is a true int1
        count += 1
    tl.store(o_ptr + 1, count)
    for _ in range(n, 0, m - m - 2):  # a step that is negative at run time
        count += 1
    tl.store(o_ptr + 2, count)
    for i in range(4294967296, 4294967299):
        tl.static_assert(i.dtype == tl.int64)
        count += 1
    tl.store(o_ptr + 3, count)
    for i in tl.static_range(3, -1, -2):
        count = count * 10 + i
    tl.store(o_ptr + 4, count)
    for _ in range(m):
        for _ in range(n - 1, -1, -2):
            count += 1
    tl.store(o_ptr + 5, count)


@triton.jit
def compile_time_tests(o_ptr, n, S: tl.constexpr, T: tl.constexpr):
    tl.store(o_ptr, 1 if S in ("abc", "d") and "b" in S and S not in ("x",) else 2)
    tl.store(o_ptr + 1, 1 if 0 < T in NUMBERS is not None else 2)
    tl.store(o_ptr + 2, isinstance(T, int) and not isinstance(T, tl.constexpr) and isinstance(n, tl.tensor))
    tl.store(o_ptr + 3, Colour.RED.value + n)
    if T == 100:
        for i in range(n):
            if i > 2:
                break
            continue
    if S == "" and n.no_such_attribute:
        tl.store(o_ptr + 4, undefined_function(n))  # noqa: F821
    else:
        tl.store(o_ptr + 4, 9)
    low, high = (n, T) if T else (T, n)
    tl.store(o_ptr + 5, low * 10 + high)
