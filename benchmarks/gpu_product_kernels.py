"""Products that benchmarks/gpu.py times beside plain ones: grouped, with an epilogue, of packed weights, split along K.

Not here: plain matmul, attention forward, rows (gpu_kernels.py).
"""

import triton
import triton.language as tl


@triton.jit
def matmul_bias_gelu(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = gelu(a @ b + bias) by the sigmoid formula."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :], mask=(m < M)[:, None], other=0.0)
        right = tl.load(b + (start + k)[:, None] * N + n[None, :], mask=(n < N)[None, :], other=0.0)
        acc = tl.dot(left, right, acc)
    acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    acc = acc * tl.sigmoid(1.702 * acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def grouped_matmul(
    table, a, b, c, groups, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr
):
    """Rows table[g]..table[g + 1] of a times matrix g of b; each program takes every PROGRAMS-th tile of all groups."""
    tile = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    before = 0
    for g in range(groups):
        first = tl.load(table + g)
        rows = tl.load(table + g + 1) - first
        tiles = tl.cdiv(rows, BM) * columns
        while tile < before + tiles:
            m = (tile - before) // columns * BM + tl.arange(0, BM)
            n = (tile - before) % columns * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            at_a = a + (first + m)[:, None] * K + k[None, :]
            at_b = b + g.to(tl.int64) * K * N + k[:, None] * N + n[None, :]
            acc = tl.zeros((BM, BN), tl.float32)
            for _ in range(0, K, BK):
                acc = tl.dot(tl.load(at_a, mask=(m < rows)[:, None], other=0.0), tl.load(at_b), acc)
                at_a += BK
                at_b += BK * N
            at_c = c + (first + m)[:, None] * N + n[None, :]
            tl.store(at_c, acc.to(c.dtype.element_ty), mask=(m < rows)[:, None])
            tile += PROGRAMS
        before += tiles


@triton.jit
def int4_matmul(
    a, packed, scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SIZE: tl.constexpr
):
    """Weights of 4 bits less 8, eight to a word along K, times a scale for SIZE of them along K."""
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    k = tl.arange(0, BK)
    at_a = a + m[:, None] * K + k[None, :]
    for start in range(0, K, BK):
        left = tl.load(at_a, mask=(m < M)[:, None], other=0.0)
        at_a += BK
        words = tl.load(packed + ((start + k) // 8)[:, None] * N + n[None, :])
        scale = tl.load(scales + start // SIZE * N + n)
        weights = ((words >> (k % 8 * 4)[:, None]) & 15) - 8
        acc = tl.dot(left, weights.to(left.dtype) * scale[None, :], acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m < M)[:, None])


@triton.jit
def stream_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Every program does an equal share of the steps of all tiles; c is zero at first and gets sums of shares."""
    steps = K // BK
    columns = N // BN
    everything = M // BM * columns * steps
    share = tl.cdiv(everything, PROGRAMS)
    now = tl.program_id(0) * share
    end = min(now + share, everything)
    while now < end:
        tile = now // steps
        stop = min((tile + 1) * steps, end)
        m = tile // columns * BM + tl.arange(0, BM)
        n = tile % columns * BN + tl.arange(0, BN)
        k = now % steps * BK + tl.arange(0, BK)
        at_a = a + m[:, None] * K + k[None, :]
        at_b = b + k[:, None] * N + n[None, :]
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in range(now, stop):
            acc = tl.dot(tl.load(at_a), tl.load(at_b), acc)
            at_a += BK
            at_b += BK * N
        at_c = c + m[:, None] * N + n[None, :]
        if stop - now == steps:
            tl.store(at_c, acc)
        else:
            tl.atomic_add(at_c, acc, sem="relaxed")
        now = stop
