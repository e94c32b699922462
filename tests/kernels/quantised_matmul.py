"""Products with quantised weights: packed int4 with group scales, int8 per channel, fp8 by blocks, microscaled fp4."""

import torch
import triton
import triton.language as tl


@triton.jit
def _int4_matmul(
    a_ptr, packed_ptr, scale_ptr, zero_ptr, c_ptr, M, N, K, GROUP: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # c = a @ ((nibbles - zero) * scale); packed [K / 8, N], scales and zeros [K / GROUP, N].
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * K + rk[None, :]
    w_ptrs = packed_ptr + (rk[:, None] // 8) * N + rn[None, :]
    shift = (rk[:, None] % 8) * 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (k + rk[None, :] < K), other=0.0)
        words = tl.load(w_ptrs, mask=(k + rk[:, None] < K) & (rn[None, :] < N), other=0)
        group = k // GROUP
        scale = tl.load(scale_ptr + group * N + rn, mask=rn < N, other=0.0)
        zero = tl.load(zero_ptr + group * N + rn, mask=rn < N, other=0)
        nibbles = (words >> shift) & 0xF
        w = (nibbles - zero[None, :]).to(tl.float32) * scale[None, :]
        acc = tl.dot(a, w.to(a.dtype), acc, input_precision="ieee")
        a_ptrs += BK
        w_ptrs += (BK // 8) * N
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def _int8_matmul(
    a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, bias_ptr, M, N, K,
    HAS_BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # int8 x int8 -> int32, then scales of the rows of a and of the columns of b. b is [N, K].
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(0, tl.cdiv(K, BK)):
        rk = k * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0)
        b = tl.load(b_ptr + rn[None, :] * K + rk[:, None], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0)
        acc = tl.dot(a, b, acc)
    a_scale = tl.load(a_scale_ptr + rm, mask=rm < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + rn, mask=rn < N, other=0.0)
    c = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    if HAS_BIAS:
        c += tl.load(bias_ptr + rn, mask=rn < N, other=0.0)[None, :]
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], c, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def _fp8_block_matmul(
    a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # a [M, K] with scales per row and BK columns, b [N, K] with scales per BN x BK block.
    pid_n = tl.program_id(1)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    k_blocks = tl.cdiv(K, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(k_blocks):
        rk = i * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rn[None, :] * K + rk[:, None], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0.0)
        a_scale = tl.load(a_scale_ptr + rm * k_blocks + i, mask=rm < M, other=0.0)
        b_scale = tl.load(b_scale_ptr + pid_n * k_blocks + i)
        acc += tl.dot(a, b, out_dtype=tl.float32) * a_scale[:, None] * b_scale
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def _mxfp4_matmul(a_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # a bf16 [M, K]; b e2m1, two a byte along K, [N, K / 2]; one e8m0 scale for 32 values of a row, [N, K / 32].
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        half = k // 2 + tl.arange(0, BK // 2)
        groups = k // 32 + tl.arange(0, BK // 32)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(b_ptr + rn[None, :] * (K // 2) + half[:, None], mask=rn[None, :] < N, other=0)
        scale = tl.load(b_scale_ptr + rn[:, None] * (K // 32) + groups[None, :], mask=rn[:, None] < N, other=127)
        acc = tl.dot_scaled(a, None, "bf16", b, scale, "e2m1", acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def int4_matmul(a, packed, scale, zero, group, bm=32, bn=32):
    """a [M, K] times the matrix that quantising.pack_int4 packed; group a power of two."""
    m, k = a.shape
    n = packed.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    _int4_matmul[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
        a, packed, scale, zero, c, m, n, k, GROUP=group, BM=bm, BN=bn, BK=min(group, 64)
    )
    return c


def int8_matmul(a, b, a_scale, b_scale, bias=None, dtype=torch.float32, bm=32, bn=64, bk=64):
    """a int8 [M, K], b int8 [N, K], scales per row of each: a @ b.T scaled, plus bias."""
    m, k = a.shape
    n = b.shape[0]
    c = torch.empty(m, n, dtype=dtype, device=a.device)
    _int8_matmul[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
        a, b, c, a_scale, b_scale, bias, m, n, k, HAS_BIAS=bias is not None, BM=bm, BN=bn, BK=bk
    )
    return c


def fp8_block_matmul(a, b, a_scale, b_scale, block=128, bm=32):
    """a fp8 [M, K], b fp8 [N, K]; a_scale [M, K / block], b_scale [N / block, K / block] rounded up."""
    m, k = a.shape
    n = b.shape[0]
    c = torch.empty(m, n, dtype=torch.float32, device=a.device)
    _fp8_block_matmul[(triton.cdiv(m, bm), triton.cdiv(n, block))](
        a, b, c, a_scale, b_scale, m, n, k, BM=bm, BN=block, BK=block
    )
    return c


def mxfp4_matmul(a, b, b_scale, bm=32, bn=32, bk=64):
    """a bf16 [M, K], b uint8 [N, K / 2], b_scale uint8 [N, K / 32]; K a multiple of bk."""
    m, k = a.shape
    n = b.shape[0]
    c = torch.empty(m, n, dtype=torch.float32, device=a.device)
    _mxfp4_matmul[(triton.cdiv(m, bm), triton.cdiv(n, bn))](a, b, b_scale, c, m, n, k, BM=bm, BN=bn, BK=bk)
    return c
