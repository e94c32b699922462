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


@triton.jit
def largest_of_two(x, z, y, rows, B: tl.constexpr):
    """Two rings one after the other, in the same memory."""
    found = tl.full((B, B), float("-inf"), tl.float32)
    for row in range(0, rows, B):
        found = tl.maximum(found, x.load([row, 0]).to(tl.float32))
    for row in range(0, rows, B):
        found = tl.maximum(found, z.load([row, 0]).to(tl.float32))
    y.store([0, 0], found)


@triton.jit
def multiply_and_add(a, b, r, c, K, B: tl.constexpr, WS: tl.constexpr):
    """A block behind the loop, in memory that the loop's ring had."""
    sums = tl.zeros((B, B), tl.float32)
    for k in tl.range(0, K, B, warp_specialize=WS):
        sums = tl.dot(a.load([0, k]), b.load([k, 0]), sums)
    c.store([0, 0], sums + r.load([0, 0]).to(tl.float32))


@triton.jit
def multiply_in_place(x, p, w, rounds, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each round loads by a descriptor what the one before has stored by a pointer."""
    at = p + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    for _ in range(rounds):
        sums = tl.zeros((BM, BN), tl.float32)
        for k in range(0, BN, BK):
            sums = tl.dot(x.load([0, k]), w.load([k, 0]), sums)
        tl.store(at, sums.to(tl.float16))


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


SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=drawn", "seed:3,copies=late")


def filled(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(torch.float16) / 4


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("rounds, stages", [(1, 3), (4, 3), (5, 2)])
def test_rings_in_the_memory_of_rings(monkeypatch, rounds: int, stages: int, schedule: str) -> None:
    """The second one's first copies wait until all warps have read the first one's last slots."""
    monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
    x, z, y = filled(64 * rounds, 64), filled(64 * rounds + 64, 64)[:-64], torch.zeros((64, 64))

    def launch() -> Any:
        maps = (TensorDescriptor.from_tensor(tensor, [64, 64]) for tensor in (x, z, y))
        return largest_of_two[(1,)](*maps, 64 * rounds, 64, num_stages=stages)

    both(monkeypatch, launch, y)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("depth, specialized", [(64, False), (256, False), (256, True)])
def test_blocks_in_the_memory_of_rings(monkeypatch, depth: int, specialized: bool, schedule: str) -> None:
    monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
    a, b, r, c = filled(64, depth), filled(depth, 64), filled(64, 64), torch.zeros((64, 64))

    def launch() -> Any:
        maps = (TensorDescriptor.from_tensor(tensor, [64, 64]) for tensor in (a, b, r, c))
        return multiply_and_add[(1,)](*maps, depth, 64, specialized, num_stages=3)

    both(monkeypatch, launch, c, rtol=1e-3, atol=1e-3)


def test_rounds_see_what_rounds_before_have_stored(monkeypatch) -> None:
    """Nothing is copied ahead of the stores: a descriptor's memory may be that of a pointer."""
    x, w = filled(128, 256), filled(256, 256) / 4

    def launch() -> Any:
        maps = TensorDescriptor.from_tensor(x, [128, 64]), TensorDescriptor.from_tensor(w, [64, 256])
        return multiply_in_place[(1,)](maps[0], x, maps[1], 3, 128, 256, 64, num_stages=3, num_warps=8)

    assert "twg.producer" not in both(monkeypatch, launch, x, rtol=1e-2, atol=1e-2).asm["ttgir"]


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
