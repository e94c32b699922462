"""Which parameters a kernel reads and writes, as a compiled function is told."""

from __future__ import annotations

import pytest
import tiletwin as triton
import tiletwin.language as tl

pytest.importorskip("torch")
from tiletwin.inductor.accesses import accesses


@triton.jit
def put(p, value, mask):
    tl.store(p, value, mask)


@triton.jit
def loop(x, y, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p, q = o + i, x + i
    for _ in range(n):
        put(p, tl.load(q, i < n), i < n)
        p, q = p + B, q + B
    tl.store(o, tl.load(y))


@triton.jit
def swapped(x, y, o, n, B: tl.constexpr):
    p, q = x, y
    for _ in range(n):
        p, q = q, p
    tl.store(p, tl.load(o))


@triton.jit
def chosen(x, y, o, n, B: tl.constexpr):
    p = x
    if n > 5:
        p = y
    tl.store(p, tl.load(o))


@triton.jit
def branches(x, y, o, n, B: tl.constexpr):
    total = 0.0
    if n > 5:
        total += tl.load(x)
        tl.store(y, total)
    else:
        total += tl.sum(tl.load(x + tl.arange(0, B)))
    tl.store(o, total)


@triton.jit
def counted(x, y, o, n, B: tl.constexpr):
    tl.atomic_add(x, tl.load(y))


@triton.jit
def looked_up(x, y, o, n, B: tl.constexpr):
    tl.store(o + tl.load(y).to(tl.int32), tl.load(x + tl.load(y).to(tl.int32)))


@triton.jit
def waiting(x, y, o, n, B: tl.constexpr):
    while tl.load(x) == 0:
        tl.store(o, 1)


@pytest.mark.parametrize(
    ("kernel", "read", "written"),
    [
        (loop, "xy", "o"),
        (swapped, "o", "xy"),
        (chosen, "o", "xy"),
        (branches, "x", "yo"),
        (counted, "xy", "x"),
        (looked_up, "xy", "o"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_accesses(kernel, read: str, written: str) -> None:
    found = accesses(text_of(kernel))
    assert found is not None
    assert [set(map("xyon".__getitem__, part)) - {"n"} for part in found] == [set(read), set(written)]


def test_what_is_not_known_is_not_told() -> None:
    assert accesses(text_of(waiting)) is None


def text_of(kernel) -> str:
    types = dict.fromkeys(("x", "y", "o"), "*fp32") | {"n": "i32", "B": "constexpr"}
    return triton.compile(triton.compiler.ASTSource(kernel, types, {"B": 16})).asm["ttir"]
