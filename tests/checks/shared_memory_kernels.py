"""Kernels whose shared memory real Triton was asked about: products in loops, attention, products outside of loops.

Here:      kernels, and CASES: (name, kernel, types of the arguments, constants, options).
Not here:  what Triton said (tests/data/shared_memory.json), the estimate (test_device_limits.py).
Invariant: imports nothing but triton, so that real Triton can compile it too.
"""

from __future__ import annotations

import itertools

import triton
import triton.language as tl


@triton.jit
def product_loop(a_ptr, b_ptr, c_ptr, k_size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k_size, BK):
        a = tl.load(a_ptr + rows[:, None] * k_size + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * BN + cols[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * BN + cols[None, :], acc)


@triton.jit
def product_of_integers(a_ptr, b_ptr, c_ptr, k_size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.int32)
    for start in range(0, k_size, BK):
        a = tl.load(a_ptr + rows[:, None] * k_size + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[None, :] + cols[:, None] * k_size)
        acc = tl.dot(a, b.T, acc)
    tl.store(c_ptr + rows[:, None] * BN + cols[None, :], acc)


@triton.jit
def product_tutorial(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    rn = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    ap = a_ptr + rm[:, None] * sam + rk[None, :] * sak
    bp = b_ptr + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(ap, mask=rk[None, :] < K - k * BK, other=0.0)
        b = tl.load(bp, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        ap += BK * sak
        bp += BK * sbk
    om = tl.program_id(0) * BM + tl.arange(0, BM)
    on = tl.program_id(1) * BN + tl.arange(0, BN)
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + scm * om[:, None] + scn * on[None, :], c, mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def product_of_widened(a_ptr, b_ptr, c_ptr, k_size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k_size, BK):
        a = tl.load(a_ptr + rows[:, None] * k_size + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * BN + cols[None, :]).to(a.dtype)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * BN + cols[None, :], acc)


@triton.jit
def product_by_descriptors(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    rm, rn = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([rm, k]), b_desc.load([k, rn]), acc)
    c_desc.store([rm, rn], acc.to(tl.float16))


@triton.jit
def product_at_once(a_ptr, b_ptr, c_ptr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    a = tl.load(a_ptr + rows[:, None] * BK + k[None, :])
    b = tl.load(b_ptr + k[:, None] * BN + cols[None, :])
    tl.store(c_ptr + rows[:, None] * BN + cols[None, :], tl.dot(a, b))


@triton.jit
def attention_loop(q_ptr, k_ptr, v_ptr, o_ptr, length, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows, dims = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + dims[None, :])
    peak = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        cols = start + tl.arange(0, BN)
        k = tl.load(k_ptr + cols[:, None] * D + dims[None, :])
        s = tl.dot(q, tl.trans(k))
        new_peak = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp(s - new_peak[:, None])
        alpha = tl.exp(peak - new_peak)
        total = total * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + cols[:, None] * D + dims[None, :])
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        peak = new_peak
    tl.store(o_ptr + rows[:, None] * D + dims[None, :], acc / total[:, None])


@triton.jit
def two_products_loop(a_ptr, b_ptr, d_ptr, c_ptr, k_size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    gate, up = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for start in range(0, k_size, BK):
        a = tl.load(a_ptr + rows[:, None] * k_size + (start + k)[None, :])
        gate = tl.dot(a, tl.load(b_ptr + (start + k)[:, None] * BN + cols[None, :]), gate)
        up = tl.dot(a, tl.load(d_ptr + (start + k)[:, None] * BN + cols[None, :]), up)
    tl.store(c_ptr + rows[:, None] * BN + cols[None, :], gate * tl.sigmoid(gate) * up)


@triton.jit
def sums_of_rows(x_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr):
    rows, cols = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :], mask=cols[None, :] < n, other=0.0)
    tl.store(o_ptr + rows, tl.sum(x, 1))


@triton.jit
def transposed_tile(x_ptr, o_ptr, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rows, cols = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :])
    tl.store(o_ptr + cols[:, None] * m + rows[None, :], tl.trans(x))


def _cases() -> list[tuple]:
    found = []
    sizes = [(16, 16, 32), (32, 64, 32), (64, 64, 64), (64, 128, 32), (128, 128, 64), (128, 256, 64), (16, 128, 128)]
    for (bm, bn, bk), stages, warps in itertools.product(sizes, (1, 2, 3, 4), (4, 8)):
        block, options = {"BM": bm, "BN": bn, "BK": bk}, {"num_stages": stages, "num_warps": warps}
        tag = f"{bm}x{bn}x{bk}_s{stages}_w{warps}"
        for dtype in ("fp16", "bf16", "fp32", "fp8e5"):
            types = f"*{dtype} *{dtype} *fp32 i32"
            found.append((f"loop_{dtype}_{tag}", "product_loop", types, block, options))
        if warps == 4:
            found.append((f"loop_i8_{tag}", "product_of_integers", "*i8 *i8 *i32 i32", block, options))
            found.append((f"tutorial_{tag}", "product_tutorial", "*fp16 *fp16 *fp16" + " i32" * 9, block, options))
            found.append((f"unaligned_{tag}", "product_tutorial", "*fp16 *fp16 *fp16" + " i32!" * 9, block, options))
            found.append((f"widened_{tag}", "product_of_widened", "*fp16 *i8 *fp32 i32", block, options))
            found.append((f"widened8_{tag}", "product_of_widened", "*bf16 *fp8e5 *fp32 i32", block, options))
            found.append((f"desc_{tag}", "product_by_descriptors", "*fp16 *fp16 *fp16 i32 i32 i32", block, options))
            found.append((f"gated_{tag}", "two_products_loop", "*fp16 *fp16 *fp16 *fp32 i32", block, options))
            if stages == 3:
                for dtype in ("fp16", "fp32"):
                    types = f"*{dtype} *{dtype} *fp32"
                    found.append((f"once_{dtype}_{tag}", "product_at_once", types, block, options))
    for d, (bm, bn), stages, dtype in itertools.product(
        (64, 128, 256), ((64, 32), (64, 64), (128, 64), (128, 128)), (1, 2, 3, 4), ("fp16", "fp32")
    ):
        if dtype == "fp32" and (bm, bn) != (64, 32):
            continue
        name = f"attention_{dtype}_{d}_{bm}x{bn}_s{stages}"
        types = f"*{dtype} *{dtype} *{dtype} *fp32 i32"
        found.append((name, "attention_loop", types, {"D": d, "BM": bm, "BN": bn}, {"num_stages": stages}))
    for bm, bn in ((1, 1024), (1, 65536), (64, 64), (128, 512)):
        block = {"BM": bm, "BN": bn}
        found.append((f"sums_{bm}x{bn}", "sums_of_rows", "*fp32 *fp32 i32", block, {}))
        if bm > 1:
            found.append((f"transposed_{bm}x{bn}", "transposed_tile", "*fp32 *fp32 i32 i32", block, {}))
    return found


CASES = _cases()
