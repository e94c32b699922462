"""Loops of one stage with products of warpgroups: operands' copies are on their way together where an iteration begins,
other loads begin in front of the product before them.

Here:      which loads are copied and which are not, where copies begin and are waited for. The interpreter's values
           under several schedules, with all checks.
Not here:  copies for later iterations (test_pipelined_dots.py).
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import checks
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS

SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=drawn")
ROWS, WIDTH = 64, 64


@triton.jit
def gradients(q, do, lines, k, v, dq, dk, dv, ROUNDS, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """The loop of attention's gradients, with sums of whole numbers: what it reads of dq it writes in each round."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    keys, values = (tl.load(x + n[:, None] * D + d[None, :]) for x in (k, v))
    sums_k, sums_v = tl.zeros((N, D), tl.float32), tl.zeros((N, D), tl.float32)
    for i in range(ROUNDS):
        rows = (i * M + m)[:, None] * D + d[None, :]
        left = tl.load(q + rows)
        p = tl.minimum(tl.dot(left, keys.T), 2.0) - tl.load(lines + i * M + m)[:, None]
        up = tl.load(do + rows)
        sums_v += tl.dot(p.to(tl.float16).T, up)
        ds = tl.where(tl.dot(up, values.T) > tl.load(lines + ROUNDS * M + i * M + m)[:, None], p, 1.0).to(tl.float16)
        sums_k += tl.dot(ds.T, left)
        tl.store(dq + rows, tl.load(dq + rows) + tl.dot(ds, keys))
    tl.store(dk + n[:, None] * D + d[None, :], sums_k)
    tl.store(dv + n[:, None] * D + d[None, :], sums_v)


@triton.jit
def masked(q, do, lines, k, v, dq, dk, dv, ROUNDS, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Rows are cut, and a branch adds once more. v, dq, do and dv are not used."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    sums = tl.zeros((M, D), tl.float32)
    for i in range(ROUNDS):
        rows = i * M + m
        left = tl.load(q + rows[:, None] * D + d[None, :], (rows < ROUNDS * M - 5)[:, None], 0.0)
        right = tl.load(k + n[:, None] * D + d[None, :], (n > i)[:, None], 0.0)
        sums = tl.dot(left, right.T, sums)
        if i > 1:
            sums += tl.load(lines + rows)[:, None]
    tl.store(dk + m[:, None] * D + d[None, :], sums)


@triton.jit
def written(q, do, lines, k, v, dq, dk, dv, ROUNDS, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """The loop writes one of its operands in place."""
    m, d = tl.arange(0, M), tl.arange(0, D)
    sums = tl.zeros((M, D), tl.float32)
    for i in range(ROUNDS):
        rows = (i * M + m)[:, None] * D + d[None, :]
        left = tl.load(q + rows)
        tl.store(q + rows, left + 1)
        sums = tl.dot(left, tl.load(do + rows), sums)
        sums = tl.dot(tl.load(q + rows), tl.load(k + m[:, None] * D + d[None, :]), sums)
    tl.store(dk + m[:, None] * D + d[None, :], sums)


@triton.jit
def told_by_others(q, do, lines, k, v, dq, dk, dv, ROUNDS, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """An atomic access in front of a load may tell that others have written there."""
    m, d = tl.arange(0, M), tl.arange(0, D)
    sums = tl.zeros((M, D), tl.float32)
    for i in range(ROUNDS):
        before = tl.atomic_add(dv, 1.0)
        left = tl.load(q + (i * M + m)[:, None] * D + d[None, :])
        sums = tl.dot(left, tl.load(k + m[:, None] * D + d[None, :]), sums) + before
    tl.store(dk + m[:, None] * D + d[None, :], sums)


def run(monkeypatch: pytest.MonkeyPatch, kernel: Any, rounds: int, **options: Any) -> str:
    """Compares all results with the interpreter's, whose sums are exact as well. Gives the code."""
    kernel = triton.jit(kernel.fn)
    generator = torch.Generator().manual_seed(rounds)
    length = ROWS * max(rounds, 1)
    sizes = ((length, WIDTH), (length, WIDTH), (2 * length,), (length, WIDTH), (ROWS, WIDTH), (length, WIDTH))
    given = [torch.randint(-1, 2, size, generator=generator) for size in sizes]
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    expected: list[torch.Tensor] = []
    for backend, schedule in (("interp", "turns"), *(("sim", schedule) for schedule in SCHEDULES)):
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        tensors = [x.to(torch.float32 if at in (2, 5) else torch.float16) for at, x in enumerate(given)]
        tensors += [torch.zeros((ROWS, WIDTH)) for _ in range(2)]
        checks.clear()
        compiled = kernel[(1,)](*tensors, rounds, ROWS, ROWS, WIDTH, num_stages=1, **options)
        assert not checks.findings()
        for one, other in zip(tensors, expected, strict=False):
            torch.testing.assert_close(one, other, rtol=0, atol=0)
        expected = tensors
    return compiled.asm["ttgir"]


def loop_of(code: str) -> str:
    return code[code.index("scf.for") : code.index("scf.yield")]


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("rounds", [0, 2, 5])  # 1 would leave no loop
def test_gradients(monkeypatch, rounds: int, warps: int) -> None:
    loop = loop_of(run(monkeypatch, gradients, rounds, num_warps=warps))
    first = loop.index("twg.warpgroup_dot")
    assert loop[:first].count("twg.async_copy ") == loop.count("twg.async_copy ") == 2
    assert re.findall(r"twg.async_wait (\d)", loop) == ["1", "0"]
    products = [match.start() for match in re.finditer("twg.warpgroup_dot ", loop)]
    loads = [match.start() for match in re.finditer(r"tt\.load ", loop)]
    assert len(loads) == 3 and max(loads[:2]) < products[0]  # both lines
    assert products[2] < loads[2] < products[3]  # dq, in front of the product before its own


@pytest.mark.parametrize("rounds", [2, 5])
def test_masked_rows(monkeypatch, rounds: int) -> None:
    loop = loop_of(run(monkeypatch, masked, rounds))
    assert loop.count("twg.async_copy ") == 2 and loop.count(" mask ") == 2


def test_what_the_loop_writes_is_loaded(monkeypatch) -> None:
    loop = loop_of(run(monkeypatch, written, 4))
    assert loop.count("twg.async_copy ") == 2 and len(re.findall(r"tt\.load ", loop)) == 2
    assert loop.index("tt.store ") < loop.rindex("tt.load ")


def test_what_others_may_write_is_loaded_where_it_stands(monkeypatch) -> None:
    assert "twg.async_copy " not in loop_of(run(monkeypatch, told_by_others, 3))


def test_an_assertion_comes_first(monkeypatch) -> None:
    """It is about what is loaded behind it."""

    @triton.jit
    def kernel(a, b, c, rows, ROUNDS, B: tl.constexpr):
        m, n = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
        sums = tl.zeros((B, B), tl.float32)
        for i in range(ROUNDS):
            tl.device_assert((i + 1) * B <= rows, "too many rows")
            sums = tl.dot(tl.load(a + (i * B + m) * B + n), tl.load(b + (i * B + m) * B + n), sums)
        tl.store(c + m * B + n, sums)

    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    a, b, c = torch.ones(128, 64).half(), torch.ones(128, 64).half(), torch.zeros(64, 64)
    with pytest.raises(AssertionError, match="too many rows"):
        kernel[(1,)](a, b, c, 128, 3, 64, num_stages=1, debug=True)
    checks.clear()


@pytest.mark.parametrize(("stages", "copies"), [(1, 1), (2, 2)])
def test_the_loop_s_own_stages_count(monkeypatch, stages: int, copies: int) -> None:
    """Of a loop with `num_stages`, whatever the kernel has: a loop of two stages begins copies in front of it, too."""

    @triton.jit
    def kernel(q, do, lines, k, v, dq, dk, dv, ROUNDS, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
        m, d = tl.arange(0, M), tl.arange(0, D)
        sums = tl.zeros((M, D), tl.float32)
        right = tl.load(k + m[:, None] * D + d[None, :])
        for i in tl.range(0, ROUNDS, num_stages=STAGES):
            sums = tl.dot(tl.load(q + (i * M + m)[:, None] * D + d[None, :]), right, sums)
        tl.store(dk + m[:, None] * D + d[None, :], sums)

    STAGES = tl.constexpr(stages)
    kernel.fn.__globals__["STAGES"] = STAGES
    assert run(monkeypatch, kernel, 3).count("twg.async_copy ") == copies


def test_a_kernel_without_room_has_its_tiles_one_after_the_other(monkeypatch) -> None:
    """What fits only because memory is used again stays as it is."""

    @triton.jit
    def kernel(a, b, c, ROUNDS, M: tl.constexpr, K: tl.constexpr):
        m, k = tl.arange(0, M), tl.arange(0, K)
        sums = tl.zeros((M, M), tl.float32)
        for _ in range(ROUNDS):
            for half in tl.static_range(4):
                left = tl.load(a + (half * M + m)[:, None] * K + k[None, :])
                sums = tl.dot(left, tl.load(b + (half * K + k)[:, None] * M + m[None, :]), sums)
        tl.store(c + m[:, None] * M + m[None, :], sums)

    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    a, b, c = torch.ones(4 * 64, 256).half(), torch.ones(4 * 256, 64).half(), torch.zeros(64, 64)
    code = kernel[(1,)](a, b, c, 2, 64, 256, num_stages=1).asm["ttgir"]
    assert "twg.async_copy " not in code
    assert bool((c == 2 * 4 * 256).all())
