"""Products whose matrices are contiguous along their rows or columns, where wgmma wants K: 8- and 32-bit operands.

The judges: the bits of the same product of matrices that lie as wgmma wants them, which takes another instruction,
other layouts and other copies; NumPy, exactly for integers.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import counters
from tiletwin.compiler import ASTSource


@triton.jit
def product(a, b, c, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a = a + m[:, None] * sam + k[None, :] * sak
    at_b = b + k[:, None] * sbk + n[None, :] * sbn
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for i in range(0, K, BK):
        left = tl.load(at_a, mask=k[None, :] < K - i, other=0.0)
        right = tl.load(at_b, mask=k[:, None] < K - i, other=0.0)
        acc = tl.dot(left, right, acc, out_dtype=c.dtype.element_ty)
        at_a += BK * sak
        at_b += BK * sbk
    tl.store(c + m[:, None] * BN + n[None, :], acc)


TOTAL = 256
"""Elements along K in memory."""
STORED = {"fp32": np.float32, "i8": np.int8, "fp8e5": np.uint8, "fp8e4nv": np.uint8}


def numbers(kind: str, shape: tuple[int, int], seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if kind == "fp32":
        exact = random.standard_normal(shape).astype(np.float32)
        return (exact.view(np.uint32) & ~np.uint32(0x1FFF)).view(np.float32)  # tf32 has these bits
    if kind == "i8":
        return random.integers(-128, 128, shape).astype(np.int8)
    # No infinity or NaN, both signs, subnormals.
    return (random.integers(0, 0x60, shape) | random.integers(0, 2, shape) << 7).astype(np.uint8)


def run(kind: str, m: int, n: int, k: int, length: int, a_along: str, b_along: str, **options: Any):
    """a_along, b_along: the dimension along which a matrix is contiguous. The result, the kernel's PTX and ttgir."""
    out = "i32" if kind == "i8" else "fp32"
    a, b = numbers(kind, (m, TOTAL), 1), numbers(kind, (TOTAL, n), 2)
    in_a, in_b = (a if a_along == "k" else a.T), (b if b_along == "n" else b.T)
    strides_a = "i32:16, 1" if a_along == "k" else "1, i32:16"
    strides_b = "i32:16, 1" if b_along == "n" else "1, i32:16"
    signature = f"*{kind}:16, *{kind}:16, *{out}:16, i32:16, {strides_a}, {strides_b}, {m}, {n}, {k}"
    ttir = triton.compile(ASTSource(product, signature), target="cuda:90", options=options).asm["ttir"]
    code = small_kernels.compiled(ttir, "sm_90a", **options)
    c = np.full((m, n), 77, np.int32 if kind == "i8" else np.float32)
    small_kernels.launch(
        code, np.ascontiguousarray(in_a).reshape(-1), np.ascontiguousarray(in_b).reshape(-1), c.reshape(-1), length,
        TOTAL if a_along == "k" else m, n if b_along == "n" else TOTAL,
    )  # fmt: skip
    if kind == "i8":
        assert (c == a[:, :length].astype(np.int32) @ b[:length].astype(np.int32)).all()
    if kind == "fp32":
        want = a[:, :length].astype(np.float64) @ b[:length]
        np.testing.assert_allclose(c, want, atol=0.02, rtol=0)
    return c, code


CASES = [
    ("fp32", 64, 64, 32, 4),
    ("fp32", 128, 128, 32, 4),
    ("fp32", 64, 256, 16, 8),
    ("fp32", 128, 64, 64, 8),
    ("fp32", 16, 128, 32, 4),
    ("i8", 64, 64, 64, 4),
    ("i8", 128, 128, 128, 8),
    ("i8", 32, 256, 32, 8),
    ("fp8e5", 64, 128, 64, 4),
    ("fp8e4nv", 128, 64, 32, 4),
]


@pytest.mark.parametrize("length", [80, *(pytest.param(one, marks=pytest.mark.slow) for one in (0, 16, 256))])
@pytest.mark.parametrize(("kind", "m", "n", "k", "warps"), CASES)
def test_a_transposed_product_has_the_bits_of_the_other(kind: str, m: int, n: int, k: int, warps: int, length: int):
    want, plain = run(kind, m, n, k, length, "k", "k", num_warps=warps, num_stages=1)
    for stages in (1, 3):
        got, code = run(kind, m, n, k, length, "k", "n", num_warps=warps, num_stages=stages)
        assert (got.view(np.uint32) == want.view(np.uint32)).all()
        assert " transposed" in code["ttgir"] and "wgmma" in code["ptx"] and " transposed" not in plain["ttgir"]
        assert "cp.async.c" in code["ptx"] or stages == 1  # which may copy them, too


@pytest.mark.parametrize(("kind", "m", "n", "k", "warps"), [one for one in CASES if one[1] >= 64])
def test_an_a_that_is_contiguous_along_its_rows(kind: str, m: int, n: int, k: int, warps: int) -> None:
    want, _ = run(kind, m, n, k, 80, "k", "k", num_warps=warps, num_stages=1)
    for stages in (1, 3):
        got, code = run(kind, m, n, k, 80, "m", "k", num_warps=warps, num_stages=stages)
        assert (got.view(np.uint32) == want.view(np.uint32)).all()
        assert "wgmma" in code["ptx"] and "rows = " in code["ttgir"] and " transposed" not in code["ttgir"]


@pytest.mark.parametrize("kind", ["fp32", "i8"])
def test_neither_is_contiguous_along_k(kind: str) -> None:
    want, _ = run(kind, 64, 64, 32, 80, "k", "k", num_warps=4, num_stages=3)
    got, _ = run(kind, 64, 64, 32, 80, "m", "n", num_warps=4, num_stages=3)
    assert (got.view(np.uint32) == want.view(np.uint32)).all()


def test_threads_access_shared_memory_by_sixteen_bytes() -> None:
    """Of 32-bit elements and two tiles of rows for each warp; narrow accesses are what made such products slow."""
    _, code = run("fp32", 128, 128, 32, 80, "k", "n", num_warps=4, num_stages=3)
    accesses = re.findall(r"(?:ld|st)\.shared\S*", code["ptx"])
    assert accesses and all(".v4." in access for access in accesses)


@triton.jit
def widened(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Of numbers that memory has in 16 bits."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (i + k)[None, :]).to(tl.float32)
        right = tl.load(b + (i + k)[:, None] * BN + n[None, :]).to(tl.float32)
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * BN + n[None, :], acc)


@small_kernels.of_simulator
@pytest.mark.parametrize(("depth", "share"), [(64, 1 / 2), (32, 1 / 4)])
def test_what_is_stored_transposed_meets_in_few_banks(depth: int, share: float) -> None:
    """b has too few columns for a transposed product: threads store its neighbours one by one. With lanes along whole
    rows of b 5/8 and 1/2 of the wavefronts were conflicts."""
    rows, columns, total = 64, 32, 128
    signature = f"*bf16:16, *bf16:16, *fp32:16, i32:16, {rows}, {columns}, {depth}"
    ttir = triton.compile(ASTSource(widened, signature), target="cuda:90").asm["ttir"]
    code = small_kernels.compiled(ttir, "sm_90a")
    a, b = (
        numbers("fp32", shape, seed).view(np.uint32) >> 16
        for shape, seed in (((rows, total), 1), ((total, columns), 2))
    )
    c = np.zeros((rows, columns), np.float32)
    with counters.collect() as launches:
        small_kernels.launch(
            code, a.astype(np.uint16).reshape(-1), b.astype(np.uint16).reshape(-1), c.reshape(-1), total
        )
    x, y = ((bits << 16).view(np.float32).astype(np.float64) for bits in (a, b))
    np.testing.assert_allclose(c, x @ y, atol=0.02, rtol=0)
    found = counters.metrics_of(launches[0])
    conflicts = found["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"].value
    assert conflicts <= share * found["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"].value
