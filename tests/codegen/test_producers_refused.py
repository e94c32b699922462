"""Loops that ask for warps of their own in vain (tl.range(warp_specialize=True)): a warning says why.

Here:      each reason. Not here: loops that get them (test_producers.py).
Invariant: the code is that of a loop that does not ask.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.compiler import ASTSource

HOPPER = triton.backends.compiler.GPUTarget("cuda", 90, 32)


@triton.jit
def reads_what_it_writes(a, b, c, K, BM: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    for k in tl.range(0, K, BK, warp_specialize=WS):
        a.store([0, k], a.load([0, k]) + b.load([0, k]))


@triton.jit
def waits_for_others(a, b, c, p, K, BM: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    sums = tl.zeros((BM, BK), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        sums += a.load([0, k]) + b.load([0, k]) + tl.atomic_add(p, 1)
    c.store([0, 0], sums.to(tl.float16))


@triton.jit
def goes_where_a_block_says(a, b, c, K, BM: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    at = 0
    for _ in tl.range(0, K, BK, warp_specialize=WS):
        block = a.load([0, at * 8])
        c.store([0, 0], block)
        at = tl.max(tl.max(block.to(tl.int32), 1), 0)


@triton.jit
def has_no_blocks(a, b, c, p, K, BM: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    for k in tl.range(0, K, BK, warp_specialize=WS):
        tl.store(p + k, k)


@triton.jit
def returns_early(a, b, c, K, BM: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    if tl.program_id(0) > 3:
        return
    sums = tl.zeros((BM, BK), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        sums += a.load([0, k])
    c.store([0, 0], sums.to(tl.float16))


@triton.jit
def keeps_a_large_block(a, b, c, K, BM: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    for row in tl.range(0, K, BM, warp_specialize=WS):
        sums = tl.zeros((BM, BM), tl.float32)
        for k in range(0, K, BK):
            sums = tl.dot(a.load([row, k]), b.load([0, k]).T, sums)
        c.store([row, 0], sums.to(tl.float16))


@triton.jit
def asks_for_its_threads(a, b, c, p, K, BM: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    sums = tl.zeros((BM, BK), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        sums += a.load([0, k])
    many = tl.inline_asm_elementwise("mov.u32 $0, %ntid.x;", "=r,r", [tl.load(p)], dtype=tl.int32, is_pure=True, pack=1)
    c.store([0, 0], (sums * many).to(tl.float16))


SMALL = {"a": (64, 64), "b": (64, 64), "c": (64, 64)}
IN_VAIN = [
    (reads_what_it_writes, SMALL, {}, "the kernel writes what the loop loads"),
    (waits_for_others, SMALL, {}, "the kernel has a tt.atomic_rmw in front of it or in it"),
    (asks_for_its_threads, SMALL, {}, "the kernel has a tt.elementwise_inline_asm"),
    (goes_where_a_block_says, SMALL, {}, "are computed from takes all of the program's warps"),
    (has_no_blocks, SMALL, {}, "no load in it is a block"),
    (returns_early, SMALL, {}, "the kernel returns from the middle"),
    (keeps_a_large_block, SMALL, {"maxnreg": 255, "num_warps": 8}, "maxnreg=255 leaves no registers"),
    (returns_early, SMALL, {"num_warps": 2}, "num_warps of 4, 8 or 16, not 2"),
    (keeps_a_large_block, SMALL, {"num_stages": 1}, "num_stages=1 leaves one buffer"),
    (
        keeps_a_large_block, {"a": (256, 64), "b": (256, 64), "c": (256, 256)}, {"num_warps": 8, "num_stages": 3},
        "do not fit into shared memory",
    ),
]  # fmt: skip


@pytest.mark.parametrize("kernel, blocks, options, reason", IN_VAIN, ids=lambda value: getattr(value, "__name__", None))
def test_what_is_asked_in_vain(kernel: Any, blocks: Any, options: dict[str, int], reason: str) -> None:
    """A warning at the loop says why, and the code is that of a loop that does not ask."""
    used = {name: block for name, block in blocks.items() if name in kernel.arg_names}
    constants = {"BM": blocks["a"][0], "BK": blocks["a"][1], "WS": True}
    given = {"num_warps": 4, "num_stages": 3} | options

    def made(ws: bool) -> Any:
        signature = {name: f"tensordesc<fp16[{rows}, {columns}]>" for name, (rows, columns) in used.items()}
        signature |= {"K": "i32"} | ({"p": "*i32"} if "p" in kernel.arg_names else {})
        source = ASTSource(kernel, signature, constexprs=constants | {"WS": ws})
        return triton.compile(source, target=HOPPER, options=given).asm["ptx"]

    with pytest.warns(UserWarning, match=re.escape(reason)) as said:
        asked = made(True)
    lines = Path(__file__).read_text().splitlines()
    assert ["warp_specialize=WS" in lines[warning.lineno - 1] for warning in said] == [True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = made(False)

    def without_lines(text: str) -> str:
        return re.sub(r"(?m)^\s*(//|\.loc|\.file).*$|\s*//.*$", "", text.split(".section")[0])

    assert without_lines(asked) == without_lines(plain)


@pytest.mark.parametrize("capability", [100, 120])
def test_other_gpus(capability: int) -> None:
    target = triton.backends.compiler.GPUTarget("cuda", capability, 32)
    signature = {name: f"tensordesc<fp16[{rows}, {columns}]>" for name, (rows, columns) in SMALL.items()} | {"K": "i32"}
    source = ASTSource(keeps_a_large_block, signature, constexprs={"BM": 64, "BK": 64, "WS": True})
    with pytest.warns(UserWarning, match="for the products of sm_90a"):
        assert "setmaxnreg" not in triton.compile(source, target=target).asm["ptx"]
