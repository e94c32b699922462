"""Tiles of indices that loops move on: accesses have them in any layout, and have them ahead.

Here:      that no iteration exchanges indices between threads, and the numbers: NumPy's, on the simulator, and the same
           bits with one stage.
           Pointers to lines beside tiles likewise.
Not here:  other pointers of loops (test_loop_pointers.py).
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

BLOCK, ROUNDS = 32, 3
SIZE = BLOCK * ROUNDS
FORMS = ("added", "from the left", "subtracted", "by what is read", "nested", "as branches choose")
ADDED, FROM_THE_LEFT, SUBTRACTED, READ, NESTED, CHOSEN = (tl.constexpr(number) for number in range(len(FORMS)))


@triton.jit
def transpose_blocks(x, steps, out, ends, N: tl.constexpr, BLOCK: tl.constexpr, FORM: tl.constexpr):
    """Blocks along the diagonal, transposed; behind them the indices that are left."""
    at = tl.arange(0, BLOCK)
    if FORM == SUBTRACTED:
        at += N - BLOCK
    for i in range(N // BLOCK):
        block = tl.load(x + at[:, None] * N + at[None, :])
        tl.store(out + at[None, :] * N + at[:, None], block)
        if FORM == ADDED:
            at += BLOCK
        elif FORM == FROM_THE_LEFT:
            at = BLOCK + at
        elif FORM == SUBTRACTED:
            at -= BLOCK
        elif FORM == READ:
            at += tl.load(steps + i)
        elif FORM == NESTED:
            for _ in range(BLOCK):
                at += 1
        elif i % 2 == 0:
            at += BLOCK
        else:
            at = at + BLOCK
    tl.store(ends + tl.arange(0, BLOCK), at)


def exchanged(code: dict[str, Any]) -> list[str]:
    """Conversions of indices and masks in the loop."""
    loop = code["ttgir"].split("scf.for", 1)[1]
    return re.findall(r"twg\.convert_layout .*xi\d+, #\w+> ->", loop)


@pytest.mark.parametrize("form", FORMS)
def test_indices_of_rows_and_columns(form: str) -> None:
    signature = f"*fp32:16, *i32:16, *fp32:16, *i32:16, {SIZE}, {BLOCK}, {FORMS.index(form)}"
    code = dots.code_of(transpose_blocks, signature, num_warps=4)
    if form != "as branches choose":
        assert not exchanged(code)
    x = np.random.default_rng(1).standard_normal((SIZE, SIZE)).astype(np.float32)
    out, ends = np.zeros_like(x), np.zeros(BLOCK, np.int32)
    small_kernels.launch(code, x.reshape(-1), np.full(ROUNDS, BLOCK, np.int32), out.reshape(-1), ends)
    wanted = np.zeros_like(x)
    for at in range(0, SIZE, BLOCK):
        wanted[at : at + BLOCK, at : at + BLOCK] = x[at : at + BLOCK, at : at + BLOCK].T
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(ends, np.arange(BLOCK) + (-BLOCK if form == "subtracted" else SIZE))


@triton.jit
def far(out, rounds, START: tl.constexpr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    """Indices that leave their type's range."""
    at = tl.arange(0, BLOCK) + START
    for i in range(rounds):
        tl.store(out + i * BLOCK + tl.arange(0, BLOCK), at)
        at += STEP


@pytest.mark.parametrize("start", [0, 2**31 - 16])
@pytest.mark.parametrize("step", [1, 2**30, -(2**31)])
@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_whole_numbers_wrap_around(start: int, step: int, rounds: int) -> None:
    code = dots.code_of(far, f"*i32:16, i32, {start}, {step}, 32", num_warps=4)
    out = np.zeros(5 * 32, np.int32)
    small_kernels.launch(code, out, rounds)
    wanted = (np.arange(32) + start + step * np.arange(5)[:, None] + 2**31) % 2**32 - 2**31
    wanted[rounds:] = 0
    np.testing.assert_array_equal(out.reshape(5, 32), wanted)


@triton.jit
def product(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        acc = tl.dot(left, tl.load(b + k[:, None] * BN + n[None, :], mask=k[:, None] < K, other=0.0), acc)
        k += BK
    tl.store(c + m[:, None] * BN + n[None, :], acc)


@pytest.mark.parametrize("depth", [32, 80, 192])
@pytest.mark.parametrize("warps", [2, 4])
def test_both_operands_are_copied_ahead(depth: int, warps: int) -> None:
    signature = "*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 64, 32"
    one, three = (dots.code_of(product, signature, num_warps=warps, num_stages=stages) for stages in (1, 3))
    assert not exchanged(three)
    loop = three["ttgir"].split("scf.for", 1)[1].split("scf.yield", 1)[0]
    assert loop.count("twg.async_copy") == 2
    generator = np.random.default_rng(2)
    a, b = (generator.standard_normal(shape).astype(np.float16) for shape in ((64, depth), (depth, 64)))
    sums = []
    for code in (one, three):
        c = np.zeros((64, 64), np.float32)
        small_kernels.launch(code, a.reshape(-1), b.reshape(-1), c.reshape(-1), depth)
        sums.append(c)
    np.testing.assert_array_equal(sums[0].view(np.uint32), sums[1].view(np.uint32))
    np.testing.assert_allclose(sums[0], a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=1e-3 * depth**0.5)


@triton.jit
def weighted_blocks(x, columns, rows, out, rounds, step, M: tl.constexpr, N: tl.constexpr, BACK: tl.constexpr):
    """Blocks times a line along their columns, and a line along their rows added. Pointers to lines move on."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    by_column = columns + n
    by_row = rows + m
    if BACK:
        by_row += (rounds - 1) * M
    for i in range(rounds):
        at = (i * M + m)[:, None] * N + n[None, :]
        block = tl.load(x + at)
        scaled = block * tl.load(by_column)[None, :]
        tl.store(out + at, scaled + tl.load(by_row).to(tl.float32)[:, None])
        by_column += step
        if BACK:
            by_row += -M
        else:
            by_row += M


@pytest.mark.parametrize(("m", "n", "warps"), [(64, 32, 4), (128, 64, 4), (32, 128, 8), (16, 128, 2)])
@pytest.mark.parametrize("back", [False, True])
def test_pointers_to_lines(m: int, n: int, warps: int, back: bool) -> None:
    """They are loaded in the block's layout: no barrier in the loop."""
    rounds, random = 3, np.random.default_rng(2)
    signature = f"*fp32:16, *fp32:16, *fp16:16, *fp32:16, i32, i32:16, {m}, {n}, {back}"
    code = dots.code_of(weighted_blocks, signature, num_warps=warps)
    loop = code["ttgir"].split("scf.for", 1)[1].split("scf.yield", 1)[0]
    assert "barrier" not in loop and "convert_layout" not in loop
    x, columns, rows = (random.integers(-9, 9, (rounds, *shape)).astype(np.float32) for shape in ((m, n), (n,), (m,)))
    half, out = rows.astype(np.float16), np.zeros_like(x)
    given = np.ascontiguousarray(half[::-1]) if back else half
    first = [x.reshape(-1), columns.reshape(-1), given.reshape(-1).view(np.uint16), out.reshape(-1)]
    small_kernels.launch(code, *first, rounds, n)
    np.testing.assert_array_equal(out, x * columns[:, None, :] + half.astype(np.float32)[:, :, None])
