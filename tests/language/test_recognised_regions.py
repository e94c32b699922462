"""Reductions and scans with a tile function of their own give what their region gives, run as it is written.

Here:      each recognised form beside the same combine function in a tuple that no form has; NaN at every place, zeros
           of both signs, infinities, ties; every axis, reverse scans, sizes from 1 on.
Not here:  what the functions should give (test_reductions.py, test_scans.py, tests/tile).
Invariant: NaNs count as equal; everything else is compared bit by bit.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTS = [torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64]
SHAPES = [(1, 1), (4, 4), (2, 32), (32, 2), (16, 64)]


def bits(t: torch.Tensor) -> np.ndarray:
    """The elements as numbers that are equal where the bits are; all NaNs are one."""
    if t.is_floating_point():
        t = torch.where(t.isnan(), torch.full_like(t, float("nan")), t)
    return t.contiguous().view(torch.uint8).numpy().reshape(*t.shape, t.element_size())


def values(dtype: torch.dtype, shape: tuple[int, int], kind: str, seed: int) -> torch.Tensor:
    """Few different numbers, so that there are ties; `kind` says what stands among them."""
    random = np.random.default_rng(seed)
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        pool = [0, 1, 2, 5, info.max, info.min, info.max - 1]
        return torch.from_numpy(random.choice(np.array(pool, np.dtype(str(dtype).removeprefix("torch."))), shape))
    pool = {
        "numbers": [-4.0, -1.0, 0.0, 2.0, 6.0, 8.0],
        "zeros": [0.0, -0.0, -0.0],
        "infinite": [float("inf"), float("-inf"), 1.0, -0.0],
        "nans": [float("nan"), -float("nan"), 1.0, 3.0, -0.0, float("-inf")],
        "mostly": [float("nan"), float("nan"), float("nan"), 7.0],
    }[kind]
    return torch.from_numpy(random.choice(np.array(pool), shape)).to(dtype)


def seed_of(shape: tuple[int, int], kind: str) -> int:
    return shape[0] * 1000 + shape[1] + len(kind)


# ---- value and index ----


@triton.jit
def _largest_left(v0, i0, j0, v1, i1, j1):
    take = (v0 > v1) | ((v0 == v1) & (i0 < i1))
    return tl.where(take, v0, v1), tl.where(take, i0, i1), tl.where(take, j0, j1)


@triton.jit
def _smallest_left(v0, i0, j0, v1, i1, j1):
    take = (v0 < v1) | ((v0 == v1) & (i0 < i1))
    return tl.where(take, v0, v1), tl.where(take, i0, i1), tl.where(take, j0, j1)


@triton.jit
def _largest_any(v0, i0, j0, v1, i1, j1):
    take = v0 > v1
    return tl.where(take, v0, v1), tl.where(take, i0, i1), tl.where(take, j0, j1)


@triton.jit
def _smallest_any(v0, i0, j0, v1, i1, j1):
    take = v0 < v1
    return tl.where(take, v0, v1), tl.where(take, i0, i1), tl.where(take, j0, j1)


@triton.jit
def arg_extremum(
    x_ptr,
    v_ptr,
    i_ptr,
    w_ptr,
    j_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    AXIS: tl.constexpr,
    COMBINE: tl.constexpr,
    LARGEST: tl.constexpr,
    LEFT: tl.constexpr,
):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    if AXIS == 1:
        index = tl.broadcast_to(columns[None, :], (M, N))
        at = rows
    else:
        index = tl.broadcast_to(rows[:, None], (M, N))
        at = columns
    if LARGEST:
        v, i = tl.max(x, AXIS, return_indices=True, return_indices_tie_break_left=LEFT)
    else:
        v, i = tl.min(x, AXIS, return_indices=True, return_indices_tie_break_left=LEFT)
    w, j, _ = tl.reduce((x, index, index), AXIS, COMBINE)
    tl.store(v_ptr + at, v)
    tl.store(i_ptr + at, i)
    tl.store(w_ptr + at, w)
    tl.store(j_ptr + at, j)


def kinds_of(dtype: torch.dtype) -> list[str]:
    return ["numbers", "zeros", "infinite", "nans", "mostly"] if dtype.is_floating_point else ["numbers"]


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("combine", "largest", "left"), [
    (_largest_left, True, True), (_largest_any, True, False),
    (_smallest_left, False, True), (_smallest_any, False, False),
])  # fmt: skip
@pytest.mark.parametrize("dtype", FLOATS + INTS, ids=str)
def test_value_and_index(dtype: torch.dtype, combine, largest: bool, left: bool, axis: int) -> None:
    for shape, kind in itertools.product(SHAPES, kinds_of(dtype)):
        x = values(dtype, shape, kind, seed=seed_of(shape, kind))
        count = shape[1 - axis]
        v, w = (torch.zeros(count, dtype=dtype) for _ in range(2))
        i, j = (torch.full((count,), -1, dtype=torch.int32) for _ in range(2))
        m, n = shape
        arg_extremum[(1,)](x, v, i, w, j, M=m, N=n, AXIS=axis, COMBINE=combine, LARGEST=largest, LEFT=left)
        assert i.tolist() == j.tolist(), (shape, kind, x)
        assert np.array_equal(bits(v), bits(w)), (shape, kind, x)
        if kind == "numbers" and left and dtype not in (torch.uint16, torch.uint32, torch.uint64):
            reference = np.argmax if largest else np.argmin
            assert i.tolist() == reference(x.double().numpy() if dtype == torch.bfloat16 else x.numpy(), axis).tolist()


@pytest.mark.parametrize(("numbers", "largest", "smallest"), [
    ([float("nan"), 6.0, 8.0, -1.0], 2, 3),  # as real Triton's interpreter and an H200 have it
    ([6.0, 8.0, float("nan"), -1.0], 1, 3),
    ([8.0, float("nan"), float("nan"), 1.0], 3, 3),  # (8, nan) leaves nan, (nan, 1) leaves 1, and (nan, 1) does, too
    ([8.0, 3.0, 1.0, float("nan")], 3, 3),
    ([float("nan"), float("nan"), float("nan"), 5.0], 3, 3),
])  # fmt: skip
def test_where_a_nan_stays(numbers: list[float], largest: int, smallest: int) -> None:
    @triton.jit
    def both(x_ptr, o_ptr, N: tl.constexpr):
        x = tl.load(x_ptr + tl.arange(0, N))
        tl.store(o_ptr, tl.argmax(x, 0))
        tl.store(o_ptr + 1, tl.argmin(x, 0))

    o = torch.zeros(2, dtype=torch.int32)
    both[(1,)](torch.tensor(numbers), o, N=len(numbers))
    assert o.tolist() == [largest, smallest]


# ---- one operation ----


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def _mul(a, b):
    return a * b


@triton.jit
def _max(a, b):
    return tl.maximum(a, b)


@triton.jit
def _min(a, b):
    return tl.minimum(a, b)


@triton.jit
def _max_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _min_nan(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _and(a, b):
    return a & b


@triton.jit
def _or(a, b):
    return a | b


@triton.jit
def _xor(a, b):
    return a ^ b


@triton.jit
def _add2(a, c, b, d):
    return a + b, c + d


@triton.jit
def _mul2(a, c, b, d):
    return a * b, c * d


@triton.jit
def _max2(a, c, b, d):
    return tl.maximum(a, b), tl.maximum(c, d)


@triton.jit
def _min2(a, c, b, d):
    return tl.minimum(a, b), tl.minimum(c, d)


@triton.jit
def _max_nan2(a, c, b, d):
    return _max_nan(a, b), _max_nan(c, d)


@triton.jit
def _min_nan2(a, c, b, d):
    return _min_nan(a, b), _min_nan(c, d)


@triton.jit
def _and2(a, c, b, d):
    return a & b, c & d


@triton.jit
def _or2(a, c, b, d):
    return a | b, c | d


@triton.jit
def _xor2(a, c, b, d):
    return a ^ b, c ^ d


@triton.jit
def reduced(
    x_ptr, o_ptr, p_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, ONE: tl.constexpr, TWO: tl.constexpr
):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    p, _ = tl.reduce((x, x), AXIS, TWO)
    at = rows if AXIS == 1 else columns
    tl.store(o_ptr + at, tl.reduce(x, AXIS, ONE))
    tl.store(p_ptr + at, p)


@triton.jit
def scanned(
    x_ptr, o_ptr, p_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, ONE: tl.constexpr, TWO: tl.constexpr,
    REVERSE: tl.constexpr,
):  # fmt: skip
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    p, _ = tl.associative_scan((x, x), AXIS, TWO, reverse=REVERSE)
    tl.store(o_ptr + at, tl.associative_scan(x, AXIS, ONE, reverse=REVERSE))
    tl.store(p_ptr + at, p)


FLOAT_OPS = [(_add, _add2), (_mul, _mul2), (_max, _max2), (_min, _min2), (_max_nan, _max_nan2), (_min_nan, _min_nan2)]
INT_OPS = [(_add, _add2), (_mul, _mul2), (_max, _max2), (_min, _min2), (_and, _and2), (_or, _or2), (_xor, _xor2)]
CASES = [
    pytest.param(dtype, one, two, id=f"{str(dtype).removeprefix('torch.')}{one.__name__}")
    for dtypes, ops in ((FLOATS, FLOAT_OPS), (INTS, INT_OPS))
    for dtype in dtypes
    for one, two in ops
]


def examples(dtype: torch.dtype, one) -> list[torch.Tensor]:
    """For sums and products numbers whose result does not depend on the order: 0, 1 and -1."""
    found = []
    for shape in SHAPES:
        for kind in kinds_of(dtype):
            x = values(dtype, shape, kind, seed=seed_of(shape, kind))
            if dtype.is_floating_point and one in (_add, _mul):
                x = torch.where(x.abs() > 1, torch.sign(x), x)
            found.append(x)
    return found


ALWAYS = (torch.bfloat16, torch.float32, torch.int8, torch.uint32)
CASES = [
    pytest.param(*case.values, id=case.id, marks=() if case.values[0] in ALWAYS else pytest.mark.slow) for case in CASES
]


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("dtype", "one", "two"), CASES)
def test_reductions(dtype: torch.dtype, one, two, axis: int) -> None:
    for x in examples(dtype, one):
        m, n = x.shape
        o, p = (torch.zeros(x.shape[1 - axis], dtype=dtype) for _ in range(2))
        reduced[(1,)](x, o, p, M=m, N=n, AXIS=axis, ONE=one, TWO=two)
        assert np.array_equal(bits(o), bits(p)), (x, o, p)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("dtype", "one", "two"), CASES)
def test_scans(dtype: torch.dtype, one, two, axis: int, reverse: bool) -> None:
    for x in examples(dtype, one):
        m, n = x.shape
        o, p = torch.zeros_like(x), torch.zeros_like(x)
        scanned[(1,)](x, o, p, M=m, N=n, AXIS=axis, ONE=one, TWO=two, REVERSE=reverse)
        assert np.array_equal(bits(o), bits(p)), (x, o, p)


# ---- sorting networks and reversals: Python runs them one operation at a time ----


@triton.jit
def sorted_tile(x_ptr, o_ptr, p_ptr, q_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    at = rows * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + at, tl.sort(x, descending=DOWN))
    tl.store(p_ptr + at, tl.flip(x, 1))
    tl.store(q_ptr + rows * K + tl.arange(0, K)[None, :], tl.topk(x, K))


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, torch.int8, torch.uint8, torch.int32, torch.uint32, torch.int64], ids=str)
def test_sorts(dtype: torch.dtype, down: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    m, n, k = 2, 32, 8
    for kind in kinds_of(dtype):
        x = values(dtype, (m, n), kind, seed=len(kind))
        results = []
        for eager in ("0", "1"):
            monkeypatch.setenv("TILETWIN_EAGER", eager)
            o, p, q = torch.zeros_like(x), torch.zeros_like(x), torch.zeros(m, k, dtype=dtype)
            sorted_tile[(1,)](x, o, p, q, M=m, N=n, K=k, DOWN=down)
            results.append([bits(t).tolist() for t in (o, p, q)])
        assert results[0] == results[1], (kind, x)
