"""Functions with several ways out that reductions and scans combine with: compiled, eagerly and on the simulator."""

from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl

N = 64


@triton.jit
def larger(a, b):
    if a > b:
        return a
    return b


@triton.jit
def larger_in_pieces(a, b):
    if a > b:
        if a > 100:
            return a
    if b < 0:
        if larger(a, b) == a:
            return a
        return b
    if a < 0:
        if b > 50:
            return b
        a = a - 0
    c = a
    if b > c:
        c = b
    return c


@triton.jit
def sum_below(a, b):
    """Addition modulo 97, with a way out for each case."""
    total = a + b
    if total < 97:
        return total
    return total - 97


@triton.jit
def first_largest(a, i, b, j):
    if a > b:
        return a, i
    if a == b:
        if i < j:
            return a, i
        return a, j
    return b, j


@triton.jit
def combined(x, o, s, F: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    v = tl.load(x + lanes)
    tl.store(o, tl.reduce(v, 0, F))
    tl.store(s + lanes, tl.associative_scan(v, 0, F))


@triton.jit
def largest_with_place(x, o, at, s, N: tl.constexpr):
    lanes = tl.arange(0, N)
    v = tl.load(x + lanes)
    value, place = tl.reduce((v, lanes), 0, first_largest)
    tl.store(o, value)
    tl.store(at, place)
    values, places = tl.associative_scan((v, lanes), 0, first_largest)
    tl.store(s + lanes, values * 1000 + places)


MODES = ["interp", "eager", "sim"]


def use(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode == "eager":
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    else:
        monkeypatch.setenv("TILETWIN_BACKEND", mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("function", [larger, larger_in_pieces, sum_below], ids=lambda f: f.__name__)
def test_one_value(function: Any, seed: int, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(mode, monkeypatch)
    low, high = (0, 97) if function is sum_below else (-200, 200)
    x = np.random.default_rng(seed).integers(low, high, N).astype(np.int32)
    o, s = np.zeros(1, np.int32), np.zeros(N, np.int32)
    combined[(1,)](x, o, s, function, N)
    expected = x.cumsum() % 97 if function is sum_below else np.maximum.accumulate(x)
    assert s.tolist() == expected.tolist() and o[0] == expected[-1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(3))
def test_two_values(seed: int, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(mode, monkeypatch)
    x = np.random.default_rng(seed).integers(0, 6 * (seed + 1), N).astype(np.int32)  # with ties
    o, at, s = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(N, np.int32)
    largest_with_place[(1,)](x, o, at, s, N)
    assert (o[0], at[0]) == (x.max(), x.argmax())
    assert s.tolist() == [x[: i + 1].max() * 1000 + x[: i + 1].argmax() for i in range(N)]
