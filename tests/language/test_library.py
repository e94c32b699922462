"""The functions written in the language: reductions, scans, sorting, small shapes, against NumPy; and their errors."""

from __future__ import annotations

from typing import Any

import library_kernels as kernels
import numpy as np
import pytest
import torch
import triton
from triton.compiler.errors import CompilationError

SHAPES = [(1, 1), (1, 2), (2, 1), (4, 8), (8, 16), (2, 64)]
NAN = float("nan")


def integers(shape: tuple[int, int], dtype: Any = np.int32) -> np.ndarray:
    return np.random.default_rng(3).integers(-50, 50, shape).astype(dtype)


def run_reduce(function: Any, x: np.ndarray, axis: int | None, result: Any) -> np.ndarray:
    m, n = x.shape
    out = torch.zeros(1 if axis is None else x.shape[1 - axis % 2], dtype=result)
    kernels.reduce_2d[(1,)](torch.from_numpy(x), out, function, axis, m, n)
    return out.numpy()


def run_map(function: Any, x: np.ndarray, argument: Any, columns: int | None = None) -> np.ndarray:
    m, n = x.shape
    out = torch.zeros(m, columns or n, dtype=torch.from_numpy(x).dtype)
    kernels.map_2d[(1,)](torch.from_numpy(x), out, function, argument, m, n)
    return out.numpy()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_reductions_of_integers(shape: tuple[int, int], axis: int | None) -> None:
    x = integers(shape)
    wanted = {
        kernels.total: np.sum,
        kernels.largest: np.max,
        kernels.smallest: np.min,
        kernels.exclusive_or: np.bitwise_xor.reduce,
        kernels.bitwise_or: np.bitwise_or.reduce,
    }
    for function, reference in wanted.items():
        values = x.reshape(-1) if axis is None else x
        want = np.atleast_1d(reference(values, axis=0 if axis is None else axis))
        assert (run_reduce(function, x, axis, torch.int32) == want).all(), function


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_positions_of_extremes_are_the_first(shape: tuple[int, int], axis: int) -> None:
    x = integers(shape) // 20  # many ties
    assert (run_reduce(kernels.largest_at, x, axis, torch.int32) == x.argmax(axis)).all()
    assert (run_reduce(kernels.smallest_at, x, axis, torch.int32) == x.argmin(axis)).all()


def test_numbers_win_against_nan_in_max_and_min() -> None:
    x = np.array([[NAN, 1, NAN, -2], [NAN, NAN, NAN, NAN]], dtype=np.float32)
    assert np.array_equal(run_reduce(kernels.largest, x, 1, torch.float32), [1, NAN], equal_nan=True)
    assert np.array_equal(run_reduce(kernels.smallest, x, 1, torch.float32), [-2, NAN], equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_sums_of_floats(dtype: Any) -> None:
    x = np.random.default_rng(5).standard_normal((8, 64)).astype(dtype)
    for axis in (None, 0, 1):
        got = run_reduce(kernels.total, x, axis, torch.from_numpy(x).dtype)
        want = np.atleast_1d(x.astype(np.float64).sum(axis))
        bound = x.size * np.finfo(dtype).eps * np.abs(x.astype(np.float64)).sum(axis)
        assert (np.abs(got - want) <= bound).all()


def test_sum_widens_small_integers() -> None:
    x = np.full((2, 64), 127, dtype=np.int8)
    assert (run_reduce(kernels.total, x, 1, torch.int32) == 127 * 64).all()
    assert run_reduce(kernels.total, x.view(np.uint8) + 100, None, torch.uint32)[0] == 227 * 128
    assert run_reduce(kernels.total, np.ones((2, 64), dtype=bool), None, torch.uint32)[0] == 128


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_scans(shape: tuple[int, int], axis: int) -> None:
    x = integers(shape) % 4 + 1
    assert (run_map(kernels.running_sum, x, axis) == x.cumsum(axis)).all()
    assert (run_map(kernels.running_sum_back, x, axis) == np.flip(np.flip(x, axis).cumsum(axis), axis)).all()
    assert (run_map(kernels.running_product, x, axis) == x.astype(np.int32).cumprod(axis, dtype=np.int32)).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.float16, np.float32])
def test_sorting(shape: tuple[int, int], dtype: Any) -> None:
    x = integers(shape, dtype)
    up = np.sort(x, axis=1)
    assert (run_map(kernels.sorted_up, x, 0) == up).all()
    assert (run_map(kernels.sorted_down, x, 0) == up[:, ::-1]).all()
    for axis in (0, 1, -2, None):
        assert (run_map(kernels.flipped, x, axis) == np.flip(x, 1 if axis is None else axis)).all()


@pytest.mark.parametrize("k", [1, 2, 8, 16])
def test_topk(k: int) -> None:
    x = integers((4, 16))
    up = np.sort(x, axis=1)
    assert (run_map(kernels.best, x, k, k) == up[:, ::-1][:, :k]).all()
    assert (run_map(kernels.least, x, k, k) == up[:, :k]).all()


@pytest.mark.parametrize("axis", [0, 1, None])
def test_softmax(axis: int | None) -> None:
    x = np.random.default_rng(1).standard_normal((8, 16)).astype(np.float32) * 20
    e = np.exp(x.astype(np.float64) - x.max(axis or 0, keepdims=True))
    assert np.allclose(run_map(kernels.normalized, x, axis), e / e.sum(axis or 0, keepdims=True), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("rows", "columns", "group"), [(4, 4, 2), (5, 3, 2), (7, 2, 3), (3, 5, 8)])
def test_swizzle(rows: int, columns: int, group: int) -> None:
    order = []
    for first in range(0, rows, group):
        members = range(first, min(first + group, rows))
        order += [(i, j) for j in range(columns) for i in members]
    n = len(order)
    i, j = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    kernels.swizzled[(1,)](i, j, rows, columns, group, 64)
    assert list(zip(i[:n].tolist(), j[:n].tolist())) == order


def test_small_functions() -> None:
    n = 16
    x = np.arange(n, dtype=np.int32)
    out = torch.full((6 * n,), 99, dtype=torch.int32)
    kernels.small_functions[(1,)](torch.from_numpy(x), out, n)
    want = [np.stack([x, -x], 1).reshape(-1), -(-x // 3), x, 0 * x, 0 * x + 1]
    assert (out.numpy() == np.concatenate(want)).all()


@pytest.mark.parametrize(
    ("function", "argument", "text"),
    [
        (kernels.best, 3, "topk: k must be a power of two"),
        (kernels.best, 32, "topk: k must be at most the size of the last dimension"),
        (kernels.flipped, 2, "flip: dim is outside the rank of the block"),
        (kernels.largest_at, None, "argmax: needs an axis"),
        (kernels.total, 2, "axis"),
    ],
)
def test_errors(function: Any, argument: Any, text: str) -> None:
    constants = {"FUNCTION": function, "ARGUMENT": argument, "M": 4, "N": 16}
    signature = {"x_ptr": "*i32", "out_ptr": "*i32", **{name: "constexpr" for name in constants}}
    with pytest.raises(CompilationError) as caught:
        triton.compile(triton.compiler.ASTSource(kernels.map_2d, signature, constants))
    root: BaseException = caught.value
    while root.__cause__ is not None:
        root = root.__cause__
    assert text in str(root)
