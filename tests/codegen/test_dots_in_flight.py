"""Products of warpgroups that stay in flight while their loop goes on.

The judges: the bits of the same kernel with num_stages = 1, where every product is waited for at once; NumPy; and the
simulator, where a product lands only when it is waited for, with all its checks. What they can find is tested with code
from which waits and barriers were taken out.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any

import numpy as np
import pytest
import small_kernels
import tiletwin as triton
import tiletwin.checks
import tiletwin.language as tl
import tiletwin.sim
from tiletwin.compiler import ASTSource


@triton.jit
def matmul(
    a, b, c, K, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EPILOGUE: tl.constexpr
):  # fmt: skip
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a = a + m[:, None] * sak + k[None, :]
    at_b = b + k[:, None] * sbk + n[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        left = tl.load(at_a, mask=k[None, :] < K - i, other=0.0)
        right = tl.load(at_b, mask=k[:, None] < K - i, other=0.0)
        acc = tl.dot(left, right, acc)
        at_a += BK
        at_b += BK * sbk
    if EPILOGUE == 1:
        acc = tl.where(acc > 0, acc, acc * 0.25) + tl.sum(acc, 1)[:, None]
    tl.store(c + m[:, None] * BN + n[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def persistent(a, b, c, tiles, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TOTAL: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for tile in range(tiles):
        at_a = a + (tile * BM + m[:, None]) * TOTAL + k[None, :]
        at_b = b + k[:, None] * BN + n[None, :]
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in range(0, K, BK):
            acc = tl.dot(tl.load(at_a), tl.load(at_b), acc)
            at_a += BK
            at_b += BK * BN
        tl.store(c + (tile * BM + m[:, None]) * BN + n[None, :], acc)


@triton.jit
def two_sums(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TOTAL: tl.constexpr):
    """c[0] = a @ b, c[1] = a @ -b."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a = a + m[:, None] * TOTAL + k[None, :]
    at_b = b + k[:, None] * BN + n[None, :]
    first = tl.zeros((BM, BN), tl.float32)
    second = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        left = tl.load(at_a)
        first = tl.dot(left, tl.load(at_b), first)
        second = tl.dot(left, -tl.load(at_b), second)
        at_a += BK
        at_b += BK * BN
    at_c = c + m[:, None] * BN + n[None, :]
    tl.store(at_c, first)
    tl.store(at_c + BM * BN, second)


@triton.jit
def one_sum_of_two(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TOTAL: tl.constexpr):
    """Two products an iteration, one sum."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a = a + m[:, None] * TOTAL + k[None, :]
    at_b = b + k[:, None] * BN + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, 2 * BK):
        acc = tl.dot(tl.load(at_a), tl.load(at_b), acc)
        acc = tl.dot(tl.load(at_a + BK), tl.load(at_b + BK * BN), acc)
        at_a += 2 * BK
        at_b += 2 * BK * BN
    tl.store(c + m[:, None] * BN + n[None, :], acc)


@triton.jit
def used_inside(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TOTAL: tl.constexpr):
    """Every sum is halved before the next product."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a = a + m[:, None] * TOTAL + k[None, :]
    at_b = b + k[:, None] * BN + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(at_a), tl.load(at_b), acc * 0.5)
        at_a += BK
        at_b += BK * BN
    tl.store(c + m[:, None] * BN + n[None, :], acc)


@triton.jit
def narrow_sums(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TOTAL: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a = a + m[:, None] * TOTAL + k[None, :]
    at_b = b + k[:, None] * BN + n[None, :]
    acc = tl.zeros((BM, BN), tl.float16)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(at_a), tl.load(at_b), acc, out_dtype=tl.float16)
        at_a += BK
        at_b += BK * BN
    tl.store(c + m[:, None] * BN + n[None, :], acc.to(tl.float32))


@triton.jit
def attention(q, k, v, out, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    at_k = k + n[None, :] * D + d[:, None]
    at_v = v + n[:, None] * D + d[None, :]
    for _ in range(0, T, BN):
        s = tl.dot(queries, tl.load(at_k)) * 0.125
        higher = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        shrink = tl.exp2(best - higher)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(at_v), acc * shrink[:, None])
        best = higher
        at_k += BN * D
        at_v += BN * D
    tl.store(out + m[:, None] * D + d[None, :], acc / total[:, None])


TYPES = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp8e5": "f8E5M2"}


def code_of(kernel: Any, signature: str, alone: bool = False, **options: Any) -> dict[str, Any]:
    """alone: for launches of no more programs than there are multiprocessors."""
    ttir = triton.compile(ASTSource(kernel, signature), target="cuda:90", options=options).asm["ttir"]
    return small_kernels.compiled(ttir, "sm_90a", **options, alone=alone)


def bits(kind: str, numbers: np.ndarray) -> np.ndarray:
    """Numbers as they are stored."""
    if kind == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind == "fp8e5":
        return (numbers.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)
    return numbers.astype(np.float16 if kind == "fp16" else np.float32)


def value(kind: str, stored: np.ndarray) -> np.ndarray:
    if kind == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32)
    if kind == "fp8e5":
        return (stored.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    return stored.astype(np.float32)


TOTAL = 256
"""Elements along K in memory."""


def matmul_signature(
    kind: str, m: int, n: int, k: int, across: bool, epilogue: int = 0, out: str = "fp32", whole: bool = True
) -> str:
    """across: b's columns are contiguous. whole: K is a multiple of 16."""
    strides = "i32:16, 1" if across else "1, i32:16"
    length = "i32:16" if whole else "i32"
    return f"*{kind}:16, *{kind}:16, *{out}:16, {length}, i32:16, {strides}, {m}, {n}, {k}, {epilogue}"


def run_matmul(
    kind: str, m: int, n: int, k: int, length: int, across: bool = True, epilogue: int = 0, **options: Any
) -> tuple[np.ndarray, dict[str, Any]]:
    """across: b is stored with its columns contiguous. Checks the product with NumPy; gives its bits and the code."""
    out = "fp16" if epilogue else "fp32"
    code = code_of(matmul, matmul_signature(kind, m, n, k, across, epilogue, out, whole=length % 16 == 0), **options)
    random = np.random.default_rng(length + n)
    a, b = random.standard_normal((m, TOTAL)), random.standard_normal((TOTAL, n))
    a, b = bits(kind, a), bits(kind, b)
    c = np.full((m, n), 77, np.float16 if epilogue else np.float32)
    in_memory = np.ascontiguousarray(b if across else b.T)
    stride = n if across else TOTAL
    small_kernels.launch(code, a.reshape(-1), in_memory.reshape(-1), c.reshape(-1), length, TOTAL, stride)
    want = value(kind, a)[:, :length].astype(np.float64) @ value(kind, b)[:length]
    if epilogue:
        want = np.where(want > 0, want, want * 0.25) + want.sum(1)[:, None]
    scale = np.abs(want).max() if length else 1
    np.testing.assert_allclose(c, want, atol=(0.03 if kind == "fp8e5" else 2e-3) * scale, rtol=0)
    return c, code


def waits(code: dict[str, Any]) -> list[int]:
    """How many products each wait leaves in flight: in front of the loop, in it, behind it."""
    return sorted(int(number) for number in re.findall(r"wgmma\.wait_group\.sync\.aligned (\d+)", code["ptx"]))


def in_flight(code: dict[str, Any]) -> int:
    return code["ttgir"].count(" in_flight {")


def assert_not_serialised(code: dict[str, Any]) -> None:
    """ptxas keeps products in flight, or says that it does not."""
    done = subprocess.run(
        ["ptxas", "-arch=sm_90a", "-v", "-o", "/dev/null", "-"], input=code["ptx"], capture_output=True, text=True
    )
    assert not done.returncode and "serialized" not in done.stderr, done.stderr


MATMULS = [
    ("fp16", 64, 64, 64, True, 4),
    ("fp16", 128, 128, 32, False, 8),
    ("bf16", 128, 64, 64, True, 4),
    ("bf16", 64, 128, 16, False, 4),
    ("fp32", 64, 64, 32, False, 4),
    ("fp8e5", 64, 64, 64, False, 4),
    ("fp8e5", 128, 32, 32, False, 8),
]
"""Operands that copies bring: K is contiguous, or elements have 16 bits."""
TURNED = [("fp32", 128, 32, 16, True, 8), ("fp8e5", 64, 32, 64, True, 4), ("fp32", 64, 32, 32, True, 4)]
"""b is turned on its way through registers: it has too few columns to be the rows of a transposed product."""


SAMPLE = [(MATMULS[0], 80), (MATMULS[5], 0), (TURNED[0], 80)]
"""What is tested always; the rest is slow."""


def name_of(part: Any) -> str:
    return "-".join(map(str, part)) if isinstance(part, tuple) else str(part)


@pytest.mark.parametrize(
    ("case", "length"),
    [
        pytest.param(case, length, marks=[] if (case, length) in SAMPLE else [pytest.mark.slow])
        for case in MATMULS + TURNED
        for length in (0, 16, 80, 256)
    ],
    ids=name_of,
)
def test_bits_of_the_loop_that_waits(case: tuple, length: int) -> None:
    kind, m, n, k, across, warps = case
    want, code = run_matmul(kind, m, n, k, length, across, num_warps=warps, num_stages=1)
    assert in_flight(code) == 0 and set(waits(code)) == {0}
    for stages in (2, 3, 4):
        got, code = run_matmul(kind, m, n, k, length, across, num_warps=warps, num_stages=stages)
        assert (got.view(np.uint32) == want.view(np.uint32)).all()
        assert in_flight(code) == 1
        assert waits(code) == [0, 0, 1]


@pytest.mark.parametrize("across", [True, False])
def test_lengths_that_are_no_multiples_of_a_vector(across: bool) -> None:
    """Where the mask may cut a copy the program loads the tile: a's, and b's too if K is its contiguous dimension. Then
    nothing has several buffers."""
    want, _ = run_matmul("fp16", 64, 64, 32, 77, across, num_stages=1)
    got, code = run_matmul("fp16", 64, 64, 32, 77, across, num_stages=3)
    assert (got.view(np.uint32) == want.view(np.uint32)).all() and waits(code) == [0, 0, int(across)]
    assert ("cp.async.c" in code["ptx"]) == across
    assert_not_serialised(code)


@pytest.mark.parametrize(
    "case", [MATMULS[0], *(pytest.param(c, marks=pytest.mark.slow) for c in (MATMULS[1], TURNED[1]))], ids=name_of
)
def test_an_epilogue_reads_finished_sums(case: tuple) -> None:
    kind, m, n, k, across, warps = case
    want, _ = run_matmul(kind, m, n, k, 80, across, epilogue=1, num_warps=warps, num_stages=1)
    got, _ = run_matmul(kind, m, n, k, 80, across, epilogue=1, num_warps=warps, num_stages=3)
    assert (got.view(np.uint16) == want.view(np.uint16)).all()


LARGE = [("fp16", 128, 256, 64, True, 8), ("fp16", 128, 128, 64, True, 4)]


@pytest.mark.parametrize(
    ("case", "stages"),
    [(LARGE[0], 3), *(pytest.param(c, s, marks=pytest.mark.slow) for c in MATMULS + TURNED + LARGE for s in (2, 4))],
    ids=name_of,
)
def test_the_assembler_keeps_them_in_flight(case: tuple, stages: int) -> None:
    kind, m, n, k, across, warps = case
    signature = matmul_signature(kind, m, n, k, across)
    assert_not_serialised(code_of(matmul, signature, num_warps=warps, num_stages=stages))


def run_loop(kernel: Any, results: int = 1, rows: int = 1, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """A kernel of a, b, c, K in f16; `rows`: tiles of a, whose number comes before K."""
    m, n, k = 64, 32, 32
    counts = "i32, " if rows > 1 else ""
    signature = f"*fp16:16, *fp16:16, *fp32:16, {counts}i32, {m}, {n}, {k}, {TOTAL}"
    code = code_of(kernel, signature, **options)
    random = np.random.default_rng(7)
    a, b = random.standard_normal((rows * m, TOTAL)), random.standard_normal((TOTAL, n))
    c = np.full((results, rows * m, n), 77, np.float32)
    numbers = (rows, TOTAL) if rows > 1 else (TOTAL,)
    arrays = [a.astype(np.float16).reshape(-1), b.astype(np.float16).reshape(-1), c.reshape(-1)]
    small_kernels.launch(code, *arrays, *numbers)
    return c, code


@pytest.mark.parametrize(
    ("kernel", "results", "rows", "products", "numbers"),
    [
        (persistent, 1, 3, 1, [0, 0, 1]),
        (one_sum_of_two, 1, 1, 2, [0, 0, 2]),
        (two_sums, 2, 1, 2, [0, 0, 2]),  # -b is stored by the program
        (used_inside, 1, 1, 1, [0, 0, 0]),  # is waited for where the next iteration halves it
        (narrow_sums, 1, 1, 0, [0]),
    ],
)
def test_loops(kernel: Any, results: int, rows: int, products: int, numbers: list[int]) -> None:
    want, _ = run_loop(kernel, results, rows, num_stages=1)
    for stages in (2, 3):
        got, code = run_loop(kernel, results, rows, num_stages=stages)
        assert (got.view(np.uint32) == want.view(np.uint32)).all()
        assert in_flight(code) == products and waits(code) == numbers
        assert_not_serialised(code)
    if kernel is two_sums:
        assert (got[0] == -got[1]).all()
    assert ("k16.f16.f16.f16" in code["ptx"]) == (kernel is narrow_sums)


def without(ptx: str, part: str) -> str:
    """PTX that lacks one thing: waits later by one product, or the barrier behind the loop's wait."""
    if part == "wait":
        return re.sub(r"(wgmma\.wait_group\.sync\.aligned) 1;", r"\1 2;", ptx)
    if part == "last wait":
        return re.sub(r"wgmma\.wait_group\.sync\.aligned 0;", "", ptx)
    at = ptx.index("wgmma.wait_group.sync.aligned 1;")
    return ptx[:at] + re.sub(r"(bar|barrier)(\.cta)?\.sync\S*\s+[^;]*;", "", ptx[at:], count=1)


@pytest.mark.parametrize("part", ["wait", "last wait", "barrier"])
def test_what_is_missing_is_found(part: str) -> None:
    """The judges judge: each wait and the barrier are needed."""
    _, code = run_matmul("fp16", 64, 64, 32, 160, num_stages=3)
    ptx = without(code["ptx"], part)
    assert ptx != code["ptx"]
    kernel = tiletwin.sim.load(ptx)[code["metadata"]["name"]]
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((64, TOTAL), (TOTAL, 64)))
    c = np.zeros(64 * 64, np.float32)
    tiletwin.checks.clear()
    options = {"block": 128, "shared": code["metadata"]["shared"], "checks": "all", "limit": 50_000_000}
    try:
        kernel(a.reshape(-1), b.reshape(-1), c, 160, TOTAL, 64, grid=1, **options)
        assert tiletwin.checks.findings()
    except triton.CheckError as error:
        assert "wgmma" in str(error) or "race" in str(error)
    finally:
        tiletwin.checks.clear()
