"""Reductions along every axis of tiles of rank 1 to 4, of every element type, against NumPy; both modes alike."""

from __future__ import annotations

import numpy as np
import operation_kernels as kernels
import pytest
from number_formats import FLOATS, INTS, convert, held, is_float
from operations import ELEMENTS, SHAPES, SMALL, apply, apply_two, axes, values, without

WIDENED_SUM = {"i1": "u32", "i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}
WIDENED_EXTREMUM = {"i1": "i32", "i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32", "fp16": "fp32", "bf16": "fp32"}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_int_sums(shape: tuple[int, ...]) -> None:
    for element in ("i1", *INTS) if shape in SMALL else ("i1", "i8", "i32", "u64"):
        x = values(element, shape, special=True)
        result = WIDENED_SUM.get(element, element)
        for axis in [*axes(shape), None]:
            want = convert(x, element, result)[0].sum(axis, dtype=held(result))
            got = apply(kernels.sum, x, element, axis, result, without(shape, axis))
            assert (got == want).all(), (element, axis)


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_float_sums(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape)
    unit = {"fp16": 2.0**-10, "bf16": 2.0**-7, "fp32": 2.0**-23, "fp64": 2.0**-52}[element]
    for axis in [*axes(shape), None]:
        wide = x.astype(np.float64)
        want, size = wide.sum(axis), np.abs(wide).sum(axis)
        count = x.size if axis is None else shape[axis]
        got = apply(kernels.sum, x, element, axis, element, without(shape, axis))
        assert (np.abs(got - want) <= count * unit * size).all(), axis


@pytest.mark.parametrize("element", ["i8", "u32", "fp16", "fp64"])
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_keep_dims(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape)
    result = WIDENED_SUM.get(element, element)
    for axis in [*axes(shape), None]:
        want = convert(x, element, result)[0].sum(axis, dtype=held(result), keepdims=True)
        assert (apply(kernels.sum_kept, x, element, axis, result, want.shape) == want).all()


def number_wins(x: np.ndarray, axis: int | None, largest: bool) -> np.ndarray:
    """The extremum among numbers; NaN where there is none; +0 above -0."""
    low = -np.inf if largest else np.inf
    cleaned = np.where(np.isnan(x), low, x)
    best = cleaned.max(axis) if largest else cleaned.min(axis)
    wanted_zero = (x == 0) & (np.signbit(x) != largest)
    zero = 0.0 if largest else -0.0
    best = np.where((best == 0) & wanted_zero.any(axis), zero, np.where(best == 0, -zero, best))
    return np.where(np.isnan(x).all(axis), np.nan, best)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal, NaN with NaN, zeros by sign."""
    equal = (a == b) & (np.signbit(a) == np.signbit(b)) if a.dtype.kind == "f" else a == b
    return bool((equal | ((a != a) & (b != b))).all())


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_max_and_min(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape, special=True)
    result = WIDENED_EXTREMUM.get(element, element)
    wide = convert(x, element, result)[0]
    for axis in [*axes(shape), None]:
        for kernel, largest in ((kernels.max, True), (kernels.min, False)):
            if is_float(element):
                want = number_wins(wide.astype(np.float64), axis, largest)
            else:
                want = wide.max(axis) if largest else wide.min(axis)
            got = apply(kernel, x, element, axis, result, without(shape, axis), eager=shape in SMALL)
            assert same(got, np.asarray(want).astype(got.dtype)), (axis, largest, got, want)


@pytest.mark.parametrize("element", FLOATS)
def test_max_of_rows_of_nan(element: str) -> None:
    x = np.full((4, 32), np.nan, held(element))
    x[1, 5] = -np.inf
    x[2, 31] = 2.0
    assert same(apply(kernels.max, x, element, 1, WIDENED_EXTREMUM.get(element, element), (4,)).astype(np.float64),
                np.array([np.nan, -np.inf, 2.0, np.nan]))  # fmt: skip
    assert same(apply(kernels.max_of_all, x, element, 1, element, (4,)).astype(np.float64), np.full(4, np.nan))


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_max_that_propagates_nan(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape, special=True)
    for axis in axes(shape):
        want = np.where(np.isnan(x).any(axis), np.nan, number_wins(x.astype(np.float64), axis, True))
        got = apply(kernels.max_of_all, x, element, axis, element, without(shape, axis))
        assert same(got.astype(np.float64), want)


@pytest.mark.parametrize("element", INTS)
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_bitwise(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape, special=True)
    table = {
        kernels.xor_sum: np.bitwise_xor,
        kernels.reduce_or: np.bitwise_or,
        kernels.reduce_and: np.bitwise_and,
    }
    for axis in [*axes(shape), None]:
        for kernel, operate in table.items():
            flat, at = (x.reshape(-1), 0) if axis is None else (x, axis)
            want = operate.reduce(flat, axis=at)
            assert (apply(kernel, x, element, axis, element, without(shape, axis)) == want).all()


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_positions_are_those_of_the_first(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape)
    if is_float(element):
        x = np.trunc(x)  # ties, and zeros of both signs
    for axis in axes(shape):
        kept = without(shape, axis)
        assert (apply(kernels.argmax, x, element, axis, "i32", kept, eager=shape in SMALL) == x.argmax(axis)).all()
        assert (apply(kernels.argmin, x, element, axis, "i32", kept, eager=False) == x.argmin(axis)).all()
        best, index = apply_two(kernels.max_with_index, x, element, axis, (element, "i32"), kept)
        assert (index == x.argmax(axis)).all()
        assert same(best, np.take_along_axis(x, np.expand_dims(index, axis), axis).squeeze(axis))
    kept = tuple(1 if i == len(shape) - 1 else s for i, s in enumerate(shape))
    best, index = apply_two(kernels.min_with_index, x, element, -1, (element, "i32"), kept)
    assert (index == x.argmin(-1, keepdims=True)).all()
    assert (best == x.min(-1, keepdims=True)).all()


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_any_position_of_a_tie(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape)
    for axis in axes(shape):
        index = apply(kernels.argmax_any, x, element, axis, "i32", without(shape, axis))
        assert (np.take_along_axis(x, np.expand_dims(index, axis), axis).squeeze(axis) == x.max(axis)).all()


@pytest.mark.parametrize("element", ["fp16", "fp32", "fp64"])
def test_positions_with_nan_follow_the_combine(element: str) -> None:
    """Neighbours are combined first, then what came of them; of two that do not compare the second one stays."""
    nan = np.nan
    x = np.array([[nan, 1, 2, 0], [1, nan, 2, 0], [nan] * 4, [3, 2, 1, nan]]).astype(held(element))
    best, index = apply_two(kernels.max_with_index, x, element, 1, (element, "i32"), (4,))
    assert np.isnan(best[[2, 3]]).all() and (best[[0, 1]] == [2, 2]).all()
    assert index.tolist() == [2, 2, 3, 3]


@pytest.mark.parametrize("element", ["i32", "i64", "fp32", "fp64", "fp16"])
@pytest.mark.parametrize("shape", [*SMALL, (1024,), (2, 128)], ids=str)
def test_functions_with_branches(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape)
    x = np.where(x < 0, x - np.asarray(0.25 if is_float(element) else 0), x).astype(x.dtype)
    for axis in axes(shape):
        got = apply(kernels.farthest_from_zero, x, element, axis, element, without(shape, axis))
        assert (np.abs(got) == np.abs(x).max(axis)).all()


@pytest.mark.parametrize("shape", [(1,), (2,), (64,), (8, 4), (2, 4, 8), (2, 128)], ids=str)
def test_functions_that_do_not_commute_keep_the_order(shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    for axis in axes(shape):
        assert (apply(kernels.first, x, "i32", axis, "i32", without(shape, axis)) == x.take(0, axis)).all()


@pytest.mark.parametrize("shape", [(1,), (64,), (1024,), (8, 4), (2, 128)], ids=str)
@pytest.mark.parametrize("element", ["fp32", "fp64"])
def test_three_values_at_once(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape)
    for axis in axes(shape):
        mean, spread = apply_two(kernels.mean_and_spread, x, element, axis, (element, element), without(shape, axis))
        wide = x.astype(np.float64)
        assert np.allclose(mean, wide.mean(axis), rtol=1e-5, atol=1e-6)
        assert np.allclose(spread, wide.var(axis) * shape[axis], rtol=1e-4, atol=1e-4)
