"""Products by mma: operands that are read late, words that lanes read without conflicts, conversions in front of loops.

Here:      where a loop reads its operands, what that leaves to the assembler, the same bits with one buffer.
Not here:  pipelines (test_pipelined_dots.py), products of warpgroups (test_dots_in_flight.py).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import test_gradients as gradients
import test_pipelined_dots as pipelined
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import counters
from tiletwin.codegen import assembler
from tiletwin.compiler import ASTSource

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"


def code_of(kernel: Any, signature: str, **options: Any) -> dict[str, Any]:
    ttir = triton.compile(ASTSource(kernel, signature), target="cuda:80", options=options).asm["ttir"]
    return small_kernels.compiled(ttir, "sm_80", **options)


def loop_of(code: dict[str, Any]) -> str:
    return code["ttgir"].split("scf.for")[1].split("scf.yield")[0]


def half(*shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


@small_kernels.of_simulator
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(
    ("m", "n", "k", "warps"), [(64, 64, 32, 4), (32, 128, 16, 2), (128, 16, 32, 8), (16, 8, 64, 1), (64, 32, 8, 4)]
)
def test_words_are_read_where_copies_put_them(m: int, n: int, k: int, warps: int, columns: bool) -> None:
    """tf32 along N, and along M if a is stored by columns: no ldmatrix transposes it."""
    with counters.collect() as launches:
        code = pipelined.check("f32", m, n, k, 112, "sm_80", columns, num_warps=warps, num_stages=3)
    assert "twg.convert_layout" not in loop_of(code)
    assert len(re.findall(r"ttg\.barrier", loop_of(code))) == 1
    assert counters.metrics_of(launches[0])[CONFLICTS].value == 0


def gradient_of_keys(stages: int, warps: int, d: int) -> tuple[dict[str, Any], np.ndarray]:
    """The code, and both gradients."""
    signature = (
        f"*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, *fp32:16, i32:16, fp32, {d}, 64, 128"
    )
    code = code_of(gradients.gradients, signature, num_warps=warps, num_stages=stages)
    q, do, k, v = (half(rows, d, seed=seed) for seed, rows in enumerate((128, 128, 128, 128)))
    lse = np.random.default_rng(4).standard_normal(128).astype(np.float32) + 4
    delta = np.random.default_rng(5).standard_normal(128).astype(np.float32)
    out = np.zeros((2, 128, d), np.float32)
    small_kernels.launch(code, q, k, v, do, lse, delta, out[0], out[1], 128, 0.125)
    p = np.exp2(k.astype(np.float64) @ q.T * 0.125 - lse)
    ds = p * (v.astype(np.float64) @ do.T - delta)
    for got, exact in zip(out, (ds @ q, p @ do), strict=True):
        assert np.abs(got - exact).max() <= 3e-3 * np.abs(exact).max()
    return code, out


@pytest.mark.parametrize(("warps", "d", "held"), [(4, 64, 0), (8, 128, 1)])
def test_fragments_that_registers_cannot_hold(warps: int, d: int, held: int) -> None:
    """Keys, or keys and values, stay in shared memory: four products read six fragments, and two sums are carried."""
    _, expected = gradient_of_keys(1, warps, d)
    code, out = gradient_of_keys(2, warps, d)
    assert out.tobytes() == expected.tobytes()
    assert code["ttgir"].split("scf.for")[0].count("twg.local_load") == held
    assert loop_of(code).count("twg.local_load") == 6 - held + 2  # and two lines


OF_QUERIES = f"{4 * '*fp16:16, '}{3 * '*fp32:16, '}i32:16, fp32, 64, 256, 64"


AS_WRITTEN = "{llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}"
"""What tl.range(disable_licm=True) says at a loop."""


@pytest.mark.parametrize("count", [0, 64, 192])
def test_what_stays_the_same_is_converted_once(count: int) -> None:
    """logs and deltas go from one warp to another: in front of the loop, or with barriers in each iteration. They
    have too many elements for two warps to load them again."""
    found = []
    options = {"num_warps": 2, "num_stages": 2}
    text = triton.compile(ASTSource(gradients.of_queries, OF_QUERIES), target="cuda:80", options=options).asm["ttir"]
    for hint in ("", AS_WRITTEN):
        code = small_kernels.compiled(re.sub(r"(?m)^    \} (?=loc)", rf"    }} {hint} ", text), "sm_80", **options)
        q, do, k, v = (half(rows, 64, seed=seed) for seed, rows in enumerate((256, 256, 192, 192)))
        lse, delta = (np.random.default_rng(seed).standard_normal(256).astype(np.float32) for seed in (4, 5))
        out = np.full((256, 64), 7, np.float32)
        small_kernels.launch(code, q, k, v, do, lse, delta, out, count, 0.125)
        found.append((loop_of(code).count("ttg.barrier"), loop_of(code).count("twg.convert_layout"), out.tobytes()))
    (barriers, conversions, moved), (more, others, written) = found
    assert moved == written
    assert (barriers, conversions) == (1, 0) and (more, others) == (3, 2)


ATTENTION = "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, fp32, 128, 128, 64"


@triton.jit
def attention(q, k, v, out, count, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, count, BN):
        at = (start + n)[:, None] * D + d[None, :]
        s = tl.dot(queries, tl.trans(tl.load(k + at))) * scale
        higher = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        shrink = tl.exp2(best - higher)
        acc = tl.dot(p.to(tl.float16), tl.load(v + at), acc * shrink[:, None])
        total = total * shrink + tl.sum(p, 1)
        best = higher
    tl.store(out + m[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


def test_fragments_that_registers_hold_stay_there() -> None:
    code = code_of(attention, ATTENTION.replace("128, 128, 64", "64, 128, 64"), num_warps=4, num_stages=2)
    assert code["ttgir"].split("scf.for")[0].count("twg.local_load") == 1


@pytest.mark.skipif(assembler.find() is None, reason="needs ptxas (pip install nvidia-cuda-nvcc)")
def test_nothing_is_spilled_while_registers_are_free() -> None:
    """ptxas 13.0 gives this kernel 32 registers, unless it is told that one block is enough."""
    code = code_of(attention, ATTENTION, num_warps=4, num_stages=2)
    binary, _ = assembler.assemble(code["ptx"], "sm_80", "attention")
    assert binary.registers >= 240 or not binary.spill_stores
