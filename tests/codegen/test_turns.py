"""Two groups of warps that take turns at the tensor cores: the same bits, under every schedule, and which loops do it.

Here:      attention on eight warps, as blocks of descriptors and as tiles of pointers, one loop and two.
Not here:  mistakes in turns (test_planted_protocol_mistakes.py), their operations (lit/turns.mlir), producers that
           loops ask for (test_producers.py).
Invariant: the other side is the same kernel with one buffer, which has no turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import test_producers as producers
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import checks
from tiletwin.codegen import assembler
from tiletwin.compiler import ASTSource
from tiletwin.tools.tensor_descriptor import TensorDescriptor

random, everything_checked = producers.random, producers.everything_checked
SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=late")
HOPPER = triton.backends.compiler.GPUTarget("cuda", 90, 32)


@triton.jit
def step(queries, keys, values, most, norm, sums, scale):
    scores = tl.dot(queries, keys) * scale
    higher = tl.maximum(most, tl.max(scores, 1))
    weights = tl.exp2(scores - higher[:, None])
    shrink = tl.exp2(most - higher)
    sums = tl.dot(weights.to(values.dtype), values, sums * shrink[:, None])
    return higher, norm * shrink + tl.sum(weights, 1), sums


@triton.jit
def described(q, k, v, out, count, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0) * BM
    queries = q.load([row, 0])
    most, norm = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for at in range(0, count, BN):
        most, norm, sums = step(queries, k.load([at, 0]).T, v.load([at, 0]), most, norm, sums, scale)
    out.store([row, 0], sums / norm[:, None])


@triton.jit
def two_loops(q, k, v, out, count, more, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Pointers. The second loop goes on behind the first one; other weights."""
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    most, norm = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    at_k = k + n[None, :] * D + d[:, None]
    at_v = v + n[:, None] * D + d[None, :]
    for _ in range(0, count, BN):
        most, norm, sums = step(queries, tl.load(at_k), tl.load(at_v), most, norm, sums, scale)
        at_k += BN * D
        at_v += BN * D
    for _ in range(count, more, BN):
        most, norm, sums = step(queries, tl.load(at_k), tl.load(at_v), most, norm, sums, scale * 0.5)
        at_k += BN * D
        at_v += BN * D
    tl.store(out + m[:, None] * D + d[None, :], sums / norm[:, None])


def same_bits(monkeypatch: pytest.MonkeyPatch, launch: Any, out: torch.Tensor, stages: int) -> str:
    """The ttgir of the launch with buffers."""

    def result(count: int, schedule: str) -> tuple[Any, bytes]:
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        out.fill_(7)
        compiled = launch(count)
        assert not checks.findings()
        return compiled.asm.launched["ttgir"], out.numpy().tobytes()

    plain, expected = result(1, "turns")
    assert "twg.turn" not in plain
    for schedule in SCHEDULES:
        text, found = result(stages, schedule)
        assert found == expected, schedule
    return text


@pytest.mark.parametrize("count", [0, 128, 384])
def test_blocks_of_descriptors(monkeypatch, count: int) -> None:
    q, k, v, out = random(128, 64), random(384, 64), random(384, 64), torch.zeros((128, 64))

    def launch(stages: int) -> Any:
        maps = [TensorDescriptor.from_tensor(x, [128, 64]) for x in (q, k, v, out)]
        return described[(1,)](*maps, count, 0.125, 128, 128, 64, num_stages=stages, num_warps=8)

    text = same_bits(monkeypatch, launch, out, 2)
    assert text.count("twg.turn_wait") == 2 and text.count("twg.turn_pass") == 3
    if count:
        weights = torch.softmax(q.float() @ k[:count].float().T * 0.125 * np.log(2), 1)
        torch.testing.assert_close(out, weights @ v[:count].float(), atol=0.01, rtol=0.01)


@pytest.mark.parametrize("count, more", [(128, 256), (0, 128), (128, 128)])
def test_two_loops_of_pointers(monkeypatch, count: int, more: int) -> None:
    """One ring serves both; no barrier of all warps stands in either."""
    q, k, v, out = random(128, 64), random(256, 64), random(256, 64), torch.zeros((128, 64))

    def launch(stages: int) -> Any:
        return two_loops[(1,)](q, k, v, out, count, more, -0.125, 128, 128, 64, num_stages=stages, num_warps=8)

    text = same_bits(monkeypatch, launch, out, 2)
    assert text.count("twg.turn_pass by 1") == 2 and text.count("twg.turn_pass by 0") == 2


def test_metadata_counts_the_warps_that_copy() -> None:
    signature = {name: "tensordesc<fp16[128, 64]>" for name in ("q", "k", "v")} | {"out": "tensordesc<fp32[128, 64]>"}
    signature |= {"count": "i32", "scale": "fp32"}
    source = ASTSource(described, signature, constexprs={"BM": 128, "BN": 128, "D": 64})
    kernel = triton.compile(source, target=HOPPER, options={"num_warps": 8, "num_stages": 2})
    assert kernel.metadata.num_warps == 12 and kernel.metadata.threads == 384


def compiled(block: int, width: int, **options: int) -> Any:
    signature = {name: "*fp16" for name in ("q", "k", "v", "out")} | dict.fromkeys(("count", "more"), "i32")
    signature |= {"scale": "fp32"}
    constants = {"BM": 128, "BN": block, "D": width}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(6)}
    source = ASTSource(two_loops, signature, constants, attributes)
    return triton.compile(source, target=HOPPER, options=options).asm.launched


@pytest.mark.parametrize(
    "block, width, warps, expected",
    [
        (128, 64, 8, True),
        (64, 128, 8, True),
        (64, 64, 8, False),  # turns are too short
        (128, 64, 4, False),  # one group
        (64, 64, 16, False),  # four groups
    ],
)
def test_which_loops_have_turns(block: int, width: int, warps: int, expected: bool) -> None:
    text = compiled(block, width, num_warps=warps, num_stages=2)["ttgir"]
    assert ("twg.turn" in text) == expected == ("twg.producer" in text)


@pytest.mark.skipif(assembler.find() is None, reason="there is no ptxas here")
@pytest.mark.parametrize("block, width", [(128, 64), (64, 128), (128, 128)])
def test_the_assembler_keeps_products_in_flight(block: int, width: int) -> None:
    asm = compiled(block, width, num_warps=8, num_stages=2)
    binary = asm.binary
    assert asm["ttgir"].count("twg.turn_wait") == 4  # both loops; loops that load use the memory of the rings
    assert binary.spill_stores == 0 and "serializ" not in binary.log.lower()
