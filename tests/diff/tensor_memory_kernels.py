"""Kernels that real Triton compiles to code of its own for sm_100 (test_triton_sim_blackwell.py)."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def matmul(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    """One program of c = a @ b a tile; a's rows and b's columns are the tile's."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), SUM)
    for first in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (first + k)[None, :])
        y = tl.load(b + (first + k)[:, None] * BN + n[None, :])
        total = tl.dot(x, y, total, out_dtype=SUM)
    tl.store(c + m[:, None] * BN + n[None, :], total)


@triton.jit
def persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    """c = a @ b.T by descriptors; programs take tiles in turn, warps specialised if SPLIT."""
    rows = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    columns = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    across = tl.cdiv(N, BN)
    for tile in tl.range(
        tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=True, warp_specialize=SPLIT
    ):
        m, n = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(rows.load([m, k]), columns.load([n, k]).T, total)
        out.store([m, n], total.to(tl.float16))


@triton.jit
def attention(q, k, v, o, T, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, SPLIT: tl.constexpr):
    """softmax to base 2 of q @ k.T, times v: the second product's A is the first one's result, in tensor memory."""
    queries = tl.make_tensor_descriptor(q, [T, D], [D, 1], [BM, D])
    keys = tl.make_tensor_descriptor(k, [T, D], [D, 1], [BN, D])
    values = tl.make_tensor_descriptor(v, [T, D], [D, 1], [BN, D])
    out = tl.make_tensor_descriptor(o, [T, D], [D, 1], [BM, D])
    first = tl.program_id(0) * BM
    x = queries.load([first, 0])
    largest = tl.zeros((BM,), tl.float32) - float("inf")
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for n in tl.range(0, T, BN, warp_specialize=SPLIT):
        s = tl.dot(x, keys.load([n, 0]).T)
        above = tl.maximum(largest, tl.max(s, 1))
        p = tl.math.exp2(s - above[:, None])
        scale = tl.math.exp2(largest - above)
        weight = weight * scale + tl.sum(p, 1)
        total = tl.dot(p.to(tl.float16), values.load([n, 0]), total * scale[:, None])
        largest = above
    out.store([first, 0], (total / weight[:, None]).to(tl.float16))


@triton.jit
def softmax(x, o, N: tl.constexpr):
    """Reductions of floats across a warp are one instruction."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    row = tl.load(x + at)
    weights = tl.exp(row - tl.max(row, 0))
    tl.store(o + at, weights / tl.sum(weights, 0))


@triton.jit
def moved_rows(x, rows, o, M, N: tl.constexpr, COUNT: tl.constexpr):
    """Rows that an index names, by descriptor: o[rows[i]] = x[rows[COUNT - 1 - i]]."""
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [1, N])
    target = tl.make_tensor_descriptor(o, [M, N], [N, 1], [1, N])
    i = tl.arange(0, COUNT)
    target.scatter(source.gather(tl.load(rows + COUNT - 1 - i), 0), tl.load(rows + i), 0)


@triton.jit
def scaled(a, of_a, b, of_b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    """c = a @ b with a scale for each 32 elements of a's rows and b's columns."""
    m, n, k, group = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK), tl.arange(0, BK // 32)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (first + k)[None, :])
        y = tl.load(b + (first + k)[:, None] * BN + n[None, :])
        groups = first // 32 + group
        of_x = tl.load(of_a + m[:, None] * (K // 32) + groups[None, :])
        of_y = tl.load(of_b + n[:, None] * (K // 32) + groups[None, :])
        total = tl.dot_scaled(x, of_x, KIND, y, of_y, KIND, total)
    tl.store(c + m[:, None] * BN + n[None, :], total)
