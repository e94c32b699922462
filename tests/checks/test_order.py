"""TILETWIN_CHECK=order: results that depend on the order in which programs run."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from memory_findings import findings_of, source


@triton.jit
def store_all(o_ptr, BLOCK: tl.constexpr, APART: tl.constexpr):
    pid = tl.program_id(0)
    start = pid * BLOCK if APART else 0
    tl.store(o_ptr + start + tl.arange(0, BLOCK), pid * 10)


def test_the_last_one_wins() -> None:
    o = torch.full((128,), -1, dtype=torch.int32)
    (found,) = findings_of("order", lambda: store_all[(4,)](o, BLOCK=32, APART=False))
    assert source(found) == "tl.store(o_ptr + start + tl.arange(0, BLOCK), pid * 10)"
    assert "element 0 of o_ptr is 30 if the programs run forward, and 0 if they run backward" in found.message
    assert "4 programs write it, from (0, 0, 0) to (3, 0, 0)" in found.message
    assert (o[:32] == 30).all() and (o[32:] == -1).all()  # as the forward run leaves it


def test_programs_of_their_own() -> None:
    o = torch.zeros(128, dtype=torch.int32)
    assert findings_of("order", lambda: store_all[(4,)](o, BLOCK=32, APART=True)) == []
    assert torch.equal(o, torch.arange(4, dtype=torch.int32).repeat_interleave(32) * 10)


def test_updates_in_place_happen_once() -> None:
    @triton.jit
    def double(x_ptr, BLOCK: tl.constexpr):
        at = x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(at, tl.load(at) * 2)

    x = torch.arange(64.0)
    assert findings_of("order", lambda: double[(4,)](x, BLOCK=16)) == []
    assert torch.equal(x, torch.arange(64.0) * 2)


def test_atomic_sums_of_floats_differ_by_rounding() -> None:
    @triton.jit
    def total(x_ptr, o_ptr, BLOCK: tl.constexpr):
        tl.atomic_add(o_ptr, tl.sum(tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))))

    x = torch.randn(4096, generator=torch.Generator().manual_seed(1))
    (found,) = findings_of("order", lambda: total[(64,)](x, torch.zeros(1), BLOCK=64))
    assert "differ by rounding" in found.message and source(found).startswith("tl.atomic_add(o_ptr")
    assert "element 0 of o_ptr" in found.advice
    exact = torch.randint(-9, 9, (4096,), generator=torch.Generator().manual_seed(1)).float()
    assert findings_of("order", lambda: total[(64,)](exact, torch.zeros(1), BLOCK=64)) == []
    whole = exact.int()
    assert findings_of("order", lambda: total[(64,)](whole, torch.zeros(1, dtype=torch.int32), BLOCK=64)) == []


def test_tickets() -> None:
    @triton.jit
    def ticket(counter_ptr, o_ptr):
        tl.store(o_ptr + tl.program_id(0), tl.atomic_add(counter_ptr, 1))

    counter, o = torch.zeros(1, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    (found,) = findings_of("order", lambda: ticket[(8,)](counter, o))
    assert "element 0 of o_ptr is 0 if the programs run forward, and 7" in found.message
    assert counter.item() == 8 and o.tolist() == list(range(8))


def test_programs_that_wait_run_backward_too() -> None:
    @triton.jit
    def chain(flag_ptr, o_ptr):
        pid = tl.program_id(0)
        while tl.atomic_add(flag_ptr, 0) < pid:
            pass
        tl.store(o_ptr + pid, pid)
        tl.atomic_add(flag_ptr, 1)

    def run(n):
        flag, o = torch.zeros(1, dtype=torch.int32), torch.zeros(n, dtype=torch.int32)
        chain[(n,)](flag, o)
        assert o.tolist() == list(range(n))

    assert findings_of("order", lambda: run(16)) == []


def test_memory_that_is_no_argument(capsys) -> None:
    @triton.jit
    def through(table_ptr, n):
        at = tl.load(table_ptr).to(tl.pointer_type(tl.float32)) + tl.program_id(0) * 16 + tl.arange(0, 16)
        tl.store(at, tl.load(at) + 1)

    x = torch.zeros(64)
    table = torch.tensor([x.data_ptr()])
    assert findings_of("order", lambda: (through[(4,)](table, 4), through[(4,)](table, 4))) == []
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and "through: the launch was not run in other orders: it reaches memory" in said[0]
    assert f"{__file__}:" in said[0]
    assert (x == 2).all()


def test_prints_come_once(capfd) -> None:
    @triton.jit
    def speak(o_ptr):
        tl.device_print("pid", tl.program_id(0))
        tl.store(o_ptr + tl.program_id(0), 1)

    assert findings_of("order", lambda: speak[(3,)](torch.zeros(3, dtype=torch.int32))) == []
    out = capfd.readouterr()
    assert (out.out + out.err).count("pid (") == 3
