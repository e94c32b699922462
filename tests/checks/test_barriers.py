"""TILETWIN_CHECK=barriers: what a program reads of its own stores through other threads, with no barrier in between."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from memory_findings import findings_of, places


@triton.jit
def stored_and_loaded(o_ptr, r_ptr, shift, N: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, N)
    base = o_ptr + tl.program_id(0) * 2 * N
    tl.store(base + i, i)
    if BARRIER:
        tl.debug_barrier()
    y = tl.load(base + i + shift)
    tl.store(r_ptr + tl.program_id(0) * N + i, y)


@pytest.mark.parametrize(("shift", "barrier", "count"), [(0, False, 0), (1, False, 63), (63, False, 1), (64, False, 0),
                                                         (1, True, 0)])  # fmt: skip
def test_other_lanes(shift: int, barrier: bool, count: int) -> None:
    o, r = torch.zeros(4, 128, dtype=torch.int32), torch.zeros(4, 64, dtype=torch.int32)
    found = findings_of("barriers", lambda: stored_and_loaded[(4,)](o, r, shift, N=64, BARRIER=barrier))
    if not count:
        assert found == []
        return
    (f,) = found
    assert places(found) == [("y = tl.load(base + i + shift)", "tl.store(base + i, i)")]
    assert (f.check, f.program, f.programs, f.count) == ("barriers", (0, 0, 0), 4, count)
    assert f.elements[0] == (0,)
    assert f.message.startswith("reads o_ptr where another thread of the same program may have stored just now")
    assert f"what element ({shift}) of the store has written, element (0) reads" in str(f)
    assert "tl.debug_barrier()" in f.advice


def test_other_memory_of_the_same_argument() -> None:
    """Programs race there, but no program reads what it has written itself."""

    @triton.jit
    def next_row(o_ptr, N: tl.constexpr):
        i = tl.arange(0, N)
        pid = tl.program_id(0)
        tl.store(o_ptr + pid * N + i, pid)
        tl.store(o_ptr + (pid + 8) * N + i, tl.load(o_ptr + (pid + 4) * N + i))

    assert findings_of("barriers", lambda: next_row[(4,)](torch.zeros(16, 64), N=64)) == []


@triton.jit
def in_place(x_ptr, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    for _ in range(rounds):
        tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)
    tl.store(x_ptr + i[None, :], tl.load(x_ptr + i[None, :]) * 2)


def test_the_same_lanes_in_any_round() -> None:
    assert findings_of("barriers", lambda: in_place[(1,)](torch.zeros(128), 5, N=128)) == []


@triton.jit
def halves(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    small = (x_ptr).to(tl.pointer_type(tl.int16))
    tl.store(x_ptr + N + i, tl.load(small + i).to(tl.int32))


def test_elements_of_another_width() -> None:
    """Lane 0 of the load reads what lane 0 has stored, and so does lane 1: they are no longer the same threads."""
    (f,) = findings_of("barriers", lambda: halves[(1,)](torch.zeros(128, dtype=torch.int32), N=64))
    assert f.count == 64


@triton.jit
def scalars(x_ptr, o_ptr, BARRIER: tl.constexpr):
    tl.store(x_ptr, 7)
    if BARRIER:
        tl.debug_barrier()
    tl.store(o_ptr, tl.load(x_ptr))


def test_a_scalar_is_stored_by_one_thread_and_loaded_by_all() -> None:
    x, o = (torch.zeros(1, dtype=torch.int32) for _ in range(2))
    (f,) = findings_of("barriers", lambda: scalars[(1,)](x, o, BARRIER=False))
    assert "what one thread of the store has written, all threads read" in str(f)
    assert findings_of("barriers", lambda: scalars[(1,)](x, o, BARRIER=True)) == []


@triton.jit
def ticket(x_ptr, count_ptr, o_ptr, N: tl.constexpr, USED: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    t = tl.atomic_add(count_ptr, 1)
    y = tl.load(x_ptr + N - 1 - i)
    if USED:
        y += t
    tl.store(o_ptr + i, y)


def test_a_scalar_atomic_whose_result_is_used_is_a_barrier() -> None:
    """All threads wait for the one that does it."""
    x, o, count = torch.zeros(64), torch.zeros(64), torch.zeros(1, dtype=torch.int32)
    assert findings_of("barriers", lambda: ticket[(1,)](x, count, o, N=64, USED=True)) == []
    assert len(findings_of("barriers", lambda: ticket[(1,)](x, count, o, N=64, USED=False))) == 1


@triton.jit
def tile_of_atomics(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(x_ptr + i % 4, 1)
    tl.atomic_add(x_ptr + i % 2, 1)  # atomics need no order among themselves
    tl.store(o_ptr + i, tl.load(x_ptr + i % 4))


def test_loads_behind_atomics() -> None:
    x, o = (torch.zeros(64, dtype=torch.int32) for _ in range(2))
    found = findings_of("barriers", lambda: tile_of_atomics[(1,)](x, o, N=64))
    assert {f.line for f in found} == {tile_of_atomics.fn.__code__.co_firstlineno + 5}


@triton.jit
def through_another_argument(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.store(x_ptr + N + i, tl.load(y_ptr + N - 1 - i))


def test_arguments_that_alias() -> None:
    x, y = torch.zeros(128), torch.zeros(64)
    assert findings_of("barriers", lambda: through_another_argument[(1,)](x, y, N=64)) == []
    (f,) = findings_of("barriers", lambda: through_another_argument[(1,)](x, x, N=64))
    assert f.count == 64


@triton.jit
def through_pointers(p_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p_ptr).to(tl.pointer_type(tl.float32))
    tl.store(x + i, i)
    tl.store(x + N + i, tl.load(x + N - 1 - i))


def test_pointers_that_were_loaded() -> None:
    x = torch.zeros(128)
    (f,) = findings_of("barriers", lambda: through_pointers[(1,)](torch.tensor([x.data_ptr()]), N=64))
    assert f.count == 64


@triton.jit
def unordered_pages(x_ptr, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(rounds):
        tl.store(x_ptr + k * N + i, k)
    y = tl.load(x_ptr + (rounds - 1) * N + N - 1 - i)
    tl.store(x_ptr + rounds * N + i, y)


def test_much_memory_in_one_program() -> None:
    """More pages than are kept from program to program."""
    x = torch.zeros(1100, 1024, dtype=torch.int32)
    (f,) = findings_of("barriers", lambda: unordered_pages[(2,)](x, 1024, N=1024))
    assert (f.count, f.programs) == (1024, 2)


def test_stores_beyond_what_is_kept_are_said(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight MiB of stores are looked at, and memory does not grow further."""

    @triton.jit
    def fill(o_ptr, n, N: tl.constexpr):
        i = tl.arange(0, N)
        for k in range(n):
            tl.store(o_ptr + k * N + i, k)
            tl.store(o_ptr + k * N + i, tl.load(o_ptr + k * N + i) + 1)

    monkeypatch.setenv("TILETWIN_CHECK", "barriers")
    for rounds, is_said in ((16, False), (129, True)):
        fill[(1,)](torch.zeros(rounds << 14, dtype=torch.int32), rounds, N=1 << 14)
        told = capfd.readouterr().err
        assert ("stores more than 8 MiB, and was not checked for reads of what it stores beyond" in told) == is_said, (
            told
        )
