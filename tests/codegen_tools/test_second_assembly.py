"""What ptxas is given a second time, and which of its two results is taken.

Here:      texts with a limit of registers, for loops that add up what they load.
Not here:  the stages (test_real_stages.py), finding ptxas (tests/cuda/test_ptxas.py).
"""

from __future__ import annotations

import threading
from typing import Any

import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.codegen import assembler
from tiletwin.compiler import ASTSource, CompiledKernel
from tiletwin.cuda import ptxas
from tiletwin.cuda.ptxas import FunctionReport


@triton.jit
def row_sum(x, out, n, BLOCKS: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of a row of n numbers: of its blocks, or of a product that needs each block's sum."""
    at = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    total = 0.0
    for start in range(0, n, BLOCK):
        block = tl.load(x + start + at, mask=start + at < n, other=0.0).to(tl.float32)
        if BLOCKS:
            acc += block
        else:
            total += tl.sum(block * (1 + total), 0)
    tl.store(out, tl.sum(acc, 0) + total)


def compiled(form: str, warps: int = 8, **options: int) -> CompiledKernel:
    source = ASTSource(row_sum, f"*fp16:16, *fp32:16, i32:16, {form == 'blocks'}, 2048")
    return triton.compile(source, target="cuda:90", options={"num_warps": warps, **options})


@pytest.mark.parametrize(
    ("form", "options", "registers", "spilled", "expected"),
    [
        ("blocks", {"warps": 16}, 32, 0, True),
        ("blocks", {"warps": 32}, 32, 0, False),
        ("blocks", {}, 32, 0, True),
        ("blocks", {}, 56, 0, True),
        ("blocks", {}, 57, 0, False),
        ("blocks", {}, 32, 8, False),
        ("blocks", {"maxnreg": 40}, 32, 0, False),
        ("reductions", {}, 32, 0, False),
    ],
)
def test_which_texts_get_more_registers(
    form: str, options: dict[str, int], registers: int, spilled: int, expected: bool
) -> None:
    """A loop that waits for other warps in each round loads nothing ahead anyway. Two CTAs have to fit."""
    ptx = compiled(form, **options).asm["ptx"]
    text = assembler.with_more_registers(ptx, FunctionReport(registers=registers, spill_stores=spilled))
    assert (text is not None) == expected
    assert text is None or text.replace("\n.maxnreg 64", "") == ptx


@pytest.mark.skipif(ptxas.find() is None, reason="there is no ptxas")
@pytest.mark.parametrize("warps", [4, 8])
def test_ptxas_then_takes_more(warps: int) -> None:
    kernel = compiled("blocks", warps)
    (alone,) = ptxas.assemble(kernel.asm["ptx"], "sm_90a").functions.values()
    assert alone.registers < kernel.n_regs <= 64 and kernel.n_spills == 0


@pytest.mark.skipif(ptxas.find() is None, reason="there is no ptxas")
def test_both_texts_are_assembled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that nobody needs then may be one that ptxas does not take; one that is needed may not."""
    ptx = compiled("blocks").asm["ptx"]
    limited = assembler.with_more_registers(ptx, FunctionReport(registers=32))
    assert limited
    whole, seen = ptxas.Ptxas.assemble, []
    second_runs = threading.Event()

    def run(self: Any, text: str, *rest: Any, **named: Any) -> Any:
        seen.append(text)
        if text == limited:
            second_runs.set()
            raise ptxas.PTXASError("this one is refused")
        assert second_runs.wait(60)
        return whole(self, text, *rest, **named)

    monkeypatch.setattr(ptxas.Ptxas, "assemble", run)
    monkeypatch.setattr(assembler.stage_cache, "load", lambda *_: None)
    monkeypatch.setattr(assembler.stage_cache, "store", lambda *_: None)
    with pytest.raises(ptxas.PTXASError, match="refused"):
        assembler.assemble(ptx, "sm_90a", "row_sum")
    assert sorted(seen) == sorted([ptx, limited])
    monkeypatch.setattr(assembler, "with_more_registers", lambda *_: None)
    assert assembler.assemble(ptx, "sm_90a", "row_sum")[0].registers == 32
