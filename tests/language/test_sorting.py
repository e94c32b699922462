"""sort, topk, bitonic_merge, flip: every element type, sizes from 1, ranks 1 to 4; both modes give the same bits."""

from __future__ import annotations

import arrangement_kernels as arrangements
import numpy as np
import operation_kernels as kernels
import pytest
import torch
import triton
from number_formats import FLOATS, INTS, convert, held, is_float
from operations import ELEMENTS, SMALL, apply, apply_two, axes, values

SORTED = (*INTS, *FLOATS)
WIDENED = {"i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32", "fp16": "fp32", "bf16": "fp32"}
SHAPES = [(1,), (2,), (16,), (64,), (1024,), (1, 1), (8, 4), (2, 128), (64, 1), (2, 4, 8), (2, 2, 4, 4)]


def sortable(element: str, shape: tuple[int, ...]) -> np.ndarray:
    x = values(element, shape, special=not is_float(element))
    return x + np.asarray(0, x.dtype)  # no -0


@pytest.mark.parametrize("element", SORTED)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sort(shape: tuple[int, ...], element: str) -> None:
    x = sortable(element, shape)
    up = np.sort(x, -1)
    result = element if shape[-1] > 1 else WIDENED.get(element, element)
    eager = x.size <= 64
    assert (apply(arrangements.sort, x, element, 0, result, shape, eager) == up).all()
    assert (apply(arrangements.sort_down, x, element, 0, result, shape, eager) == up[..., ::-1]).all()


def test_a_large_tile() -> None:
    x = np.random.default_rng(1).standard_normal((8, 4096)).astype(np.float32)
    assert (apply(arrangements.sort, x, "fp32", 0, "fp32", x.shape, eager=False) == np.sort(x, -1)).all()
    y = np.random.default_rng(2).integers(-(2**31), 2**31, 32768).astype(np.int32)
    assert (apply(arrangements.sort_down, y, "i32", 0, "i32", y.shape, eager=False) == np.sort(y)[::-1]).all()


def network(x: np.ndarray, descending: bool) -> np.ndarray:
    """The sorting network as its steps are defined, for elements that are not in order with themselves too."""
    n, i = len(x), np.arange(len(x))
    log = n.bit_length() - 1
    for stage in range(1, log + 1):
        for bit in reversed(range(stage)):
            y = x[i ^ (1 << bit)]
            flip = (i >> stage & 1).astype(bool) if stage < log else np.full(n, descending)
            x = np.where((x > y) != (flip ^ (i >> bit & 1).astype(bool)), y, x)
    return x


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("n", [2, 8, 64])
def test_nan_and_zeros_go_where_the_network_puts_them(element: str, n: int) -> None:
    x = values(element, (n,), seed=n, special=True)
    for kernel, descending in ((arrangements.sort, False), (arrangements.sort_down, True)):
        got, want = apply(kernel, x, element, 0, element, (n,)), network(x, descending)
        assert np.array_equal(got, want, equal_nan=True)
        numbers = ~np.isnan(want)
        assert (np.signbit(got) == np.signbit(want))[numbers].all()


@pytest.mark.parametrize("element", SORTED)
@pytest.mark.parametrize("shape", [(1,), (16,), (2, 64), (2, 2, 8)], ids=str)
def test_topk(shape: tuple[int, ...], element: str) -> None:
    x = sortable(element, shape)
    n = shape[-1]
    k = 1
    while k <= n:
        result = element if k == n and n > 1 else WIDENED.get(element, element)
        up = convert(np.sort(x, -1), element, result)[0]
        kept = (*shape[:-1], k)
        assert (apply(arrangements.topk, x, element, k, result, kept) == up[..., ::-1][..., :k]).all(), k
        assert (apply(arrangements.bottomk, x, element, k, result, kept) == up[..., :k]).all(), k
        k *= 2


@pytest.mark.parametrize("element", ["i32", "fp32", "u8", "fp16"])
def test_bitonic_merge(element: str) -> None:
    x = sortable(element, (4, 32))
    rising = np.sort(x[:, :16], -1)
    falling = np.sort(x[:, 16:], -1)[:, ::-1]
    bitonic = np.roll(np.concatenate([rising, falling], -1), 5, -1)
    got = apply(arrangements.bitonic_merge, bitonic, element, 0, element, (4, 32))
    assert (got == np.sort(bitonic, -1)).all()


def test_a_result_that_others_read_too() -> None:
    x = sortable("i32", (64,))
    down, up = apply_two(arrangements.sort_twice, x, "i32", 0, ("i32", "i32"), (64,))
    assert (up == np.sort(x)).all() and (down == np.sort(x)[::-1]).all()


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", [*SMALL, (1024,), (16, 64)], ids=str)
def test_flip(shape: tuple[int, ...], element: str) -> None:
    x = values(element, shape, special=True)
    for axis in axes(shape):
        got = apply(arrangements.flip, x, element, axis, element, shape)
        want = np.flip(x, axis)
        assert np.array_equal(got, want, equal_nan=is_float(element))
        if is_float(element):
            assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()
    assert np.array_equal(
        apply(arrangements.flip, x, element, None, element, shape), np.flip(x, -1), equal_nan=is_float(element)
    )


@pytest.mark.parametrize("shape", [(8,), (4, 8), (8, 64), (2, 4, 8)], ids=str)
def test_a_reversed_tile_is_an_operand(shape: tuple[int, ...]) -> None:
    x = values("i32", shape)
    for axis in range(len(shape)):
        back = np.flip(x, axis)
        got = apply(arrangements.flip_sum, x, "i32", axis, "i32", shape)
        assert (got == back.cumsum(axis, dtype=np.int32) + back).all()


@pytest.mark.parametrize("kernel", ["flip_after_store", "sort_after_store"])
@pytest.mark.parametrize("n", [2, 64, 512])
def test_memory_is_read_before_it_is_overwritten(kernel: str, n: int) -> None:
    x = sortable("i32", (n,)) + np.arange(n, dtype=np.int32)
    memory = torch.from_numpy(x.copy())
    getattr(arrangements, kernel)[(1,)](memory, n)
    assert (memory.numpy() == (x[::-1] if kernel == "flip_after_store" else np.sort(x)[::-1])).all()


@pytest.mark.parametrize("n", [2, 64, 512])
def test_what_else_reads_the_tile_sees_it_unsorted(n: int) -> None:
    """A sort runs in its operand's place where it may."""
    x = sortable("i32", (n,)) // 4
    before, after, up, down = (torch.zeros(n, dtype=torch.int32) for _ in range(4))
    arrangements.sort_between_readers[(1,)](torch.from_numpy(x.copy()), before, after, up, down, n)
    assert (before.numpy() == 2 * x + 1).all()
    assert (up.numpy() == np.sort(2 * x)).all()
    assert (down.numpy() == np.sort(2 * x)[::-1]).all()
    assert (after.numpy() == 2 * x - np.sort(2 * x)).all()


@pytest.mark.parametrize("count", [0, 1, 5, 8])
def test_masked_elements_are_sorted_too(count: int) -> None:
    """The load writes the tile that is sorted, also where it loads nothing."""
    x = np.array([5, -3, 8, 1, 0, 7, -9, 4], np.int32)
    out = torch.zeros(8, dtype=torch.int32)
    arrangements.sort_masked[(1,)](torch.from_numpy(x), out, count, 8)
    assert (out.numpy() == np.sort(np.where(np.arange(8) < count, x, 6))).all()


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_in_a_loop(rounds: int) -> None:
    n = 64
    x = np.abs(sortable("i32", (n,)) // 2**8)
    out = torch.zeros(n, dtype=torch.int32)
    arrangements.sorts_in_a_loop[(1,)](torch.from_numpy(x.copy()), out, rounds, n)
    for r in range(rounds):
        with np.errstate(over="ignore"):
            product = x * np.int32(31)
        x = np.sort(np.fmod(product, np.int32(101))) + np.int32(r)
    assert (out.numpy() == x).all()
    assert held("i32") == x.dtype


def plan_of(kernel: str, shape: tuple[int, ...]) -> list[str]:
    """The instructions that a function of arrangement_kernels.py runs as."""
    function = getattr(arrangements, kernel)
    constants = {"FUNCTION": function, "ARGUMENT": None, "SHAPE": shape, "COUNT": int(np.prod(shape))}
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", **{name: "constexpr" for name in constants}}
    compiled = triton.compile(triton.compiler.ASTSource(kernels.one, signature, constants))
    text = compiled.module.text("plan").split("code:")[1].partition("forms:")[0]
    return [line.split(maxsplit=1)[1] for line in text.splitlines() if line.strip()]


def test_a_network_is_one_instruction() -> None:
    """Speed rests on it: 55 steps of a dozen operations each would take a hundred times as long."""
    sort = plan_of("sort", (4, 1024))
    assert [line.split(" -> ")[0] for line in sort] == ["Load", "Sort (55 steps)", "Group [store]", "Return"], sort
    flip = plan_of("flip", (4, 1024))
    assert [line.split(" -> ")[0] for line in flip] == ["Load", "Group [store]", "Return"], flip
