"""Loops with four products, as gradients of attention have: warps of their own copy, no barrier of all warps is left.

Here:      the bits of one buffer under every schedule, which such loops have a producer, the assembler's word.
Not here:  lines beside the tiles (test_copied_lines.py), turns (test_turns.py), mistakes in rings
           (test_planted_protocol_mistakes.py).
"""

from __future__ import annotations

from typing import Any

import pytest
import test_turns as turns
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin.codegen import assembler
from tiletwin.compiler import ASTSource

everything_checked, random = turns.everything_checked, turns.random


@triton.jit
def gradients(q, k, v, do, lse, delta, dk, dv, count, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Of keys and values. lse: base-2 logarithm of a row's sum of exp2(scores). delta: a row's sum of out * do."""
    n, m, d = tl.arange(0, BN), tl.arange(0, BM), tl.arange(0, D)
    own = n[:, None] * D + d[None, :]
    keys, values = tl.load(k + own), tl.load(v + own)
    sum_k = tl.zeros((BN, D), tl.float32)
    sum_v = tl.zeros((BN, D), tl.float32)
    for start in range(0, count, BM):
        at = (start + m)[:, None] * D + d[None, :]
        queries, gradient = tl.load(q + at), tl.load(do + at)
        p = tl.exp2(tl.dot(keys, tl.trans(queries)) * scale - tl.load(lse + start + m)[None, :])
        sum_v = tl.dot(p.to(v.dtype.element_ty), gradient, sum_v)
        ds = p * (tl.dot(values, tl.trans(gradient)) - tl.load(delta + start + m)[None, :])
        sum_k = tl.dot(ds.to(k.dtype.element_ty), queries, sum_k)
    tl.store(dk + own, sum_k)
    tl.store(dv + own, sum_v)


@pytest.mark.parametrize("dtype, count", [(torch.float16, 0), (torch.float16, 64), (torch.bfloat16, 256)])
def test_gradients_have_the_bits_of_one_buffer(monkeypatch, dtype: torch.dtype, count: int) -> None:
    q, do = (random(256, 64).to(dtype) for _ in range(2))
    k, v = (random(128, 64).to(dtype) for _ in range(2))
    lse, delta = (torch.randn(256, generator=torch.Generator().manual_seed(n)) for n in range(2))
    out = torch.zeros((2, 128, 64))

    def launch(stages: int) -> Any:
        options = {"num_stages": stages, "num_warps": 8}
        return gradients[(1,)](q, k, v, do, lse, delta, out[0], out[1], count, 0.125, 64, 64, 128, **options)

    text = turns.same_bits(monkeypatch, launch, out, 3)
    loop = next(part for part in text.split("scf.for") if part.count("twg.warpgroup_dot") == 4)
    assert "twg.producer" in text and "ttg.barrier" not in loop.split("scf.yield")[0]
    assert loop.count("in_flight") == 4
    q, k, v, do = (x[:count].double() if len(x) == 256 else x.double() for x in (q, k, v, do))
    p = torch.exp2(k @ q.T * 0.125 - lse[:count])
    ds = p * (v @ do.T - delta[:count])
    bound = 2e-2 if dtype == torch.bfloat16 else 3e-3
    for got, exact in zip(out.double(), (ds @ q, p @ do), strict=True):
        assert (got - exact).abs().max() <= bound * exact.abs().max()


@triton.jit
def all_gradients(
    q,
    k,
    v,
    do,
    lse,
    delta,
    dq,
    dk,
    dv,
    count,
    scale,
    ADDED: tl.constexpr,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    """Those of queries, too, which each round adds to memory."""
    n, m, d = tl.arange(0, BN), tl.arange(0, BM), tl.arange(0, D)
    own = n[:, None] * D + d[None, :]
    keys, values = tl.load(k + own), tl.load(v + own)
    sum_k, sum_v = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    for start in range(0, count, BM):
        at = (start + m)[:, None] * D + d[None, :]
        queries, gradient = tl.load(q + at), tl.load(do + at)
        p = tl.exp2(tl.dot(queries, tl.trans(keys)) * scale - tl.load(lse + start + m)[:, None])
        sum_v = tl.dot(tl.trans(p.to(v.dtype.element_ty)), gradient, sum_v)
        ds = (p * (tl.dot(gradient, tl.trans(values)) - tl.load(delta + start + m)[:, None])).to(k.dtype.element_ty)
        sum_k = tl.dot(tl.trans(ds), queries, sum_k)
        of_queries = tl.dot(ds, keys)
        if ADDED:
            tl.atomic_add(dq + at, of_queries, sem="relaxed")
        else:
            tl.store(dq + at, tl.load(dq + at) + of_queries)
    tl.store(dk + own, sum_k)
    tl.store(dv + own, sum_v)


@pytest.mark.parametrize("added", [True, False])
@pytest.mark.parametrize("count, block, warps", [(0, 64, 4), (64, 64, 4), (256, 64, 8), (256, 128, 8)])
def test_loops_that_write_copy_what_they_do_not_write(
    monkeypatch, added: bool, count: int, block: int, warps: int
) -> None:
    q, do = (random(256, 64) for _ in range(2))
    k, v = (random(128, 64) for _ in range(2))
    lse, delta = (torch.randn(256, generator=torch.Generator().manual_seed(n)) for n in range(2))
    out = torch.zeros(4, 128, 64)

    def launch(stages: int) -> Any:
        out.zero_()
        options = {"num_stages": stages, "num_warps": warps}
        grads = out[:2].view(256, 64), out[2], out[3]
        return all_gradients[(1,)](q, k, v, do, lse, delta, *grads, count, 0.125, added, 64, block, 128, **options)

    text = turns.same_bits(monkeypatch, launch, out, 3)
    assert "twg.tensor_load" in text
    q, k, v, do = (x[:count].double() if len(x) == 256 else x.double() for x in (q, k, v, do))
    p = torch.exp2(k @ q.T * 0.125 - lse[:count])
    ds = p * (v @ do.T - delta[:count])
    found = out[:2].view(256, 64)[:count], out[2], out[3]
    for got, exact in zip(found, (ds.T @ k, ds @ q, p @ do), strict=True):
        assert (got.double() - exact).abs().max() <= 3e-3 * max(exact.abs().max(), 1) if count else not got.any()


@triton.jit
def of_queries(q, k, v, do, lse, delta, dq, count, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    own = m[:, None] * D + d[None, :]
    queries, gradient = tl.load(q + own), tl.load(do + own)
    logs, deltas = tl.load(lse + m), tl.load(delta + m)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, count, BN):
        at = (start + n)[:, None] * D + d[None, :]
        keys, values = tl.load(k + at), tl.load(v + at)
        p = tl.exp2(tl.dot(queries, tl.trans(keys)) * scale - logs[:, None])
        ds = p * (tl.dot(gradient, tl.trans(values)) - deltas[:, None])
        acc = tl.dot(ds.to(q.dtype.element_ty), keys, acc)
    tl.store(dq + own, acc)


@pytest.mark.parametrize("count", [0, 64, 256])
def test_gradients_of_queries_take_turns(monkeypatch, count: int) -> None:
    """Two products in front of the wait, one behind it."""
    q, do = (random(128, 64) for _ in range(2))
    k, v = (random(256, 64) for _ in range(2))
    lse, delta = (torch.randn(128, generator=torch.Generator().manual_seed(n)) for n in range(2))
    out = torch.zeros((128, 64))

    def launch(stages: int) -> Any:
        options = {"num_stages": stages, "num_warps": 8}
        return of_queries[(1,)](q, k, v, do, lse, delta, out, count, 0.125, 64, 128, 64, **options)

    assert turns.same_bits(monkeypatch, launch, out, 3).count("twg.turn_wait") == 2
    k, v = k[:count].double(), v[:count].double()
    p = torch.exp2(q.double() @ k.T * 0.125 - lse[:, None])
    exact = (p * (do.double() @ v.T - delta[:, None])) @ k
    assert (out.double() - exact).abs().max() <= 3e-3 * max(exact.abs().max(), 1)


def compiled(width: int, **options: int) -> Any:
    signature = {name: "*fp16" for name in ("q", "k", "v", "do")} | {"lse": "*fp32", "delta": "*fp32"}
    signature |= {"dk": "*fp32", "dv": "*fp32", "count": "i32", "scale": "fp32"}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(9)}
    source = ASTSource(gradients, signature, {"D": width, "BM": 64, "BN": 128}, attributes)
    return triton.compile(source, target=turns.HOPPER, options=options).asm.launched


@pytest.mark.parametrize(
    "width, warps, expected",
    [
        (64, 8, True),
        (128, 8, False),  # four products in flight take all registers
        (64, 4, False),
        (64, 16, False),
    ],
)
def test_which_loops_have_a_producer(width: int, warps: int, expected: bool) -> None:
    assert ("twg.producer" in compiled(width, num_warps=warps, num_stages=3)["ttgir"]) == expected


@pytest.mark.skipif(assembler.find() is None, reason="there is no ptxas here")
def test_the_assembler_keeps_gradients_in_flight() -> None:
    """Both matrices that the loop does not change are in registers, and there are still enough."""
    asm = compiled(64, num_warps=8, num_stages=3)
    loop = next(part for part in asm["ttgir"].split("scf.for") if part.count("twg.warpgroup_dot") == 4)
    assert loop.count(": tensor<128x64xf16") >= 4
    assert asm.binary.spill_stores == 0 and "serializ" not in asm.binary.log.lower()


@triton.jit
def described(q, k, v, do, lines, out, count, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The same with descriptors. lines: rows of lse and delta. out: gradients of keys, then of values."""
    keys, values = k.load([0, 0]), v.load([0, 0])
    sum_k = tl.zeros((BN, D), tl.float32)
    sum_v = tl.zeros((BN, D), tl.float32)
    for start in range(0, count, BM):
        queries, gradient = q.load([start, 0]), do.load([start, 0])
        lse, delta = lines.load([0, start]), lines.load([1, start])
        p = tl.exp2(tl.dot(keys, tl.trans(queries)) * scale - lse)
        sum_v = tl.dot(p.to(tl.float16), gradient, sum_v)
        ds = p * (tl.dot(values, tl.trans(gradient)) - delta)
        sum_k = tl.dot(ds.to(tl.float16), queries, sum_k)
    out.store([0, 0], sum_k)
    out.store([BN, 0], sum_v)
