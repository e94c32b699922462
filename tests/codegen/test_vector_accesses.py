"""Loads that a vector must not take for one access: masks that change inside a group of lanes, indices that jump there.

Each kernel loads by an index or a mask of one form, and NumPy says what it reads. The simulator runs what was compiled
with all checks on, so a vector that is not aligned is an error too.
"""

from __future__ import annotations

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl

LANES = 128
COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]
OPERATORS = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
             "ne": np.not_equal}  # fmt: skip


@triton.jit
def compared(a, b, KIND: tl.constexpr):
    if KIND == "lt":
        mask = a < b
    elif KIND == "le":
        mask = a <= b
    elif KIND == "gt":
        mask = a > b
    elif KIND == "ge":
        mask = a >= b
    elif KIND == "eq":
        mask = a == b
    else:
        mask = a != b
    return mask


@triton.jit
def load_where(x, o, bound, KIND: tl.constexpr, SWAPPED: tl.constexpr, UNSIGNED: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    lanes = at.to(tl.uint32) if UNSIGNED else at
    last = bound.to(tl.uint32) if UNSIGNED else bound
    mask = compared(last, lanes, KIND) if SWAPPED else compared(lanes, last, KIND)
    tl.store(o + at, tl.load(x + at, mask=mask, other=-1))


@pytest.mark.parametrize("unsigned", [False, True], ids=["signed", "unsigned"])
@pytest.mark.parametrize("swapped", [False, True], ids=["lanes_first", "bound_first"])
@pytest.mark.parametrize("kind", COMPARISONS)
def test_masks(kind: str, swapped: bool, unsigned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    x, lanes = np.arange(LANES, dtype=np.int32) + 1000, np.arange(LANES)
    for bound in (0, 64, 66, 127):
        out = np.zeros(LANES, np.int32)
        load_where[(1,)](x, out, bound, kind, swapped, unsigned, LANES, num_warps=1)
        mask = OPERATORS[kind](bound, lanes) if swapped else OPERATORS[kind](lanes, bound)
        np.testing.assert_array_equal(out, np.where(mask, x, -1), str(bound))


@triton.jit
def load_at(x, o, FORM: tl.constexpr, START: tl.constexpr, BY: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    if FORM == "quotient":
        index = (lanes + START) // BY
    elif FORM == "remainder":
        index = (lanes + START) % BY
    else:
        index = ((lanes + START) // BY) * BY + (lanes + START) % BY
    tl.store(o + lanes, tl.load(x + N + index))


@pytest.mark.parametrize("by", [4, 8, 16, 12])
@pytest.mark.parametrize("start", [-64, -60, -3, 0, 1, 4])
@pytest.mark.parametrize("form", ["quotient", "remainder", "both"])
def test_quotients_and_remainders_of_both_signs(
    form: str, start: int, by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Integers are divided towards zero, so runs below zero are cut at other places than those above."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    x, out = np.arange(4 * LANES, dtype=np.int32), np.zeros(LANES, np.int32)
    load_at[(1,)](x, out, form, start, by, LANES, num_warps=1)
    lanes = np.arange(LANES) + start
    quotient = np.trunc(lanes / by).astype(np.int64)
    index = {"quotient": quotient, "remainder": lanes - quotient * by, "both": lanes}[form]
    np.testing.assert_array_equal(out, x[LANES + index])


@triton.jit
def load_above(x, o, KIND: tl.constexpr, SHIFT: tl.constexpr, BOUND: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    if KIND == "ge":
        mask = lanes >= BOUND
    elif KIND == "gt":
        mask = lanes > BOUND
    elif KIND == "le":
        mask = lanes.to(tl.int64) >= tl.full([N], BOUND, tl.int64)
    else:
        mask = lanes <= BOUND
    tl.store(o + lanes, tl.load(x + N + (lanes - SHIFT) % 16, mask=mask & (lanes < N), other=-1))


@pytest.mark.parametrize(
    ("kind", "bound", "vector"),
    [("ge", 64, True), ("le", 64, True), ("ge", 68, True), ("ge", 48, False), ("gt", 63, False), ("below", 64, False)],
)
def test_masks_that_leave_no_number_below_zero(
    kind: str, bound: int, vector: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Remainders count up where the mask lets no number below zero through, and nobody reads the others."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    x, out, lanes = np.arange(4 * LANES, dtype=np.int32), np.zeros(LANES, np.int32), np.arange(LANES)
    kernel = load_above[(1,)](x, out, kind, 64, bound, LANES, num_warps=1)
    mask = {"gt": lanes > bound, "below": lanes <= bound}.get(kind, lanes >= bound)
    np.testing.assert_array_equal(out, np.where(mask, x[LANES + np.fmod(lanes - 64, 16)], -1))
    assert ("ld.global.v4.b32" in kernel.asm["ptx"]) == vector


@triton.jit
def load_turned(x, o, FORM: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    rows, columns = lanes[:, None], lanes[None, :]
    if FORM == "expanded":
        mask = (lanes >= 16)[:, None] & (columns >= 0)
        at = ((lanes - 16) % 16)[None, :]
    else:
        square = rows * 0 + columns
        mask = tl.trans(square) >= 16 if FORM == "mask" else square >= 16
        at = tl.trans((tl.trans(square) - 16) % 16) if FORM == "twice" else (square - 16) % 16
        at = tl.trans(at) if FORM == "index" else at
    tl.store(o + rows * N + columns, tl.load(x + N + at, mask=mask, other=-1))


@pytest.mark.parametrize("form", ["expanded", "mask", "index", "twice"])
def test_masks_of_another_axis_say_nothing(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    n = 32
    x, out, lanes = np.arange(4 * n, dtype=np.int32), np.zeros((n, n), np.int32), np.arange(n)
    load_turned[(1,)](x, out, form, n, num_warps=1)
    columns = np.broadcast_to(lanes, (n, n))
    mask = columns.T >= 16 if form in ("expanded", "mask") else columns >= 16
    at = np.fmod((columns.T if form == "index" else columns) - 16, 16)
    np.testing.assert_array_equal(out, np.where(mask, x[n + at], -1))


@triton.jit
def load_rows(x, row, o, STEP: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    start = lanes + tl.load(row + lanes) * STEP
    at = start[:, None] + lanes[None, :]
    tl.store(o + lanes[:, None] * N + lanes[None, :], tl.load(x + at))


@pytest.mark.parametrize("step", [1, 4, 16])
def test_rows_that_begin_at_any_element(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane's number plus a multiple of 16 is no multiple of 16."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    n = 16
    row = np.random.default_rng(step).integers(0, 8, n).astype(np.int32)
    x, out = np.arange(1024, dtype=np.int32), np.zeros((n, n), np.int32)
    load_rows[(1,)](x, row, out, step, n, num_warps=1)
    np.testing.assert_array_equal(out, x[(np.arange(n) + row * step)[:, None] + np.arange(n)])


@triton.jit
def load_halves(x, o, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(o + lanes, tl.load((x + lanes).to(tl.pointer_type(tl.int16), bitcast=True)))


def test_pointers_read_as_another_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pointers to int32 stay 4 bytes apart when they are read as pointers to int16."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    x, out = np.arange(LANES, dtype=np.int32) * 65537, np.zeros(LANES, np.int16)
    load_halves[(1,)](x, out, LANES, num_warps=1)
    np.testing.assert_array_equal(out, x.view(np.int16)[::2])


@triton.jit
def load_at_the_smallest_multiple(x, o, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    far = tl.full([N], -(2**63), tl.int64) * n * n
    tl.store(o + lanes, tl.load(x + lanes + far * n))


def test_products_of_the_smallest_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """-2**63 has no counterpart above zero."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    x, out = np.arange(LANES, dtype=np.int32), np.zeros(LANES, np.int32)
    load_at_the_smallest_multiple[(1,)](x, out, 2, LANES, num_warps=1)
    np.testing.assert_array_equal(out, x)


@triton.jit
def load_of_groups(x, scales, o, bound, FORM: tl.constexpr, BY: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    group = lanes // BY
    mask = lanes < bound if FORM == "lanes" else group < bound
    if FORM == "other":
        scale = tl.load(scales + group, mask=mask, other=lanes)
    elif FORM == "all":
        scale = tl.load(scales + group)
    else:
        scale = tl.load(scales + group, mask=mask, other=7)
    tl.store(o + lanes, tl.load(x + lanes).to(tl.int32) * scale)


@pytest.mark.parametrize(
    ("form", "by", "bound", "reads"),
    [
        ("all", 8, 0, 1),
        ("all", 4, 0, 2),
        ("all", 2, 0, 4),
        ("all", 12, 0, 2),
        ("all", 256, 0, 1),
        ("groups", 8, 5, 1),
        ("groups", 16, 0, 1),
        ("lanes", 8, 37, 8),
        ("lanes", 8, 64, 1),
        ("other", 8, 5, 8),
    ],
)
def test_what_neighbours_share_is_read_once(
    form: str, by: int, bound: int, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread holds eight elements that follow each other. The mask, and what stands where it is false, may differ."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    lanes = np.arange(256)
    x, scales, out = lanes.astype(np.int16), np.arange(256, dtype=np.int32) + 3, np.zeros(256, np.int32)
    kernel = load_of_groups[(1,)](x, scales, out, bound, form, by, 256, num_warps=1)
    mask = {"all": lanes >= 0, "lanes": lanes < bound}.get(form, lanes // by < bound)
    other = lanes if form == "other" else 7
    np.testing.assert_array_equal(out, lanes * np.where(mask, scales[lanes // by], other))
    assert kernel.asm["ptx"].count("ld.global.b32") == reads


@triton.jit
def load_below(x, o, first, second, LARGER: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    bound = tl.maximum(first, second - 32 * tl.program_id(0)) if LARGER else min(first, second - 32 * tl.program_id(0))
    tl.store(o + at, tl.load(x + at, mask=at < bound, other=-1))


@triton.jit
def load_clamped(x, o, bound, LARGER: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    index = tl.maximum(at, bound) if LARGER else tl.minimum(at, bound)
    tl.store(o + at, tl.load(x + index))


@pytest.mark.parametrize("larger", [False, True])
def test_the_smaller_of_two_bounds(larger: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiples of 16 both: vectors do not cross it."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    x = np.arange(LANES, dtype=np.int32) + 1000
    for first, second in ((48, 96), (112, 16), (64, 64)):
        out = np.zeros(LANES, np.int32)
        compiled = load_below[(1,)](x, out, first, second, larger, LANES, num_warps=1)
        bound = max(first, second) if larger else min(first, second)
        np.testing.assert_array_equal(out, np.where(np.arange(LANES) < bound, x, -1))
        assert "ld.global.v4.b32" in compiled.asm["ptx"]


@pytest.mark.parametrize("larger", [False, True])
def test_indices_that_stay_at_a_bound(larger: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    x = np.arange(LANES, dtype=np.int32) + 1000
    for bound in (0, 16, 63, 127):
        out = np.zeros(LANES, np.int32)
        load_clamped[(1,)](x, out, bound, larger, LANES, num_warps=1)
        at = (np.maximum if larger else np.minimum)(np.arange(LANES), bound)
        np.testing.assert_array_equal(out, x[at])
