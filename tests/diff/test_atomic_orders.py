"""Exchanges and comparisons with memory: which lane or program comes last is open, and only that."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from other_backends import Rewritten, last_first
from tiletwin import diff
from tiletwin.diff.backends import InterpBackend

ORDER = "the order of atomic operations"


@triton.jit
def exchanged_by_lanes(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_xchg(o + tl.load(x + i), i + 1)


@triton.jit
def exchanged_by_programs(x, o, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    tl.atomic_xchg(o + tl.load(x + row * N + i), row * N + i + 1, mask=i >= 0)


@triton.jit
def compared_by_programs(x, o, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    tl.atomic_cas(o + tl.load(x + row * N + i), tl.zeros((N,), tl.int32), row * N + i + 1)


@triton.jit
def exchanged_and_added(x, o, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    at = o + tl.load(x + row * N + i)
    if row == 0:
        tl.atomic_add(at, 100)
    else:
        tl.atomic_xchg(at, i)


@triton.jit
def exchanged_and_read(x, o, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    at = tl.load(x + row * N + i)
    tl.atomic_xchg(o + at, row * N + i + 1)
    tl.store(o + 64 + row * N + i, tl.load(o + at))


class WithOneWrong(InterpBackend):
    """The interpreter, which leaves a wrong number in one element of `o`."""

    name = "wrong"

    def __init__(self, element: int) -> None:
        self.element = element

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        outcome.memory[launch.arguments["o"].storage].view(np.int32)[self.element] += 77
        return dataclasses.replace(outcome, backend=self.name)


# Elements 0 and 5 are written by two lanes, those from 16 on by none, the others by one.
PLACES = np.array([0, 1, 2, 3, 4, 5, 6, 7, 0, 8, 9, 10, 11, 5, 12, 13], np.int32)


def compared(kernel: Any, grid: int, other: Any) -> diff.Report:
    args = {"x": PLACES, "o": np.zeros(96, np.int32), "N": 16 // grid}
    return diff.compare(kernel, (grid,), args, backends=["interp", other], localise=False)


def turned(text: str) -> str:
    """Lanes come from the other end."""
    return re.sub(r"(%\w+) = tt.make_range (.*?) : (tensor<\d+xi32>)( loc.*)?$",
                  r"\1_up = tt.make_range \2 : \3\n%last = arith.constant dense<15> : \3\n"
                  r"\1 = arith.subi %last, \1_up : \3", text, flags=re.M)  # fmt: skip


KERNELS = [(exchanged_by_lanes, 1, turned), (exchanged_by_programs, 2, last_first),
           (compared_by_programs, 2, last_first), (exchanged_and_added, 2, last_first)]  # fmt: skip
IDS = ["lanes", "programs", "compare and swap", "exchange and sum"]


@pytest.mark.parametrize("kernel, grid, order", KERNELS, ids=IDS)
def test_the_last_one_of_two_is_not_known(kernel: Any, grid: int, order: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("TILETWIN_NUM_THREADS", "1")
    report = compared(kernel, grid, Rewritten(order))
    row = report.rows[-1]
    assert report.verdict == diff.NOT_COMPARABLE and row.not_comparable == 2 and row.reason == ORDER, report
    assert np.flatnonzero(row.verdicts == 3).tolist() == [0, 5]


@pytest.mark.parametrize("kernel, grid, order", KERNELS, ids=IDS)
@pytest.mark.parametrize("element, verdict", [(0, 3), (5, 3), (4, 2), (8, 2), (20, 2)])
def test_what_one_lane_exchanged_is_judged(kernel: Any, grid: int, order: Any, element: int, verdict: int) -> None:
    row = compared(kernel, grid, WithOneWrong(element)).rows[-1]
    assert row.verdicts is not None and row.verdicts[element] == verdict, row


@pytest.mark.parametrize("element, verdict", [(64, 3), (69, 3), (70, 2), (77, 3)])
def test_what_is_read_of_such_memory_is_as_unknown(element: int, verdict: int) -> None:
    row = compared(exchanged_and_read, 1, WithOneWrong(element)).rows[-1]
    assert row.verdicts is not None and row.verdicts[element] == verdict, row


# ---- what is exchanged may be off ----


@triton.jit
def exchanged_sums(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_xchg(o + i, tl.exp(tl.load(x + i)))


class Scaled(InterpBackend):
    name = "scaled"

    def __init__(self, by: float) -> None:
        self.by = by

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        outcome.memory[launch.arguments["o"].storage].view(np.float32)[:] *= np.float32(1 + self.by)
        return dataclasses.replace(outcome, backend=self.name)


@pytest.mark.parametrize(
    "other, verdict",
    [(Scaled(1.2e-7), diff.SAME), ("sim", diff.SAME), (Scaled(1e-4), diff.DIFFERENT)],
    ids=["a unit", "sim", "more"],
)
def test_an_exchanged_number_keeps_its_bound(other: Any, verdict: str) -> None:
    args = {"x": np.linspace(-3, 3, 32).astype(np.float32), "o": np.zeros(32, np.float32), "N": 32}
    report = diff.compare(exchanged_sums, (1,), args, backends=["interp", other], localise=False)
    assert report.verdict == verdict, report


@triton.jit
def swapped_for_a_sum(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    bits = tl.exp(tl.load(x + i)).to(tl.int32, bitcast=True)
    tl.atomic_cas(o + i, tl.zeros((N,), tl.int32), bits)
    tl.atomic_cas(o + 32 + i, bits, i)


def test_a_swap_that_numbers_decide_which_may_differ_is_not_judged() -> None:
    args = {"x": np.linspace(-3, 3, 32).astype(np.float32), "o": np.zeros(96, np.int32), "N": 32}
    for element, verdict in ((1, 3), (33, 3), (70, 2)):
        report = diff.compare(swapped_for_a_sum, (1,), args, backends=["interp", WithOneWrong(element)], localise=False)
        assert report.rows[-1].verdicts[element] == verdict, report
