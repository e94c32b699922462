"""Lanes go along the dimension in which addresses lie closest together, also where they may not be contiguous.

Here:      the layouts of such loads; what a kernel computes, against NumPy.
Not here:  loads of neighbours that are known to be contiguous (test_vector_accesses.py).
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

ROWS, COLUMNS = 64, 32


@triton.jit
def image(x, out, width, stride, FORM: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """out[i, j] = x at a place that depends on i and j by FORM; the numbers are not known when it is compiled."""
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    if FORM == 0:  # pixels of a picture, and planes of pictures
        at = i % width + i // width * stride + j * stride * 16
    elif FORM == 1:  # the other way round
        at = j % width + j // width * stride + i * stride * 16
    elif FORM == 2:  # two distances, of which one is large
        at = i * width + j * stride * 16
    else:  # two of which nothing is known
        at = i * width + j * stride
    tl.store(out + i * COLUMNS + j, tl.load(x + at))


@triton.jit
def planes(out, width, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Numbers, two planes beside each other, to addresses that a loop moves on."""
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    at = i % width + j * stride * 16
    for plane in range(0, 2):
        tl.store(out + at, i % width * 100 + j * 2 + plane)
        at += width


def first_lane(code: dict[str, Any], access: str = "tt.load") -> int:
    """The dimension along which the lanes of the access follow each other."""
    found = next(line for line in code["ttgir"].splitlines() if f" {access} " in line)
    name = re.search(r"(#layout\d*)>", found)
    assert name
    lanes = re.search(rf"^{name[1]} = .*?lane = \[\[(\d+), (\d+)\]", code["ttgir"], re.M)
    assert lanes
    return 0 if lanes[1] != "0" else 1


@pytest.mark.parametrize(("form", "dimension"), [(0, 0), (1, 1), (2, 0), (3, 1)])
def test_lanes_and_results(form: int, dimension: int) -> None:
    width, stride = 7, 12
    code = dots.code_of(image, f"*fp32:16, *fp32:16, i32, i32, {form}, {ROWS}, {COLUMNS}", num_warps=4)
    assert first_lane(code) == dimension
    i, j = np.arange(ROWS)[:, None], np.arange(COLUMNS)[None, :]
    at = {
        0: i % width + i // width * stride + j * stride * 16,
        1: j % width + j // width * stride + i * stride * 16,
        2: i * width + j * stride * 16,
        3: i * width + j * stride,
    }[form]
    x = np.random.default_rng(form).standard_normal(at.max() + 1).astype(np.float32)
    out = np.zeros(ROWS * COLUMNS, np.float32)
    small_kernels.launch(code, x, out, width, stride)
    np.testing.assert_array_equal(out, x[at].reshape(-1))


def test_addresses_that_a_loop_moves_on() -> None:
    width, stride, rows = 16, 3, 16
    code = dots.code_of(planes, f"*i32:16, i32, i32, {rows}, {COLUMNS}", num_warps=4)
    assert first_lane(code, "tt.store") == 0
    out = np.full(COLUMNS * stride * 16, -1, np.int32)
    small_kernels.launch(code, out, width, stride)
    i, j = np.arange(rows)[:, None], np.arange(COLUMNS)[None, :]
    want = np.full_like(out, -1)
    for plane in range(2):
        want[i + j * stride * 16 + plane * width] = i * 100 + j * 2 + plane
    np.testing.assert_array_equal(out, want)
