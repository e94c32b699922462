"""Scans down the columns of a tile that is loaded, masked, clamped and scaled: a thread has rows beside each other,
though other tiles come in, as long as these are made in any layout.

Here:      such scans in forms of tiles, masks and scales; what lanes and warps exchange; NumPy's numbers.
Not here:  the order of sums, other elements (test_compiled_scans.py), the interpreter (tests/kernels).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl

ROWS, COLUMNS = 250, 60


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def scanned(
    x, scales, bias, clamped, sums, rows, columns, least, most, stride,
    BR: tl.constexpr, BC: tl.constexpr, TURNED: tl.constexpr, REVERSE: tl.constexpr, SECOND: tl.constexpr,
):  # fmt: skip
    """x: [rows, columns]. clamped, sums: [columns, rows], the second one prefix sums down the rows of x * scales.
    TURNED: tiles are [BC, BR]. SECOND: `bias` is a whole tile, by columns."""
    r = tl.arange(0, BR)
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    if TURNED:
        inside = (c < columns)[:, None] & (r < rows)[None, :]
        tile = tl.load(x + c[:, None] + r[None, :] * stride, inside, 0)
        to = c[:, None] * rows + r[None, :]
        scale = tl.load(scales + c, c < columns, 0)[:, None]
    else:
        inside = (r < rows)[:, None] & (c < columns)[None, :]
        tile = tl.load(x + r[:, None] * stride + c[None, :], inside, 0)
        to = c[None, :] * rows + r[:, None]
        scale = tl.load(scales + c, c < columns, 0)[None, :]
    tile = tl.where(inside, tl.minimum(tl.maximum(tile, least), most), 0)
    tl.store(clamped + to, tile, inside)
    if SECOND:
        tile += tl.load(bias + to, inside, 0)
    tl.store(sums + to, tl.associative_scan(tile * scale, 1 if TURNED else 0, add, reverse=REVERSE), inside)


def code_of(block: tuple[int, int], turned: bool, reverse: bool, second: bool, **options: Any) -> dict[str, Any]:
    signature = "*fp32:16, *fp32:16, *fp32:16, *fp32:16, *fp32:16, i32, i32, fp32, fp32, i32:16, "
    signature += f"{block[0]}, {block[1]}, {turned}, {reverse}, {second}"
    return dots.code_of(scanned, signature, **options)


def order_of(code: dict[str, Any]) -> tuple[int, int, int, int]:
    """Bits of the axis: of a thread's neighbours, of lanes, of warps, of a thread's elements above these."""
    low, lanes, warps, high = re.search(r"order = array<i32: (\d+), (\d+), (\d+), (\d+)>", code["ttgir"]).groups()
    return int(low), int(lanes), int(warps), int(high)


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("block", "warps"),
    [((256, 1), 4), ((256, 2), 4), ((256, 4), 4), ((256, 8), 8), ((256, 16), 4), ((256, 32), 2), ((256, 64), 4)],
)
def test_scans_of_masked_and_scaled_tiles(
    block: tuple[int, int], warps: int, turned: bool, reverse: bool, second: bool
) -> None:
    code = code_of(block, turned, reverse, second, num_warps=warps)
    if not second:
        assert order_of(code)[3] == 0, "a thread has more than one run for others to exchange"
    rng = np.random.default_rng(1)
    x = rng.integers(-9, 10, (ROWS, 64)).astype(np.float32)  # sums are exact
    scales = rng.integers(-3, 4, COLUMNS).astype(np.float32)
    bias = rng.integers(-9, 10, (COLUMNS, ROWS)).astype(np.float32)
    clamped, sums = np.full((COLUMNS, ROWS), np.nan, np.float32), np.full((COLUMNS, ROWS), np.nan, np.float32)
    grid = (-(-COLUMNS // block[1]), 1, 1)
    numbers = [np.int32(ROWS), np.int32(COLUMNS), np.float32(-5), np.float32(6), np.int32(64)]
    small_kernels.launch(code, x, scales, bias, clamped, sums, *numbers, grid=grid)
    wanted = np.clip(x[:, :COLUMNS], -5, 6).T
    np.testing.assert_array_equal(clamped, wanted)
    terms = (wanted + bias * second) * scales[:, None]
    along = terms[:, ::-1] if reverse else terms
    totals = np.cumsum(along, 1)
    np.testing.assert_array_equal(sums, totals[:, ::-1] if reverse else totals)


def test_a_second_tile_keeps_the_layout_that_loads_share() -> None:
    low, _, _, _ = order_of(code_of((256, 16), True, False, True, num_warps=4))
    assert low == 0


@triton.jit
def scanned_with_doubled(x, out, BR: tl.constexpr, BC: tl.constexpr, TIMES: tl.constexpr):
    at = tl.arange(0, BR)[:, None] * BC + tl.arange(0, BC)[None, :]
    weight = at & 1
    for _ in tl.static_range(TIMES):
        weight = weight + weight
    tl.store(out + at, tl.associative_scan(tl.load(x + at) * weight, 0, add))


def test_a_tile_that_is_computed_in_many_ways_is_looked_at_once() -> None:
    """Of a number that is added to itself 30 times there are a thousand million ways back to where it comes from."""
    rows, columns, times = 64, 8, 30
    signature = f"*i32:16, *i32:16, {rows}, {columns}, {times}"
    code = dots.code_of(scanned_with_doubled, signature)
    x = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    out = np.zeros_like(x)
    small_kernels.launch(code, x, out)
    weights = (np.arange(rows * columns) & 1).reshape(x.shape) << times
    np.testing.assert_array_equal(out, np.cumsum(x * weights, 0).astype(np.int32))
