"""Operations that move elements, tl.gather and tl.histogram against NumPy, for every element type; both modes alike."""

from __future__ import annotations

import itertools

import arrangement_kernels as arrangements
import numpy as np
import pytest
import triton
from number_formats import INTS
from operations import ELEMENTS, SMALL, apply, apply_two, combine, values

SHAPES = [(1,), (8,), (4, 8), (1, 4), (2, 1, 4), (2, 4, 8), (2, 2, 4, 2)]


def same(a: np.ndarray, b: np.ndarray) -> bool:
    if not is_float_array(a):
        return np.array_equal(a, b)
    return np.array_equal(a, b, equal_nan=True) and bool((np.signbit(a) == np.signbit(b))[~np.isnan(a)].all())


def is_float_array(a: np.ndarray) -> bool:
    return a.dtype.kind == "f"


def unchanged(element: str, shape: tuple[int, ...]) -> np.ndarray:
    return values(element, shape, special=True)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_renaming(shape: tuple[int, ...], element: str) -> None:
    x = unchanged(element, shape)
    for order in itertools.permutations(range(len(shape))):
        got = apply(arrangements.permute, x, element, order, element, x.transpose(order).shape)
        assert same(got, x.transpose(order)), order
    if len(shape) > 1:
        got = apply(arrangements.trans, x, element, 0, element, x.swapaxes(-1, -2).shape)
        assert same(got, x.swapaxes(-1, -2))
    for axis in range(-len(shape) - 1, len(shape) + 1):
        want = np.expand_dims(x, axis)
        assert same(apply(arrangements.expand_dims, x, element, axis, element, want.shape), want)
        assert same(apply(arrangements.unsqueeze, x, element, axis, element, want.shape), want)
    for axis, size in enumerate(shape):
        if size == 1 and len(shape) > 1:
            assert same(apply(arrangements.squeeze, x, element, axis, element, x.squeeze(axis).shape), x.squeeze(axis))
    assert same(apply(arrangements.ravel, x, element, 0, element, (x.size,)), x.reshape(-1))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "other", [(1, 64), (64,), (2, 32), (8, 8), (4, 2, 8), (2, 2, 4, 4), (32,), (4, 8), (8,), (2, 4), (1,)]
)
def test_reshape(shape: tuple[int, ...], other: tuple[int, ...]) -> None:
    if np.prod(shape) != np.prod(other):
        pytest.skip("another number of elements")
    for element in ("i1", "u8", "fp16", "i32", "fp64"):
        x = unchanged(element, shape)
        assert same(apply(arrangements.reshape, x, element, other, element, other), x.reshape(other))
        got = apply(arrangements.view, x, element, other, element, other)
        assert same(np.sort(got.reshape(-1)), np.sort(x.reshape(-1)))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("shape", "wide"), [((1,), (8,)), ((1, 4), (8, 4)), ((4, 1), (4, 16)), ((2, 1, 4), (2, 8, 4))])
def test_broadcast(shape: tuple[int, ...], wide: tuple[int, ...], element: str) -> None:
    x = unchanged(element, shape)
    assert same(apply(arrangements.broadcast_to, x, element, wide, element, wide), np.broadcast_to(x, wide))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_joining(shape: tuple[int, ...], element: str) -> None:
    x, y = unchanged(element, shape), values(element, shape, seed=5)
    stacked = np.stack([x, y], -1)
    if len(shape) < 4:
        assert same(combine(arrangements.join, x, element, y, element, 0, stacked.shape), stacked)
        a, b = apply_two(arrangements.split, stacked, element, 0, (element, element), shape)
        assert same(a, x) and same(b, y)
    merged = stacked.reshape(*shape[:-1], 2 * shape[-1])
    assert same(combine(arrangements.interleave, x, element, y, element, 0, merged.shape), merged)
    for axis in range(-len(shape), len(shape)):
        want = np.concatenate([x, y], axis)
        assert same(combine(arrangements.cat, x, element, y, element, axis, want.shape), want), axis
    if len(shape) == 1:
        got = combine(arrangements.cat_in_any_order, x, element, y, element, 0, (2 * x.size,))
        assert same(np.sort(got), np.sort(np.concatenate([x, y])))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", [*SMALL, (64,), (16, 32)], ids=str)
def test_gather(shape: tuple[int, ...], element: str) -> None:
    x = unchanged(element, shape)
    r = np.random.default_rng(3)
    for axis, size in enumerate(shape):
        for count in (1, size, 2 * size):
            wanted = tuple(count if i == axis else s for i, s in enumerate(shape))
            for kind in INTS if element == "fp32" else ("i32",):
                index = r.integers(0, min(size, 127), wanted).astype(("uint" if kind[0] == "u" else "int") + kind[1:])
                want = np.take_along_axis(x, index.astype(np.int64), axis)
                assert same(combine(arrangements.gather, x, element, index, kind, axis, wanted), want), (
                    axis,
                    count,
                    kind,
                )


def test_gather_with_narrow_unsigned_indices() -> None:
    x = np.arange(256, dtype=np.int32)
    index = np.arange(255, -1, -1, dtype=np.uint8)
    assert (combine(arrangements.gather, x, "i32", index, "u8", 0, (256,)) == x[::-1]).all()


@pytest.mark.parametrize("bad", [-1, 8, 2**31 - 1])
def test_gather_outside(bad: int) -> None:
    x, index = np.arange(8, dtype=np.int32), np.zeros((16,), np.int32)
    index[11] = bad
    with pytest.raises(triton.OutOfBoundsError if hasattr(triton, "OutOfBoundsError") else Exception, match="gather"):
        combine(arrangements.gather, x, "i32", index, "i32", 0, (16,))


@pytest.mark.parametrize("n", [1, 2, 64, 4096])
@pytest.mark.parametrize("bins", [1, 2, 32, 2048])
@pytest.mark.parametrize("kind", ["i32", "u32"])
def test_histogram(n: int, bins: int, kind: str) -> None:
    r = np.random.default_rng(n)
    x = r.integers(0 if kind == "u32" else -3, bins + 3, n).astype("uint32" if kind == "u32" else "int32")
    x[r.random(n) < 0.1] = np.iinfo(x.dtype).max
    y = r.integers(0, 9, n).astype(np.int32)
    inside = (x.astype(np.int64) >= 0) & (x.astype(np.int64) < bins)
    want = np.bincount(x[inside].astype(np.int64), minlength=bins)
    assert (apply(arrangements.histogram, x, kind, bins, "i32", (bins,)) == want).all()
    even = np.bincount(x[inside & (y % 2 == 0)].astype(np.int64), minlength=bins)
    assert (combine(arrangements.histogram_of_even, x, kind, y, "i32", bins, (bins,), "i32") == even).all()
