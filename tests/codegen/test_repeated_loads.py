"""Loads of loops that read each element several times, as loads that read it once.

Here:      which loads become smaller, and that what they give stays: NumPy's numbers, on the simulator.
Not here:  copies of such loads (test_loads_of_operands.py).
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

ROWS, COLUMNS, DEPTH, TOTAL = 16, 32, 64, 192
SIGNATURE = "*fp16:16, *i32:16, *fp32:16, i32:16, i32:16"
FORMS = {
    "divided": (8, 8),
    "shifted": (8, 8),
    "carried": (8, 8),
    "transposed": (8, 8),
    "masked": (8, 8),
    "shared rows": (64, 64),
    "pairs": (2, 2),
    "one off": (8, 1),
    "three": (3, 1),
    "mask of single rows": (8, 1),
}
"""How many rows of weights share a word, and how many the compiler may read as one."""

SHIFTED, CARRIED, TRANSPOSED, MASKED, ONE_OFF, MASK_OF_SINGLE_ROWS = (
    tl.constexpr(list(FORMS).index(form))
    for form in ("shifted", "carried", "transposed", "masked", "one off", "mask of single rows")
)


@triton.jit
def product(
    a, packed, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EACH: tl.constexpr, FORM: tl.constexpr
):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    at = packed + (k // EACH)[:, None] * N + n[None, :]
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        row = (start + k) // EACH
        if FORM == SHIFTED:
            row = (start + k) >> 3
        if FORM == ONE_OFF:
            row = (start + k + 1) // EACH
        if FORM == CARRIED:
            words = tl.load(at)
            at += BK // EACH * N
        elif FORM == TRANSPOSED:
            words = tl.trans(tl.load(packed + n[:, None] + row[None, :] * N))
        elif FORM == MASKED:
            words = tl.load(packed + row[:, None] * N + n[None, :], mask=(row < K // EACH - 3)[:, None], other=5)
        elif FORM == MASK_OF_SINGLE_ROWS:
            words = tl.load(packed + row[:, None] * N + n[None, :], mask=(start + k < K - 3)[:, None], other=5)
        else:
            words = tl.load(packed + row[:, None] * N + n[None, :])
        shift = (start + k) % EACH * 4 % 32
        weights = ((words >> shift[:, None]) & 15) - 8
        acc = tl.dot(left, weights.to(left.dtype), acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


def wanted(a: np.ndarray, words: np.ndarray, form: str) -> np.ndarray:
    each = FORMS[form][0]
    k = np.arange(TOTAL)
    rows = (k + (form == "one off")) // each
    found = words[rows].astype(np.int64)
    if form == "masked":
        found[rows >= TOTAL // each - 3] = 5
    if form == "mask of single rows":
        found[k >= TOTAL - 3] = 5
    return a.astype(np.float64) @ (((found >> (k % each * 4 % 32)[:, None]) & 15) - 8)


def elements_loaded(code: dict[str, Any]) -> int:
    """Of the words, in an iteration."""
    loop = code["ttgir"].split("scf.for", 1)[1].split("scf.yield", 1)[0]
    (shape,) = re.findall(r"(?:tt.load|async_copy) .*: tensor<([\dx]+)x!tt.ptr<i32>", loop)
    return int(np.prod([int(extent) for extent in shape.split("x")]))


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("form", FORMS)
def test_each_element_is_read_once(form: str, stages: int) -> None:
    each, once = FORMS[form]
    signature = f"{SIGNATURE}, {ROWS}, {COLUMNS}, {DEPTH}, {each}, {list(FORMS).index(form)}"
    code = dots.code_of(product, signature, num_warps=4, num_stages=stages)
    assert elements_loaded(code) == DEPTH * COLUMNS // once
    random = np.random.default_rng(5)
    a = random.integers(-4, 5, (ROWS, TOTAL)).astype(np.float16)
    words = random.integers(-(2**31), 2**31, (TOTAL // each + 1, COLUMNS)).astype(np.int32)
    got = np.full((ROWS, COLUMNS), 77, np.float32)
    small_kernels.launch(code, a.view(np.uint16).reshape(-1), words.reshape(-1), got.reshape(-1), COLUMNS, TOTAL)
    np.testing.assert_array_equal(got, wanted(a, words, form))
