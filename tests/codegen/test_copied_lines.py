"""Lines of elements that a loop reads beside tiles for products: copied with these, or loaded where that cannot be.

Here:      which lines are copied, the same bits as loads give, that nothing moves them between threads again.
Not here:  the tiles (test_copied_loads.py), copies that warps of their own begin (test_producers.py).
Judge:     the same kernel with loads as they are written; the simulator looks for races and missing waits.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from copied_loads import Runs

ROWS, WIDTH, BLOCK = 64, 64, 64


@triton.jit
def weighted(
    a, b, less, factor, out, T, heads, FORM: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """Weights of a row of `a` for all rows of `b`, as gradients of attention have them, times these rows."""
    head = tl.program_id(0).to(tl.int64) * T
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    left = tl.load(a + m[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        if FORM == "front":
            first = tl.load(less + head + start + n)
        at = b + (head + (start + n)[:, None]) * D + d[None, :]
        if FORM == "masked":
            right = tl.load(at, mask=(start + n < T)[:, None], other=0.0)
        else:
            right = tl.load(at)
        s = tl.dot(left, tl.trans(right))
        if FORM == "front":
            p = s - first[None, :]
        elif FORM == "masked":
            p = s - tl.load(less + head + start + n, mask=start + n < T, other=0.0)[None, :]
        elif FORM == "filled":
            p = s - tl.load(less + head + start + n, mask=start + n < T, other=1.0)[None, :]
        elif FORM == "same":
            p = s - tl.load(less + head + n)[None, :]
        elif FORM == "reversed":
            p = s - tl.load(less + head + start + BN - 1 - n)[None, :]
        else:
            p = s - tl.load(less + head + start + n)[None, :]
        if FORM == "rows":
            p *= tl.load(factor + head + start + m)[:, None]
        elif FORM == "masked":
            p *= tl.load(factor + head + start + n, mask=start + n < T)[None, :]
        elif FORM != "one":
            p *= tl.load(factor + head + start + n)[None, :]
        acc = tl.dot(p.to(right.dtype), right, acc)
    if FORM == "written":
        tl.store(less + head + n, tl.sum(acc, 0))
    tl.store(out + tl.program_id(0) * BM * D + m[:, None] * D + d[None, :], acc)


def launched(
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    length: int = 192,
    block: int = BLOCK,
    kind: torch.dtype = torch.float32,
) -> str:
    """The ttgir of a launch, which gives the same bits as with loads."""
    heads, seed = 2, torch.Generator().manual_seed(3)
    a = torch.randn((ROWS, WIDTH), generator=seed).half()
    b = torch.randn((heads * length, WIDTH), generator=seed).half()
    less, factor = (torch.randn(heads * length, generator=seed).to(kind) for _ in range(2))
    out = torch.zeros((heads * ROWS, WIDTH))
    kept = less.clone()

    def launch(kernel: Any) -> Any:
        less.copy_(kept)
        return kernel[(heads,)](a, b, less, factor, out, length, heads, form, WIDTH, ROWS, block, num_stages=3)

    runs = Runs(monkeypatch, weighted, launch, out)
    assert runs.path() in ("copies", "both")  # both: lines that are loaded, beside copied tiles
    if form == "plain":
        scores = (a.float() @ b.float().T).reshape(ROWS, heads, length).transpose(0, 1)
        weights = (scores - less.reshape(heads, 1, length)) * factor.reshape(heads, 1, length)
        exact = weights.half().float() @ b.float().reshape(heads, length, WIDTH)
        torch.testing.assert_close(out.reshape(heads, ROWS, WIDTH), exact, rtol=2e-3, atol=0.3)
    compiled, _ = runs.once(True)
    return compiled.asm.launched["ttgir"]


def loop_of(text: str) -> str:
    """The loop with copies."""
    return next(part for part in text.split("scf.for")[1:] if "twg.barrier_wait" in part).split("scf.yield")[0]


@pytest.mark.parametrize(
    "form, copied, loaded",
    [
        ("plain", 2, 0),
        ("one", 1, 0),
        ("front", 2, 0),
        ("masked", 2, 0),
        ("rows", 2, 0),
        ("filled", 1, 1),  # copies fill with zeros
        ("same", 2, 0),
        ("reversed", 1, 1),
        ("written", 1, 1),
    ],
)
def test_which_lines_are_copied(monkeypatch, form: str, copied: int, loaded: int) -> None:
    loop = loop_of(launched(monkeypatch, form))
    assert loop.count("!tt.tensordesc<64xf32>") + loop.count("!tt.tensordesc<1x64xf32>") == copied
    assert len(re.findall(r"tt\.load|twg\.async_copy", loop)) == loaded
    # No thread gets elements of a line from another one, and one wait serves the tile and its lines.
    assert "convert_layout" not in loop or loaded
    assert loop.count("twg.barrier_wait") == 1


@pytest.mark.parametrize(
    "kind, block, copied", [(torch.float16, 64, 2), (torch.bfloat16, 64, 2), (torch.float16, 32, 0)]
)
def test_short_lines_are_loaded(monkeypatch, kind: torch.dtype, block: int, copied: int) -> None:
    """Buffers of several iterations follow each other at multiples of 128 bytes."""
    loop = loop_of(launched(monkeypatch, "plain", block=block, kind=kind))
    assert len(re.findall(rf"tensordesc<1x{block}x[fb]", loop)) == copied


@pytest.mark.parametrize("length", [192, 200, 40])
def test_tails_of_lines(monkeypatch, length: int) -> None:
    """Copies are zeros where the mask is false."""
    launched(monkeypatch, "masked", length)
