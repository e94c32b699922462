"""Maxima of scaled numbers that are scaled behind the reduction: the same bits, and for which factors.

Here:      loops with copied loads, whose other loop multiplies first: factors of all kinds, with NaN, infinities and
           zeros among what is scaled.
Not here:  other conditions of copied loads (test_copied_loads.py).
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from copied_loads import Runs


@triton.jit
def largest(a, b, out, scale, K, LEAST: tl.constexpr, B: tl.constexpr):
    """Of each row of all blocks of a product, scaled; what fma gives of the same product is summed up."""
    rows, along = tl.arange(0, 64), tl.arange(0, B)
    left = tl.load(a + rows[:, None] * B + along[None, :])
    most = tl.full((64,), float("inf") if LEAST else -float("inf"), tl.float32)
    total = tl.zeros((64,), tl.float32)
    at = b + along[None, :] * B + along[:, None]
    for _ in range(0, K, B):
        scores = tl.dot(left, tl.load(at)) * (scale * 2.0)
        if LEAST:
            most = tl.minimum(most, tl.min(scores, 1))
        else:
            most = tl.maximum(most, tl.max(scores, 1))
        total += tl.sum(scores - most[:, None], 1)
        at += B * B
    tl.store(out + rows, most)
    tl.store(out + 64 + rows, total)


FACTORS = {
    "copies": (0.125, 1.0, 1.5e38, 1e-44, 2.0**-126),
    "loads": (-0.125, 0.0, -0.0, 3e38, math.inf, -math.inf, math.nan, -1e-44),
}


def operands() -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of the product: of all kinds of numbers, of one kind, and random ones."""
    random = torch.Generator().manual_seed(5)
    a, b = torch.randn((64, 64), generator=random), torch.randn((128, 64), generator=random)
    a[0], a[1], a[2], a[3] = 0.0, -0.0, math.nan, math.inf
    a[4, 7], a[5, 9], a[6] = math.inf, math.nan, 1e-6
    b[3], b[70] = 0.0, math.nan
    return a.to(torch.float16), b.to(torch.float16)


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("ran, factor", [(ran, factor) for ran, all in FACTORS.items() for factor in all])
def test_factors(monkeypatch: pytest.MonkeyPatch, ran: str, factor: float, least: bool) -> None:
    a, b = operands()
    out = torch.zeros(128)

    def launch(kernel: Any) -> Any:
        return kernel[(1,)](a, b, out, factor, 128, least, 64, num_stages=2)

    assert Runs(monkeypatch, largest, launch, out).path() == ran


@pytest.mark.parametrize("scaled", [True, False])
def test_how_often_it_multiplies(monkeypatch: pytest.MonkeyPatch, scaled: bool) -> None:
    """Once for each of a thread's two rows and not for its 32 elements, if nobody else needs the scaled numbers."""
    a, b = operands()
    out = torch.zeros(128)

    def launch(kernel: Any) -> Any:
        return kernel[(1,)](a, b, out, 0.5, 128, False, 64, num_stages=2, enable_fp_fusion=scaled)

    compiled, _ = Runs(monkeypatch, largest, launch, out).once(True)
    text = compiled.asm.launched["ptx"]
    loops = [part for part in text.split("wgmma.mma_async")[1:] if "max.f32" in part]
    assert len(loops) == 2  # with copies, and the other one
    assert sorted(part.count("mul.rn.f32") > 30 for part in loops) == ([False, True] if scaled else [True, True])
