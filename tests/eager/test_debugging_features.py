"""Breakpoints and prints in kernels that use every part of the language: what the debugger shows, and that the launch
goes on to the result that compiled mode gives."""

from __future__ import annotations

from pathlib import Path

import children
import pytest

PROLOGUE = """
from typing import NamedTuple
import numpy as np
import torch
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.language.extra import libdevice
"""

DESCRIPTOR = """
@triton.jit
def kernel(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [2, N])
    target = tl.make_tensor_descriptor(o_ptr, [M, N], [N, 1], [2, N])
    for i in range(0, M, 2):
        x = source.load([i, 0])
        print("rows", i, x)
        STOP
        target.store([i, 0], x * 2)

x = torch.arange(16.).reshape(4, 4)
o = torch.zeros(4, 4)
kernel[(1,)](x, o, 4, 4)
print("result", bool((o == 2 * x).all()))
"""

ATOMICS = """
@triton.jit
def kernel(count_ptr, o_ptr):
    pid = tl.program_id(0)
    before = tl.atomic_add(count_ptr, pid + 1)
    print("before", before)
    STOP
    tl.atomic_max(o_ptr, before)

count, o = np.array([5], np.int32), np.zeros(1, np.int32)
kernel[(3,)](count, o)
print("result", count.tolist() == [11] and o.tolist() == [8])
"""

WAITING = """
@triton.jit
def kernel(flag_ptr, o_ptr):
    pid = tl.program_id(0)
    if pid == 0:
        while tl.atomic_add(flag_ptr, 0) == 0:
            pass
        seen = tl.load(o_ptr)
        print("seen", seen)
        STOP
        tl.store(o_ptr + 1, seen + 1)
    else:
        tl.store(o_ptr, 41)
        tl.atomic_xchg(flag_ptr, 1)

flag, o = np.zeros(1, np.int32), np.zeros(2, np.int32)
kernel[(2,)](flag, o)
print("result", o.tolist() == [41, 42])
"""

AGGREGATE = """
class Pair(NamedTuple):
    low: tl.tensor
    high: tl.tensor

@triton.aggregate
class Counter:
    value: tl.tensor
    step: tl.constexpr

    @triton.jit
    def advance(self, pair):
        more = pair.high - pair.low
        print("more", more)
        STOP
        return Counter(self.value + more * self.step, self.step)

@triton.jit
def kernel(o_ptr, n):
    counter = Counter(n, 3)
    for i in range(2):
        counter = counter.advance(Pair(i, n))
    tl.store(o_ptr, counter.value)

o = np.zeros(1, np.int64)
kernel[(1,)](o, 7)
print("result", o.tolist() == [7 + 21 + 18])
"""

NESTED = """
@triton.jit
def inner(x, SCALE: tl.constexpr):
    y = x * SCALE
    print("y", y)
    STOP
    if SCALE > 2:
        return y
    return y + 1

@triton.jit
def apply(fn, x):
    return fn(x, SCALE=2) + fn(x, 3)

@triton.jit
def kernel(o_ptr):
    i = tl.arange(0, 4)
    tl.store(o_ptr + i, apply(inner, i))

o = np.zeros(4, np.int64)
kernel[(1,)](o)
print("result", o.tolist() == [1, 6, 11, 16])
"""

ASSEMBLY = """
@triton.jit
def kernel(x_ptr, o_ptr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("add.s32 $0, $1, 10;", "=r,r", [x], tl.int32, is_pure=True, pack=1)
    z = libdevice.ffs(y)
    print("y", y, z)
    STOP
    tl.store(o_ptr + i, y + z)

x, o = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
kernel[(1,)](x, o)
print("result", o.tolist() == [12, 12, 15, 14])
"""

COMBINING = """
@triton.jit
def combine(a, b):
    both = a + b
    return both

@triton.jit
def pairs(v, i, w, j):
    larger = v > w
    return tl.where(larger, v, w), tl.where(larger, i, j)

@triton.jit
def kernel(o_ptr):
    i = tl.arange(0, 4)
    scanned = tl.associative_scan(i, 0, combine)
    value, index = tl.reduce((i ^ 2, i), 0, pairs)
    doubled = tl.map_elementwise(plus, i, i)
    print("scanned", scanned, value, index)
    STOP
    tl.store(o_ptr + i, scanned + index + doubled)

@triton.jit
def plus(a, b):
    if a > 2:
        return a
    return a + b

o = np.zeros(4, np.int64)
kernel[(1,)](o)
print("result", o.tolist() == [0 + 1 + 0, 1 + 1 + 2, 3 + 1 + 4, 6 + 1 + 3])
"""

TENSOR = "tensor([{}], int32)"
# name: the kernels; what the debugger is asked; what is printed, each time it stops.
FEATURES = {
    "descriptor": (
        DESCRIPTOR,
        "p i, x.shape",
        ["(tensor(0, int32), (constexpr[2], constexpr[4]))", "(tensor(2, int32), (constexpr[2]"],
    ),
    "atomics": (ATOMICS, "p before", [f"tensor({n}, int32)" for n in (5, 6, 8)]),
    "waiting": (WAITING, "p seen", ["tensor(41, int32)"]),
    "aggregate": (AGGREGATE, "p self.value, pair.low", ["(tensor(7, int32), tensor(0, int32))", "tensor(1, int32))"]),
    "nested": (NESTED, "p y", [TENSOR.format("0, 2, 4, 6"), TENSOR.format("0, 3, 6, 9")]),
    "assembly": (ASSEMBLY, "p y", [TENSOR.format("10, 11, 12, 13")]),
    "combining": (COMBINING, "p scanned", [TENSOR.format("0, 1, 3, 6")]),
}
# What `print` shows in eager mode: scalars as numbers, blocks with their elements.
PRINTED = {
    "descriptor": "rows 2 tensor([[ 8.,  9., 10., 11.],",
    "atomics": "before 5\nbefore 6\nbefore 8\n",
    "waiting": "seen 41\n",
    "aggregate": "more 7\nmore 6\n",
    "nested": "y tensor([0, 2, 4, 6], int32)\ny tensor([0, 3, 6, 9], int32)\n",
    "assembly": "y tensor([10, 11, 12, 13], int32) tensor([2, 1, 3, 1], int32)\n",
    "combining": "scanned tensor([0, 1, 3, 6], int32) 3 1\n",
}


def run(folder: Path, text: str, commands: str, **environment: str) -> str:
    file = folder / "script.py"
    file.write_text(PROLOGUE + text)
    done = children.run(file, typed=commands, **environment)
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", FEATURES)
def test_breakpoint(name: str, tmp_path: Path) -> None:
    text, question, answers = FEATURES[name]
    shown = run(tmp_path, text.replace("STOP", "breakpoint()"), f"{question}\nn\nc\n" * len(answers))
    for answer in answers:
        assert answer in shown, shown
    assert shown.count("script.py(") == 2 * len(answers), shown  # where it stops, and where `n` leads
    assert "result True" in shown, shown


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in ("nested", "waiting") else pytest.mark.slow) for name in FEATURES]
)
def test_print(name: str, tmp_path: Path) -> None:
    text, _, _ = FEATURES[name]
    shown = run(tmp_path, text.replace("STOP", "pass"), "", TILETWIN_EAGER="1")
    assert "result True" in shown, shown
    assert PRINTED[name] in shown, shown
    assert "result True" in run(tmp_path, text.replace("STOP", "pass"), "", TILETWIN_EAGER="0")
