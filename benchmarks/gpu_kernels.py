"""Kernels that benchmarks/gpu.py times: imported once with Triton and once with tiletwin behind the name `triton`.

Not here: loops over blocks of a row, gradients (gpu_row_kernels.py), other products (gpu_product_kernels.py).
"""

import triton
import triton.language as tl


@triton.jit
def vadd(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    e = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * columns + at, e / tl.sum(e, 0), mask=inside)


@triton.jit
def layer_norm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, 0) / columns
    centred = tl.where(inside, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + eps)
    w = tl.load(weight + at, mask=inside).to(tl.float32)
    b = tl.load(bias + at, mask=inside).to(tl.float32)
    tl.store(out + row * columns + at, (centred * scale * w + b).to(out.dtype.element_ty), mask=inside)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    pm = first + pid % (GROUP * columns) % height
    pn = pid % (GROUP * columns) // height
    m = (pm * BM + tl.arange(0, BM)) % M
    n = (pn * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    at_a = a + m[:, None] * K + k[None, :]
    at_b = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(at_a), tl.load(at_b), acc)
        at_a += BK
        at_b += BK * N
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_integers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    m = (first + pid % (GROUP * columns) % height) * BM + tl.arange(0, BM)
    n = pid % (GROUP * columns) // height * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    at_a = a + m[:, None] * K + k[None, :]
    at_b = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.int32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(at_a), tl.load(at_b), acc, out_dtype=tl.int32)
        at_a += BK
        at_b += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def attention_step(queries, at_k, at_v, m, n, best, total, acc, scale, CAUSAL: tl.constexpr):
    """A block of keys and values. CAUSAL: those of keys n that lie behind the token of a row do not count."""
    s = tl.dot(queries, tl.load(at_k)) * (scale * 1.44269504)
    if CAUSAL:
        s = tl.where(m[:, None] >= n[None, :], s, -float("inf"))
    higher = tl.maximum(best, tl.max(s, 1))
    p = tl.exp2(s - higher[:, None])
    shrink = tl.exp2(best - higher)
    values = tl.load(at_v)
    acc = tl.dot(p.to(values.dtype), values, acc * shrink[:, None])
    return higher, total * shrink + tl.sum(p, 1), acc


@triton.jit
def attention(q, k, v, out, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * T * D
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    queries = tl.load(q + head + m[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    at_k = k + head + n[None, :] * D + d[:, None]
    at_v = v + head + n[:, None] * D + d[None, :]
    for _ in range(0, T, BN):
        best, total, acc = attention_step(queries, at_k, at_v, m, n, best, total, acc, scale, False)
        at_k += BN * D
        at_v += BN * D
    tl.store(out + head + m[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def attention_causal(q, k, v, out, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Blocks in front of the diagonal without a mask, then those on it."""
    head = tl.program_id(1).to(tl.int64) * T * D
    first = tl.program_id(0) * BM
    m = first + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    queries = tl.load(q + head + m[:, None] * D + d[None, :])
    at_k = k + head + n[None, :] * D + d[:, None]
    at_v = v + head + n[:, None] * D + d[None, :]
    for _ in range(0, first, BN):
        best, total, acc = attention_step(queries, at_k, at_v, m, n, best, total, acc, scale, False)
        at_k += BN * D
        at_v += BN * D
    for start in range(first, first + BM, BN):
        best, total, acc = attention_step(queries, at_k, at_v, m, start + n, best, total, acc, scale, True)
        at_k += BN * D
        at_v += BN * D
    tl.store(out + head + m[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def nothing(x, n):
    pass
