"""Blocks that a loop copies with tensor maps (TMA), begun some iterations ahead: buffers, phases of barriers, ends of
loops. The simulator lands copies at the last moment and looks for races, unwaited copies and missing fences."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
import small_kernels as sk
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import checks
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS
from tiletwin.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def largest_of_rows(x, y, first, last, step, B: tl.constexpr):
    """No dots: the loop's blocks are read into registers."""
    found = tl.full((B, B), float("-inf"), tl.float32)
    for row in range(first, last, step):
        found = tl.maximum(found, x.load([row, 0]).to(tl.float32))
    y.store([0, 0], found)


@triton.jit
def multiply(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([row, k]), b.load([column, k]).T, sums)
    c.store([row, column], sums.to(c.dtype))


@triton.jit
def multiply_all(a, b, c, K, M, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One program makes all blocks of the result: the inner loop begins with barriers in whatever phase they are."""
    for row in range(0, M, BM):
        for column in range(0, N, BN):
            sums = tl.zeros((BM, BN), tl.float32)
            for k in range(0, K, BK):
                sums = tl.dot(a.load([row, k]), b.load([column, k]).T, sums)
            c.store([row, column], sums.to(c.dtype))


@triton.jit
def carried_places(x, y, count, B: tl.constexpr):
    """Places that the loop carries, and two waits in an iteration of the text."""
    total = tl.zeros((B, B), tl.float32)
    row = 0
    for _ in range(count):
        left = x.load([row, 0]).to(tl.float32)
        top = tl.max(left, 1)
        right = x.load([row + B, 0]).to(tl.float32)
        total = tl.maximum(total, tl.minimum(right, top[:, None]))
        row += B
    y.store([0, 0], total)


@triton.jit
def writes_what_it_copies(x, y, count, B: tl.constexpr):
    """Iterations depend on memory: nothing may be begun ahead."""
    for i in range(count):
        y.store([i * B + B, 0], y.load([i * B, 0]) + x.load([i * B, 0]))


@pytest.fixture(autouse=True)
def everything_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    checks.clear()


def both(monkeypatch: pytest.MonkeyPatch, launch: Any, out: torch.Tensor, **tolerance: float) -> Any:
    """Launches on the interpreter and on the simulator; the outputs are the same bits, or close."""
    before, results = out.clone(), {}
    for backend in ("interp", "sim"):
        out.copy_(before)
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        compiled = launch()
        results[backend] = out.clone()
    assert not checks.findings()
    if tolerance:
        torch.testing.assert_close(results["sim"], results["interp"], **tolerance)
    else:
        np.testing.assert_array_equal(results["sim"].numpy(), results["interp"].numpy())
    return compiled


def is_ahead(compiled: Any) -> bool:
    """Copies are begun under a condition: whether the loop goes on as far."""
    return bool(re.search(r"twg\.tensor_load [^\n]* if %", compiled.asm["ttgir"]))


@pytest.mark.parametrize(
    "stages", [1, pytest.param(2, marks=pytest.mark.slow), 3, pytest.param(5, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 7])
def test_blocks_in_registers(monkeypatch, stages: int, rounds: int) -> None:
    x = torch.randn((16 * 9, 16), generator=torch.Generator().manual_seed(1)).to(torch.float16)
    y = torch.zeros((16, 16))

    def launch() -> Any:
        maps = (TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16]))
        return largest_of_rows[(1,)](*maps, 8, 8 + rounds * 16, 16, 16, num_stages=stages)

    assert is_ahead(both(monkeypatch, launch, y)) == (stages > 1)


@pytest.mark.parametrize("first, last, step", [(0, 0, 1), (5, 0, 3), (-20, 40, 7), (2**31 - 60, 2**31 - 17, 16)])
def test_bounds_of_loops(monkeypatch, first: int, last: int, step: int) -> None:
    x, y = torch.randn((50, 16)), torch.zeros((16, 16))

    def launch() -> Any:
        maps = (TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16]))
        return largest_of_rows[(1,)](*maps, first, last, step, 16, num_stages=4)

    assert is_ahead(both(monkeypatch, launch, y))


@triton.jit
def largest_of_rows_by(x, y, first, last, B: tl.constexpr, STEP: tl.constexpr):
    """The same with a step that the compiler knows."""
    found = tl.full((B, B), float("-inf"), tl.float32)
    for row in range(first, last, STEP):
        found = tl.maximum(found, x.load([row, 0]).to(tl.float32))
    y.store([0, 0], found)


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("step, stages", [(2**28, 17), (2**28, 18)])
def test_distances_that_wrap(monkeypatch, step: int, stages: int, is_known: bool) -> None:
    """Iterations that begin behind the numbers' end are none: a copy begun for one would outlive the loop."""
    x, y = torch.randn((16, 16)), torch.zeros((16, 16))

    def launch() -> Any:
        maps = (TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16]))
        if is_known:
            return largest_of_rows_by[(1,)](*maps, 0, 2**30, 16, step, num_stages=stages)
        return largest_of_rows[(1,)](*maps, 0, 2**30, step, 16, num_stages=stages)

    assert is_ahead(both(monkeypatch, launch, y))


@pytest.mark.parametrize("stages, warps, k", [(2, 4, 96), (3, 4, 32), (3, 8, 130), (4, 4, 64), (3, 4, 0)])
def test_products(monkeypatch, stages: int, warps: int, k: int) -> None:
    generator = torch.Generator().manual_seed(k)
    a, b = (torch.randn((n, max(k, 8)), generator=generator).to(torch.float16) for n in (100, 72))
    a, b = (torch.nn.functional.pad(t, (0, -t.shape[1] % 8)) for t in (a, b))
    c = torch.zeros((100, 72), dtype=torch.float32)

    def launch() -> Any:
        blocks = ((a, [64, 32]), (b, [64, 32]), (c, [64, 64]))
        maps = [TensorDescriptor.from_tensor(t, block) for t, block in blocks]
        return multiply[(2, 2)](*maps, k, 64, 64, 32, num_stages=stages, num_warps=warps)

    compiled = both(monkeypatch, launch, c, rtol=1e-3, atol=1e-2)
    assert is_ahead(compiled) and " in_flight {" in compiled.asm["ttgir"]
    sk.assemble(compiled.asm["ptx"], "sm_90a")


@pytest.mark.parametrize("k", [32, 96])
def test_loops_in_loops(monkeypatch, k: int) -> None:
    generator = torch.Generator().manual_seed(k)
    a, b = (torch.randn((n, k), generator=generator).to(torch.float16) for n in (128, 128))
    c = torch.zeros((128, 128), dtype=torch.float32)

    def launch() -> Any:
        blocks = ((a, [64, 32]), (b, [64, 32]), (c, [64, 64]))
        maps = [TensorDescriptor.from_tensor(t, block) for t, block in blocks]
        return multiply_all[(1,)](*maps, k, 128, 128, 64, 64, 32, num_stages=3)

    compiled = both(monkeypatch, launch, c, rtol=1e-3, atol=1e-2)
    assert is_ahead(compiled) and compiled.asm["ttgir"].count("twg.barrier_init") == 1


@pytest.mark.parametrize("count", [0, 2, 4])
def test_places_that_the_loop_carries(monkeypatch, count: int) -> None:
    x, y = torch.randn((96, 16)), torch.zeros((16, 16))

    def launch() -> Any:
        maps = (TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16]))
        return carried_places[(1,)](*maps, count, 16, num_stages=3)

    assert is_ahead(both(monkeypatch, launch, y))


def test_loops_that_write_begin_nothing_ahead(monkeypatch) -> None:
    x, y = torch.randn((64, 16)), torch.randn((64, 16))

    def launch() -> Any:
        maps = (TensorDescriptor.from_tensor(t, [16, 16]) for t in (x, y))
        return writes_what_it_copies[(1,)](*maps, 3, 16, num_stages=3)

    assert not is_ahead(both(monkeypatch, launch, y))


def test_the_checks_look(monkeypatch) -> None:
    """A loop that asks once whether the copies are there, and goes on in any case, is reported."""
    import tiletwin.sim

    x, y = np.random.default_rng(0).normal(size=(64, 16)).astype(np.float32), np.zeros((16, 16), np.float32)
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")

    def launch() -> Any:
        maps = (TensorDescriptor.from_tensor(torch.from_numpy(t), [16, 16]) for t in (x, y))
        return largest_of_rows[(1,)](*maps, 0, 64, 16, 16, num_stages=3)

    compiled = launch()
    broken = re.sub(r"@!done bra\.uni waiting;", "", compiled.asm["ptx"])
    kernel = tiletwin.sim.load(broken)[compiled.asm.facts["name"]]
    values = list(
        itertools.chain(*((tiletwin.sim.tensor_map(t, (16, 16), swizzle=64), *t.shape, 16, 1) for t in (x, y)))
    )
    found = set()
    for seed in range(20):
        checks.clear()
        options = {"shared": compiled.asm.facts["shared"], "checks": "all", "schedule": f"seed:{seed},copies=drawn"}
        kernel(*values, 0, 64, 16, grid=1, block=128, **options)
        found |= {finding.check for finding in checks.findings()}
    checks.clear()
    assert {"async", "races"} <= found
