"""Bounds of integers that pass the end of their range. On a GPU n / n is 1 or a little less, its whole part 1 or 0."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import diff

N = 256
COUNTS = np.arange(1, N + 1, dtype=np.int32)
UNSIGNED = (tl.uint8, tl.uint16, tl.uint32, tl.uint64)
SIGNED = (tl.int8, tl.int16, tl.int32, tl.int64)
NUMPY = {str(kind): np.dtype(str(kind).replace("fp", "float")) for kind in (*UNSIGNED, *SIGNED, tl.float32)}


@triton.jit
def wrapped(x, o, FUNCTION: tl.constexpr, KIND: tl.constexpr, END: tl.constexpr, N: tl.constexpr):
    """Right results are END and END - 1, modulo 2^n."""
    i = tl.arange(0, N)
    v = tl.load(x + i)
    one = (v / v).to(KIND)
    tl.store(o + i, FUNCTION(one + END - 1))


@triton.jit
def unchanged(v):
    return v


@triton.jit
def negative(v):
    return -v


@triton.jit
def times_minus_three(v):
    return -(v * 3)


@triton.jit
def running_sum(v):
    return tl.cumsum(v.to(tl.int32), 0).to(v.dtype)


@triton.jit
def in_a_loop(v):
    for _ in range(3):
        v = v + v
    return v


@triton.jit
def wider(v):
    return v.to(tl.int64)


@triton.jit
def as_float(v):
    return v.to(tl.float32)


@triton.jit
def is_large(v):
    return (v > 100).to(tl.int32)


@triton.jit
def is_small(v):
    return (v <= 100).to(tl.int32)


@triton.jit
def is_zero(v):
    return (v == 0).to(tl.int32)


@triton.jit
def at_least_three(v):
    return tl.maximum(v, 3)


@triton.jit
def at_most_hundred(v):
    return tl.minimum(v, 100)


@triton.jit
def size(v):
    return tl.abs(v)


@triton.jit
def ones(v):
    return tl.popcount(v)


@triton.jit
def largest(v):
    return tl.max(v, 0) + tl.zeros([256], v.dtype)


MODULAR = (unchanged, negative, times_minus_three, in_a_loop)
READ = (running_sum, wider, as_float, is_large, is_small, is_zero, at_least_three, at_most_hundred, size, ones, largest)


def compared(function: Any, kind: tl.dtype, end: int) -> diff.Report:
    result = {wider: tl.int64, as_float: tl.float32, is_large: tl.int32, is_small: tl.int32, is_zero: tl.int32}
    out = np.zeros(N, NUMPY[str(result.get(function, kind))])
    return diff.compare(
        wrapped, (1,), [COUNTS, out, function, kind, end, N], backends=["interp", "sim"], localise=False
    )


def bits_of(kind: tl.dtype) -> int:
    return kind.primitive_bitwidth


@pytest.mark.parametrize("kind", [*UNSIGNED, *SIGNED], ids=str)
@pytest.mark.parametrize("function", MODULAR, ids=lambda f: f.__name__)
def test_sums_and_products_are_compared_modulo_the_range(function: Any, kind: tl.dtype) -> None:
    end = 0 if kind in UNSIGNED else -(2 ** (bits_of(kind) - 1))  # END - 1 is the other end
    report = compared(function, kind, end)
    assert report.verdict == diff.SAME, report
    assert report.rows[-1].within > 10, report  # the sides do differ


@pytest.mark.parametrize("kind", [*UNSIGNED, *SIGNED], ids=str)
@pytest.mark.parametrize("function", READ, ids=lambda f: f.__name__)
def test_of_numbers_at_both_ends_nothing_is_known(function: Any, kind: tl.dtype) -> None:
    end = 0 if kind in UNSIGNED else -(2 ** (bits_of(kind) - 1))
    assert compared(function, kind, end).verdict in (diff.SAME, diff.NOT_COMPARABLE)
    middle = compared(function, kind, 50)  # far from both ends everything is known
    assert middle.verdict == diff.SAME, middle


@pytest.mark.parametrize("kind", UNSIGNED, ids=str)
def test_unsigned_numbers_beside_the_largest_signed_one_have_an_order(kind: tl.dtype) -> None:
    end = 2 ** (bits_of(kind) - 1)
    for function in (is_large, is_small, at_least_three, wider, as_float):
        report = compared(function, kind, end)
        assert report.verdict == diff.SAME, (function, report)


class OffByTwo(diff.backends.InterpBackend):
    """The interpreter, whose results are two less."""

    name = "off by two"

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        for number, data in enumerate(outcome.memory):
            if not np.array_equal(data, launch.memory[number]):
                data.view(np.uint8)[:] -= 2
        return dataclasses.replace(outcome, backend=self.name)


def test_a_distance_of_two_is_more_than_one() -> None:
    out = np.zeros(N, np.uint8)
    args = [COUNTS, out, unchanged, tl.uint8, 1, N]
    report = diff.compare(wrapped, (1,), args, backends=["interp", OffByTwo()], localise=False)
    assert report.verdict == diff.DIFFERENT, report
    assert report.rows[-1].different == N


@triton.jit(noinline=True)
def share(a, b):
    return a / b


@triton.jit
def calls(x, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) * share(n, 7))


def test_functions_that_are_not_inlined_have_bounds() -> None:
    x, out = np.linspace(1, 2, N, dtype=np.float32), np.zeros(N, np.float32)
    report = diff.compare(calls, (1,), [x, out, 5, N], backends=["interp", "sim"], localise=False)
    assert report.verdict == diff.SAME, report
