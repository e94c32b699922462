"""Kernels of rows that loop over blocks, and gradients of attention, that benchmarks/gpu.py times.

Not here: kernels of one block a row, attention forward (gpu_kernels.py), products (gpu_product_kernels.py).
"""

import triton
import triton.language as tl


@triton.jit
def layer_norm_loops(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        total += tl.load(x + row + start + at, mask=start + at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        centred = tl.where(inside, tl.load(x + row + start + at, mask=inside, other=0.0).to(tl.float32) - mean, 0.0)
        squares += centred * centred
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / columns + eps)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        w = tl.load(weight + start + at, mask=inside).to(tl.float32)
        b = tl.load(bias + start + at, mask=inside).to(tl.float32)
        value = tl.load(x + row + start + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + row + start + at, ((value - mean) * scale * w + b).to(out.dtype.element_ty), mask=inside)


@triton.jit
def rms_norm(x, weight, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row + at, mask=at < columns, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, 0) / columns + eps)
    w = tl.load(weight + at, mask=at < columns, other=0.0).to(tl.float32)
    tl.store(out + row + at, (value * scale * w).to(out.dtype.element_ty), mask=at < columns)


@triton.jit
def cross_entropy(logits, labels, losses, columns, BLOCK: tl.constexpr):
    """losses[row] = log(sum(exp(logits[row]))) - logits[row, labels[row]], in one pass."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    best = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        value = tl.load(logits + row * columns + start + at, mask=inside, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(best, tl.max(value, 0))
        total = total * tl.exp(best - higher) + tl.sum(tl.exp(value - higher), 0)
        best = higher
    wanted = tl.load(logits + row * columns + tl.load(labels + row)).to(tl.float32)
    tl.store(losses + row, best + tl.log(total) - wanted)


@triton.jit
def attention_gradient_kv(
    q, k, v, do, lse, delta, dk, dv, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """lse: base-2 logarithm of a row's sum of exp2(scores). delta: a row's sum of out * do. Both: [heads, T]."""
    head = tl.program_id(1).to(tl.int64)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.arange(0, BM)
    d = tl.arange(0, D)
    own = head * T * D + n[:, None] * D + d[None, :]
    keys, values = tl.load(k + own), tl.load(v + own)
    sum_k = tl.zeros((BN, D), tl.float32)
    sum_v = tl.zeros((BN, D), tl.float32)
    for start in range(0, T, BM):
        at = head * T * D + (start + m)[:, None] * D + d[None, :]
        queries, gradient = tl.load(q + at), tl.load(do + at)
        p = tl.exp2(
            tl.dot(keys, tl.trans(queries)) * (scale * 1.44269504) - tl.load(lse + head * T + start + m)[None, :]
        )
        sum_v = tl.dot(p.to(v.dtype.element_ty), gradient, sum_v)
        dp = tl.dot(values, tl.trans(gradient))
        ds = p * (dp - tl.load(delta + head * T + start + m)[None, :])
        sum_k = tl.dot(ds.to(k.dtype.element_ty), queries, sum_k)
    tl.store(dk + own, (sum_k * scale).to(dk.dtype.element_ty))
    tl.store(dv + own, sum_v.to(dv.dtype.element_ty))


@triton.jit
def attention_gradient_q(q, k, v, do, lse, delta, dq, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    own = head * T * D + m[:, None] * D + d[None, :]
    queries, gradient = tl.load(q + own), tl.load(do + own)
    logs, deltas = tl.load(lse + head * T + m), tl.load(delta + head * T + m)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        at = head * T * D + (start + n)[:, None] * D + d[None, :]
        keys, values = tl.load(k + at), tl.load(v + at)
        p = tl.exp2(tl.dot(queries, tl.trans(keys)) * (scale * 1.44269504) - logs[:, None])
        ds = p * (tl.dot(gradient, tl.trans(values)) - deltas[:, None])
        acc = tl.dot(ds.to(q.dtype.element_ty), keys, acc)
    tl.store(dq + own, (acc * scale).to(dq.dtype.element_ty))
