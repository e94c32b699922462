"""Loops whose copies warps of their own begin (tl.range(warp_specialize=True)): the same bits, under every schedule.

Here:      loops in loops and branches, blocks read by products in flight, products waited for at once, and registers.
Not here:  what a loop asks for in vain (test_producers_refused.py); mistakes in the protocol
           (test_planted_protocol_mistakes.py); its operations (tests/codegen/lit/producers.mlir).
Invariant: the other side is the same kernel with one buffer and no such warps.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import checks
from tiletwin.codegen import assembler
from tiletwin.compiler import ASTSource
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS
from tiletwin.tools.tensor_descriptor import TensorDescriptor

SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=drawn", "seed:3,copies=late")
HOPPER = triton.backends.compiler.GPUTarget("cuda", 90, 32)


@triton.jit
def multiply(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        sums = tl.dot(a.load([row, k]), b.load([column, k]).T, sums)
    c.store([row, column], sums)


@triton.jit
def multiply_all(a, b, c, total, K, M, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    """Blocks one after the other; a sum down the columns goes from warp to warp, and out through a pointer."""
    block = 0
    for row in tl.range(0, M, BM, warp_specialize=WS):
        for column in range(0, N, BN):
            sums = tl.zeros((BM, BN), tl.float32)
            for k in range(0, K, BK):
                sums = tl.dot(a.load([row, k]), b.load([column, k]).T, sums)
            tl.store(total + block * BN + tl.arange(0, BN), tl.sum(sums, 0))
            c.store([row, column], sums)
            block += 1


@triton.jit
def multiply_some(a, b, c, table, K, M, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    """A table in memory says which blocks there are, and a branch stands around the loop over the sum."""
    for at in tl.range(0, M // BM, warp_specialize=WS):
        place = tl.load(table + at)
        if place >= 0:
            sums = tl.zeros((BM, BN), tl.float32)
            for k in range(0, K, BK):
                sums = tl.dot(a.load([place * BM, k]), b.load([0, k]).T, sums)
            c.store([at * BM, 0], sums)


@triton.jit
def one_loop(a, b, c, K, M, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    """All steps of all blocks in one loop: the result leaves in a branch, which also begins the next sum."""
    steps = tl.cdiv(K, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    step, row = 0, 0
    for _ in tl.range(0, steps * (M // BM), warp_specialize=WS):
        sums = tl.dot(a.load([row, step * BK]), b.load([0, step * BK]).T, sums)
        step += 1
        if step == steps:
            c.store([row, 0], sums)
            sums = tl.zeros((BM, BN), tl.float32)
            step = 0
            row += BM


@triton.jit
def attention(q, k, v, out, count, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WS: tl.constexpr):
    """Two blocks an iteration, each with a ring of its own, and products that are waited for at once."""
    row = tl.program_id(0) * BM
    rows = q.load([row, 0])
    most = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for at in tl.range(0, count, BN, warp_specialize=WS):
        scores = tl.dot(rows, k.load([at, 0]).T)
        higher = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(most - higher)
        norm = norm * shrink + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), v.load([at, 0]), sums * shrink[:, None])
        most = higher
    out.store([row, 0], sums / norm[:, None])


@triton.jit
def largest_of_rows(x, y, first, last, step, B: tl.constexpr, WS: tl.constexpr):
    """No products: threads read the blocks."""
    found = tl.full((B, B), float("-inf"), tl.float32)
    for row in tl.range(first, last, step, warp_specialize=WS):
        found = tl.maximum(found, x.load([row, 0]).to(tl.float32))
    y.store([0, 0], found)


@triton.jit
def two_loops(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    sums = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        sums = tl.dot(a.load([0, k]), b.load([0, k]).T, sums)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        sums = tl.dot(a.load([BM, k]), b.load([BN, k]).T, sums)
    c.store([0, 0], sums)


@triton.jit
def part_of_a_sum(a, b, c, count, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    """Each program adds its part; atomic accesses behind the loop."""
    sums = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(tl.program_id(0) * BK, K, BK * tl.num_programs(0), warp_specialize=WS):
        sums = tl.dot(a.load([0, k]), b.load([0, k]).T, sums)
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.atomic_add(c + at, sums.to(tl.int32))
    tl.atomic_add(count, 1)


@pytest.fixture(autouse=True)
def everything_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    checks.clear()


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(torch.float16)


def described(tensor: torch.Tensor, *block: int) -> TensorDescriptor:
    return TensorDescriptor.from_tensor(tensor, list(block))


def same_bits(
    monkeypatch: pytest.MonkeyPatch, launch: Callable[[bool, int], Any], *outs: torch.Tensor, stages: int = 3
) -> Any:
    """Launches with one buffer and without producers, then with both; returns the latter's kernel."""

    def results(ws: bool, count: int, schedule: str) -> tuple[Any, list[bytes]]:
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        for out in outs:
            out.fill_(7)
        compiled = launch(ws, count)
        assert not checks.findings()
        return compiled, [out.numpy().tobytes() for out in outs]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain, expected = results(False, 1, "turns")
        assert "twg.producer" not in plain.asm["ttgir"]
        for schedule in SCHEDULES:
            compiled, found = results(True, stages, schedule)
            assert found == expected, schedule
    assert compiled.asm["ttgir"].count("twg.producer 4") == 1
    return compiled


@pytest.mark.parametrize(
    "stages, warps, k, rows", [(2, 4, 96, 64), (3, 8, 130, 128), (5, 8, 64, 64), (3, 16, 96, 128), (3, 4, 0, 64)]
)
def test_products(monkeypatch, stages: int, warps: int, k: int, rows: int) -> None:
    a, b, c = random(128, k // 8 * 8 + 8), random(128, k // 8 * 8 + 8), torch.zeros((128, 128))

    def launch(ws: bool, count: int) -> Any:
        maps = described(a, rows, 32), described(b, 64, 32), described(c, rows, 64)
        return multiply[(128 // rows, 2)](*maps, k, rows, 64, 32, ws, num_stages=count, num_warps=warps)

    compiled = same_bits(monkeypatch, launch, c, stages=stages)
    read = -(-k // 32) * 32
    torch.testing.assert_close(c, a[:, :read].float() @ b[:, :read].float().T, atol=0.05, rtol=0.01)
    ptx = compiled.asm["ptx"]
    assert compiled.asm.facts["num_warps"] == warps + 4 and f".reqntid {32 * (warps + 4)}" in ptx
    behind = ptx[ptx.index("cp.async.bulk.tensor") :]
    assert re.findall(r"bar(?:rier)?\.sync\S*\s+([^;]*)", behind) == [f"1, {32 * warps}"] * behind.count("\tbar.sync")


@pytest.mark.parametrize("warps, k", [(4, 64), (8, 160), (4, 0)])
def test_blocks_one_after_the_other(monkeypatch, warps: int, k: int) -> None:
    """The producer is ahead across the blocks of the result; slots go on where the last block ended."""
    rows = 16 * warps
    a, b = random(2 * rows, max(k, 16)), random(128, max(k, 16))
    c, total = torch.zeros((2 * rows, 128)), torch.zeros((4, 64))

    def launch(ws: bool, count: int) -> Any:
        maps = described(a, rows, 32), described(b, 64, 32), described(c, rows, 64)
        sizes = (k, 2 * rows, 128, rows, 64, 32)
        return multiply_all[(1,)](*maps, total, *sizes, ws, num_stages=count, num_warps=warps)

    compiled = same_bits(monkeypatch, launch, c, total)
    torch.testing.assert_close(c, a[:, :k].float() @ b[:, :k].float().T, atol=0.05, rtol=0.01)
    assert "bar.sync \t1, " in compiled.asm["ptx"]


def test_blocks_of_a_table(monkeypatch) -> None:
    a, b, c = random(256, 96), random(64, 96), torch.zeros((256, 64))
    table = torch.tensor([3, -1, 0, 1], dtype=torch.int32)

    def launch(ws: bool, count: int) -> Any:
        maps = described(a, 64, 32), described(b, 64, 32), described(c, 64, 64)
        return multiply_some[(1,)](*maps, table, 96, 256, 64, 64, 32, ws, num_stages=count)

    same_bits(monkeypatch, launch, c)
    expected = (a.float() @ b.float().T).reshape(4, 64, 64)
    torch.testing.assert_close(c.reshape(4, 64, 64)[[0, 2, 3]], expected[[3, 0, 1]], atol=0.05, rtol=0.01)
    assert (c.reshape(4, 64, 64)[1] == 7).all()


def test_one_loop_over_all_blocks(monkeypatch) -> None:
    a, b, c = random(192, 96), random(64, 96), torch.zeros((192, 64))

    def launch(ws: bool, count: int) -> Any:
        maps = described(a, 64, 32), described(b, 64, 32), described(c, 64, 64)
        return one_loop[(1,)](*maps, 96, 192, 64, 64, 32, ws, num_stages=count)

    same_bits(monkeypatch, launch, c)
    torch.testing.assert_close(c, a.float() @ b.float().T, atol=0.05, rtol=0.01)


@pytest.mark.parametrize("warps", [4, 8])
def test_two_rings(monkeypatch, warps: int) -> None:
    rows = 16 * warps
    q, k, v, out = random(rows, 64), random(160, 64), random(160, 64), torch.zeros((rows, 64))

    def launch(ws: bool, count: int) -> Any:
        maps = described(q, rows, 64), described(k, 32, 64), described(v, 32, 64), described(out, rows, 64)
        return attention[(1,)](*maps, 160, rows, 32, 64, ws, num_stages=count, num_warps=warps)

    compiled = same_bits(monkeypatch, launch, out, stages=2)
    weights = torch.softmax(q.float() @ k.float().T * np.log(2), 1)
    torch.testing.assert_close(out, weights @ v.float(), atol=0.01, rtol=0.01)
    assert compiled.asm["ttgir"].count("arrivals") == 2


@pytest.mark.parametrize("first, last, step", [(0, 0, 1), (8, 120, 16), (5, 0, 3), (-20, 40, 7)])
def test_blocks_in_registers(monkeypatch, first: int, last: int, step: int) -> None:
    x, y = random(144, 16), torch.zeros((16, 16))

    def launch(ws: bool, count: int) -> Any:
        return largest_of_rows[(1,)](
            described(x, 16, 16), described(y, 16, 16), first, last, step, 16, ws, num_stages=count
        )

    same_bits(monkeypatch, launch, y)


def test_two_loops(monkeypatch) -> None:
    a, b, c = random(128, 96), random(128, 96), torch.zeros((64, 64))

    def launch(ws: bool, count: int) -> Any:
        maps = described(a, 64, 32), described(b, 64, 32), described(c, 64, 64)
        return two_loops[(1,)](*maps, 96, 64, 64, 32, ws, num_stages=count)

    compiled = same_bits(monkeypatch, launch, c, stages=2)
    assert compiled.asm["ttgir"].count("arrivals") == 1  # one ring serves both


def test_atomic_accesses_behind_the_loop(monkeypatch) -> None:
    a = torch.arange(64 * 96).reshape(64, 96) % 7 - 3
    b = torch.arange(64 * 96).reshape(64, 96) % 5 - 2
    c, count = torch.zeros((64, 64), dtype=torch.int32), torch.zeros(1, dtype=torch.int32)

    def launch(ws: bool, stages: int) -> Any:
        maps = described(a.to(torch.float16), 64, 32), described(b.to(torch.float16), 64, 32)
        return part_of_a_sum[(2,)](*maps, c, count, 96, 64, 64, 32, ws, num_stages=stages)

    same_bits(monkeypatch, launch, c, count)
    assert count == 7 + 2 and (c == 7 + a @ b.T).all()


def compiled(kernel: Any, blocks: dict[str, tuple[int, int]], constants: dict[str, Any], **options: int) -> Any:
    signature = dict.fromkeys(kernel.arg_names, "i32")
    signature |= {name: f"tensordesc<fp16[{rows}, {columns}]>" for name, (rows, columns) in blocks.items()}
    signature = {name: kind for name, kind in signature.items() if name not in constants}
    return triton.compile(ASTSource(kernel, signature, constexprs=constants), target=HOPPER, options=options)


@pytest.mark.skipif(assembler.find() is None, reason="there is no ptxas here")
@pytest.mark.parametrize("sizes, warps", [((128, 256, 64), 8), ((64, 128, 64), 4)])
def test_the_assembler_keeps_products_in_flight(sizes: tuple[int, int, int], warps: int) -> None:
    m, n, k = sizes
    constants = {"BM": m, "BN": n, "BK": k, "WS": True}
    kernel = compiled(multiply, {"a": (m, k), "b": (n, k), "c": (m, n)}, constants, num_warps=warps, num_stages=3)
    binary = kernel.asm.binary
    assert binary.spill_stores == 0 and "serializ" not in binary.log.lower()
    assert kernel.metadata.num_warps == warps + 4 and kernel.metadata.threads == 32 * (warps + 4)
    (numbers,) = re.findall(r"twg.producer 4 registers \[(\d+), (\d+)\]", kernel.asm["ttgir"])
    producer, program = map(int, numbers)
    (at_start,) = map(int, re.findall(r"\.maxnreg (\d+)", kernel.asm["ptx"]))
    assert binary.registers == at_start
    assert 4 * producer + warps * program <= (warps + 4) * at_start and 32 * (warps + 4) * at_start <= 65536
    assert f"setmaxnreg.dec.sync.aligned.u32 \t{producer};" in kernel.asm["ptx"]
    assert f"setmaxnreg.inc.sync.aligned.u32 \t{program};" in kernel.asm["ptx"]
