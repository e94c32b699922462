"""Kernels of test_dots.py and test_scaled_dots.py."""

import triton
import triton.language as tl


@triton.jit
def dot(
    a_ptr,
    b_ptr,
    c_ptr,
    d_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PRECISION: tl.constexpr,
    OUT: tl.constexpr,
    BT: tl.constexpr,
):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    if BT:
        b = tl.load(b_ptr + n[:, None] * K + k[None, :]).T
    else:
        b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    at = m[:, None] * N + n[None, :]
    if c_ptr is None:
        d = tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT)
    else:
        d = tl.dot(a, b, tl.load(c_ptr + at), input_precision=PRECISION, out_dtype=OUT)
    tl.store(d_ptr + at, d)


@triton.jit
def dot_batched(a_ptr, b_ptr, d_ptr, Z: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    z = tl.arange(0, Z)[:, None, None]
    m = tl.arange(0, M)[None, :, None]
    n = tl.arange(0, N)[None, None, :]
    a = tl.load(a_ptr + z * M * K + m * K + tl.arange(0, K)[None, None, :])
    b = tl.load(b_ptr + z * K * N + tl.arange(0, K)[None, :, None] * N + n)
    acc = tl.full((Z, M, N), 1, d_ptr.dtype.element_ty)
    tl.store(d_ptr + z * M * N + m * N + n, tl.dot(a, b, acc, out_dtype=d_ptr.dtype.element_ty))


@triton.jit
def dot_imprecise(a_ptr, b_ptr, d_ptr, Q: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + m * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + n)
    tl.store(d_ptr + m * N + n, tl.dot(a, b, max_num_imprecise_acc=Q))


@triton.jit
def dot_allowing(a_ptr, b_ptr, d_ptr, ALLOW: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + m * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + n)
    tl.store(d_ptr + m * N + n, tl.dot(a, b, allow_tf32=ALLOW))


@triton.jit
def dot_loop(a_ptr, b_ptr, d_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + m * K + k + tl.arange(0, BK)[None, :])
        b = tl.load(b_ptr + (k + tl.arange(0, BK)[:, None]) * N + n)
        acc = tl.dot(a, b, acc)
    tl.store(d_ptr + m * N + n, acc)


@triton.jit
def scaled(
    a_ptr,
    sa_ptr,
    b_ptr,
    sb_ptr,
    c_ptr,
    d_ptr,
    AF: tl.constexpr,
    BF: tl.constexpr,
    AK: tl.constexpr,
    BK: tl.constexpr,
    FAST: tl.constexpr,
    BT: tl.constexpr,
    G: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    PM: tl.constexpr = 1 if AK else 2  # e2m1 packed along m: half as many rows are stored
    PN: tl.constexpr = 1 if BK else 2
    PA: tl.constexpr = 2 if AF == "e2m1" and AK else 1
    PB: tl.constexpr = 2 if BF == "e2m1" and BK else 1
    ma = tl.arange(0, M // PM)
    nb = tl.arange(0, N // PN)
    ka = tl.arange(0, K // PA)
    kb = tl.arange(0, K // PB)
    ks = tl.arange(0, K // G)
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    a = tl.load(a_ptr + ma[:, None] * (K // PA) + ka[None, :])
    if BT:
        b = tl.load(b_ptr + nb[:, None] * (K // PB) + kb[None, :]).T
    else:
        b = tl.load(b_ptr + kb[:, None] * (N // PN) + nb[None, :])
    if sa_ptr is None:
        sa = None
    else:
        sa = tl.load(sa_ptr + m[:, None] * (K // G) + ks[None, :])
    if sb_ptr is None:
        sb = None
    else:
        sb = tl.load(sb_ptr + n[:, None] * (K // G) + ks[None, :])
    at = m[:, None] * N + n[None, :]
    if c_ptr is None:
        d = tl.dot_scaled(a, sa, AF, b, sb, BF, fast_math=FAST, lhs_k_pack=AK, rhs_k_pack=BK)
    else:
        d = tl.dot_scaled(a, sa, AF, b, sb, BF, acc=tl.load(c_ptr + at), fast_math=FAST, lhs_k_pack=AK, rhs_k_pack=BK)
    tl.store(d_ptr + at, d)


@triton.jit
def scaled_batched(
    a_ptr, sa_ptr, b_ptr, sb_ptr, d_ptr, Z: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    z = tl.arange(0, Z)[:, None, None]
    m = tl.arange(0, M)[None, :, None]
    n = tl.arange(0, N)[None, None, :]
    k2 = tl.arange(0, K // 2)
    ks = tl.arange(0, K // 32)[None, None, :]
    a = tl.load(a_ptr + z * M * (K // 2) + m * (K // 2) + k2[None, None, :])
    b = tl.load(b_ptr + z * (K // 2) * N + k2[None, :, None] * N + n)
    sa = tl.load(sa_ptr + z * M * (K // 32) + m * (K // 32) + ks)
    sb = tl.load(sb_ptr + z * N * (K // 32) + tl.arange(0, N)[None, :, None] * (K // 32) + ks)
    tl.store(d_ptr + z * M * N + m * N + n, tl.dot_scaled(a, sa, "e2m1", b, sb, "e2m1"))


@triton.jit
def scaled_loop(
    a_ptr,
    sa_ptr,
    b_ptr,
    sb_ptr,
    d_ptr,
    AF: tl.constexpr,
    BF: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    BK: tl.constexpr,
):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        ks = k // 32 + tl.arange(0, BK // 32)
        a = tl.load(a_ptr + m[:, None] * K + k + tl.arange(0, BK)[None, :])
        b = tl.load(b_ptr + (k + tl.arange(0, BK)[:, None]) * N + n[None, :])
        sa = tl.load(sa_ptr + m[:, None] * (K // 32) + ks[None, :])
        sb = tl.load(sb_ptr + n[:, None] * (K // 32) + ks[None, :])
        acc = tl.dot_scaled(a, sa, AF, b, sb, BF, acc)
    tl.store(d_ptr + m[:, None] * N + n[None, :], acc)
