"""Scans in both directions along every axis of tiles of rank 1 to 4, against NumPy; both modes give the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import operation_kernels as kernels
import pytest
from number_formats import FLOATS, INTS, convert, held, is_float
from operations import ELEMENTS, SHAPES, SMALL, apply, apply_two, axes, values

WIDENED = {"i1": "u32", "i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}


def scanned(combine: Callable, parts: list, reverse: bool) -> list:
    """Prefixes of a list, from the end if `reverse`."""
    parts = parts[::-1] if reverse else parts
    made = [parts[0]]
    for part in parts[1:]:
        made.append(combine(made[-1], part))
    return made[::-1] if reverse else made


def along(x: np.ndarray, axis: int, combine: Callable, reverse: bool = False) -> np.ndarray:
    with np.errstate(all="ignore"):
        made = scanned(combine, list(np.moveaxis(x, axis, 0)), reverse)
    return np.moveaxis(np.stack(made), 0, axis)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_of_integers(shape: tuple[int, ...]) -> None:
    for element in ("i1", *INTS) if shape in SMALL else ("i1", "u8", "i32", "i64"):
        x = values(element, shape, special=True)
        result = WIDENED.get(element, element)
        wide = convert(x, element, result)[0]
        for axis in axes(shape):
            for kernel, combine, reverse in (
                (kernels.cumsum, np.add, False),
                (kernels.cumsum_back, np.add, True),
                (kernels.cumprod, np.multiply, False),
                (kernels.cumprod_back, np.multiply, True),
            ):
                want = along(wide, axis, combine, reverse)
                got = apply(kernel, x, element, axis, result, shape, eager=shape in SMALL)
                assert (got == want).all(), (element, axis, kernel)


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_of_floats(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape)
    unit = {"fp16": 2.0**-10, "bf16": 2.0**-7, "fp32": 2.0**-23, "fp64": 2.0**-52}[element]
    for axis in axes(shape):
        for kernel, reverse in ((kernels.cumsum, False), (kernels.cumsum_back, True)):
            want = along(x.astype(np.float64), axis, np.add, reverse)
            size = along(np.abs(x.astype(np.float64)), axis, np.add, reverse)
            got = apply(kernel, x, element, axis, element, shape)
            assert (np.abs(got - want) <= shape[axis] * unit * size).all()
        signs = np.where(x < 0, -1.0, 1.0).astype(held(element))
        got = apply(kernels.cumprod, signs, element, axis, element, shape)
        assert (got == along(signs, axis, np.multiply)).all()


@pytest.mark.parametrize("element", FLOATS)
def test_infinities_and_nan_stay_where_they_belong(element: str) -> None:
    x = np.ones((4, 64), held(element))
    x[0, 3], x[1, 3], x[2, 3], x[2, 40] = np.nan, np.inf, np.inf, -np.inf
    got = apply(kernels.cumsum, x, element, 1, element, (4, 64))
    with np.errstate(invalid="ignore"):
        want = x.astype(np.float64).cumsum(1)
    exact = want < 200
    assert np.array_equal(np.isnan(got), np.isnan(want)) and np.array_equal(np.isinf(got), np.isinf(want))
    assert (got[exact] == want[exact]).all()
    back = apply(kernels.cumsum_back, x, element, 1, element, (4, 64))
    assert np.isnan(back[0, :4]).all() and not np.isnan(back[0, 4:]).any()


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_running_maximum(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape, special=True)
    choose = np.fmax if is_float(element) else np.maximum
    for axis in axes(shape):
        for kernel, reverse in ((kernels.cummax, False), (kernels.cummax_back, True)):
            want = along(x, axis, choose, reverse)
            assert np.array_equal(apply(kernel, x, element, axis, element, shape), want, equal_nan=is_float(element))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_of_one_that_keeps_the_last(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape)
    for axis in axes(shape):
        assert (apply(kernels.keep_last, x, element, axis, element, shape) == x).all()


# Long axes are cut into chunks, wide ones scanned row by row: all of the ways a region runs.
WAYS = [*SMALL, (128,), (256,), (4096,), (2, 512), (512, 2), (256, 64), (4, 256, 2), (128, 32), (2, 64, 128), (64, 8)]


@pytest.mark.parametrize("shape", WAYS, ids=str)
def test_recurrences(shape: tuple[int, ...]) -> None:
    x = values("i32", shape)

    def combine(a: tuple, b: tuple) -> tuple:
        return a[0] * b[0], a[1] * b[0] + b[1]

    for axis in range(len(shape)):
        for kernel, reverse in ((kernels.recurrence, False), (kernels.recurrence_back, True)):
            parts = [(p, p + np.int32(1)) for p in np.moveaxis(x, axis, 0)]
            with np.errstate(all="ignore"):
                made = scanned(combine, parts, reverse)
            first, second = apply_two(kernel, x, "i32", axis, ("i32", "i32"), shape)
            for got, i in ((first, 0), (second, 1)):
                assert (got == np.moveaxis(np.stack([m[i] for m in made]), 0, axis)).all(), (axis, reverse, i)


@pytest.mark.parametrize("shape", [(64,), (1024,), (8, 16), (4, 256)], ids=str)
def test_segments(shape: tuple[int, ...]) -> None:
    x = np.abs(values("i32", shape))
    starts = (x % 5 == 0).astype(np.int32)

    def combine(a: tuple, b: tuple) -> tuple:
        return a[0] | b[0], np.where(b[0] != 0, b[1], a[1] + b[1])

    for axis in range(len(shape)):
        parts = list(zip(np.moveaxis(starts, axis, 0), np.moveaxis(x, axis, 0)))
        made = scanned(combine, parts, False)
        flags, sums = apply_two(kernels.segmented_sum, x, "i32", axis, ("i32", "i32"), shape)
        assert (flags == np.moveaxis(np.stack([m[0] for m in made]), 0, axis)).all()
        assert (sums == np.moveaxis(np.stack([m[1] for m in made]), 0, axis)).all()
