"""Code for launches of few programs, one a multiprocessor: rings with more buffers than num_stages.

Here:      the same bits as with one buffer under several orders of warps and copies; how many buffers there are.
Not here:  which loads such a launch copies ahead (test_loads_of_operands.py), which launch runs it
           (tests/cuda/test_fake_jit_launch.py), rings as such (test_pipelined_tensor_copies.py).
Invariant: the simulator looks for all mistakes.
"""

from __future__ import annotations

import re
from typing import Any

import copied_load_kernels as kernels
import pytest
import tile_loop_kernels
import tiletwin as triton
import torch
from tiletwin import checks
from tiletwin.codegen.stages import AsmDict
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS
from tiletwin.tools.tensor_descriptor import TensorDescriptor

SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=drawn", "seed:3,copies=late")


@pytest.fixture(autouse=True)
def small_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AsmDict, "launched", property(lambda self: self.launched_singly))
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    checks.clear()


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).half()


def slots(compiled: Any) -> int:
    """Of the first ring."""
    found = re.search(r"twg.local_alloc .*-> <(\d+)x\d+x\d+xf16", compiled.asm.launched_singly["ttgir"])
    assert found
    return int(found[1])


def same_bits(monkeypatch: pytest.MonkeyPatch, launch: Any, out: torch.Tensor, stages: int) -> Any:
    def result(schedule: str, stages: int) -> tuple[Any, bytes]:
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        out.fill_(7)
        compiled = launch(stages)
        assert not checks.findings()
        return compiled, out.view(torch.uint8).numpy().tobytes()

    _, expected = result("turns", 1)
    for schedule in SCHEDULES:
        compiled, found = result(schedule, stages)
        assert found == expected, schedule
    return compiled


@pytest.mark.parametrize(
    ("block", "warps", "copied", "found"),
    [
        ((64, 64, 32), 4, True, 8),
        ((128, 128, 64), 8, True, 5),
        ((64, 64, 32), 4, False, 3),
        ((32, 32, 32), 2, False, 3),
    ],
)
@pytest.mark.parametrize("depth", [16, 32, 64, 320, 352])
def test_products(monkeypatch, block: tuple[int, ...], warps: int, copied: bool, found: int, depth: int) -> None:
    """Loops that are shorter than the ring, as long, and longer. Copies by threads have num_stages buffers."""
    monkeypatch.setenv("TILETWIN_COPIED_LOADS", str(int(copied)))
    a, b, c = random(128, depth), random(depth, 128), torch.zeros((128, 128), dtype=torch.float16)
    numbers = 128, 128, depth, *a.stride(), *b.stride(), *c.stride()
    grid = (128 // block[0] * (128 // block[1]),)

    def launch(stages: int) -> Any:
        kernel = triton.jit(kernels.grouped.fn)
        return kernel[grid](a, b, c, *numbers, *block, 2, num_warps=warps, num_stages=stages)

    compiled = same_bits(monkeypatch, launch, c, 3)
    torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-1)
    assert slots(compiled) == found
    assert ("cp.async.bulk.tensor" in compiled.asm.launched_singly["ptx"]) == copied


def test_products_that_a_loop_makes_new(monkeypatch) -> None:
    q, k, v = (torch.randn((2, 256, 64), generator=torch.Generator().manual_seed(s)).half() / 8 for s in (1, 2, 3))
    out = torch.zeros((2, 256, 64))

    def launch(stages: int) -> Any:
        kernel = triton.jit(tile_loop_kernels.attention.fn)
        return kernel[(2, 2)](q, k, v, out, 256, 64, 128, 64, num_warps=8, num_stages=stages)

    same_bits(monkeypatch, launch, out, 2)
    scores = torch.softmax(q.float() @ k.float().mT * 0.6931471805599453, -1)
    torch.testing.assert_close(out, scores @ v.float(), rtol=1e-2, atol=1e-3)


def test_blocks_of_descriptors(monkeypatch) -> None:
    a, b, c = random(128, 320), random(320, 128), torch.zeros((128, 128), dtype=torch.float16)

    def launch(stages: int) -> Any:
        described = TensorDescriptor.from_tensor(a, [64, 32])
        kernel = triton.jit(tile_loop_kernels.one_described.fn)
        return kernel[(2, 2)](described, b, c, 128, 128, 320, 64, 64, 32, num_warps=4, num_stages=stages)

    assert slots(same_bits(monkeypatch, launch, c, 3)) == 8
    torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-1)


def test_one_buffer_stays_one_and_memory_is_never_too_short() -> None:
    a, b, c = random(256, 512), random(512, 256), torch.zeros((256, 256), dtype=torch.float16)
    numbers = 256, 256, 512, *a.stride(), *b.stride(), *c.stride()

    def compiled(stages: int, *block: int, warps: int) -> Any:
        return triton.jit(kernels.grouped.fn).warmup(
            a, b, c, *numbers, *block, 2, grid=(1,), num_warps=warps, num_stages=stages
        )

    assert "twg.memdesc_index" not in compiled(1, 64, 64, 64, warps=4).asm.launched_singly["ttgir"]
    for block, warps, stages in (((128, 256, 64), 8, 4), ((256, 128, 64), 8, 3), ((128, 256, 128), 8, 2)):
        assert compiled(stages, *block, warps=warps).asm.launched_singly.facts["shared"] <= 227 * 1024
