"""Loads behind a loop that begin in front of it, in code for launches of few programs: what is added to a product.

Here:      which loads move and which stay; the interpreter's values under several schedules, with all checks.
Not here:  other things that this code does (test_small_grids.py).
"""

from __future__ import annotations

from typing import Any

import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import checks
from tiletwin.codegen.stages import AsmDict
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS

SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=drawn")
ROWS, ROUNDS = 64, 3


@triton.jit
def product_plus(a, b, more, c, ROUNDS, B: tl.constexpr, N: tl.constexpr, FORM: tl.constexpr):
    """c = a @ b + more. FORM: who may write `more`, or where it is read."""
    m, n = tl.arange(0, B), tl.arange(0, N)
    cells = m[:, None] * N + n[None, :]
    sums, last = tl.zeros((B, N), tl.float32), 0
    if FORM == "a store in front":
        tl.store(more + cells, tl.load(more + cells) + 1)
        tl.debug_barrier()
    for i in range(ROUNDS):
        left = tl.load(a + m[:, None] * B * ROUNDS + i * B + m[None, :])
        sums = tl.dot(left, tl.load(b + (i * B + m)[:, None] * N + n[None, :]), sums)
        last += i
        if FORM == "an atomic access":
            tl.atomic_add(c, 0.0)
    if FORM == "an address of the loop":
        cells += last - (ROUNDS - 1) * ROUNDS // 2
    if FORM == "a masked load":
        sums += tl.load(more + cells, (m < B - 7)[:, None], 5.0)
    else:
        sums += tl.load(more + cells)
    tl.store(c + m[:, None] * N + n[None, :], sums)


def run(monkeypatch: pytest.MonkeyPatch, form: str, columns: int = 64, **options: Any) -> Any:
    """Compares the result with the interpreter's, whose sums are exact as well. Gives the code of few programs."""
    monkeypatch.setattr(AsmDict, "launched", property(lambda self: self.launched_singly))
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    generator = torch.Generator().manual_seed(columns)
    sizes = ((ROWS, ROWS * ROUNDS), (ROWS * ROUNDS, columns))
    a, b = (torch.randint(-1, 2, size, generator=generator).half() for size in sizes)
    more = torch.randint(-9, 9, (ROWS, columns), generator=generator).float()
    expected = None
    for backend, schedule in (("interp", "turns"), *(("sim", schedule) for schedule in SCHEDULES)):
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        out, added = torch.zeros((ROWS, columns)), more.clone()
        checks.clear()
        compiled = product_plus[(1,)](a, b, added, out, ROUNDS, ROWS, columns, form, **options)
        assert not checks.findings()
        if expected is not None:
            torch.testing.assert_close(out, expected, rtol=0, atol=0)
        expected = out
    return compiled.asm


def begins_in_front(code: str) -> bool:
    """Of the load of 32-bit numbers."""
    (load,) = (line for line in code.splitlines() if "tt.load " in line and "x!tt.ptr<f32>" in line)
    return code.index(load) < code.index("scf.for ")


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("form", ["as it is", "a masked load"])
def test_it_begins_in_front(monkeypatch, form: str, stages: int) -> None:
    code = run(monkeypatch, form, num_stages=stages)
    assert begins_in_front(code.launched_singly["ttgir"])
    assert not begins_in_front(code["ttgir"])


@pytest.mark.parametrize("form", ["an atomic access", "an address of the loop"])
def test_it_stays(monkeypatch, form: str) -> None:
    assert not begins_in_front(run(monkeypatch, form).launched_singly["ttgir"])


def test_what_the_kernel_writes_is_read_where_it_stands(monkeypatch) -> None:
    code = run(monkeypatch, "a store in front").launched_singly["ttgir"]
    assert code.rindex("tt.load ") > code.index("scf.for ")


@pytest.mark.parametrize(("columns", "registers", "moves"), [(128, 0, True), (256, 0, False), (128, 128, False)])
def test_registers_have_room(monkeypatch, columns: int, registers: int, moves: bool) -> None:
    """Sums of 256 columns take half of a thread's registers, what is added the other half."""
    options = {"maxnreg": registers} if registers else {}
    assert begins_in_front(run(monkeypatch, "as it is", columns, **options).launched_singly["ttgir"]) == moves
