"""Convolutions: 2-d as an implicit matrix product, causal depthwise over time with its gradients, max pooling."""

import torch
import triton
import triton.language as tl


@triton.jit
def _conv2d(
    x_ptr, w_ptr, b_ptr, y_ptr, batch, C, H, W, F, P, Q,
    R: tl.constexpr, S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, DILATION: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # Rows: output pixels (n, p, q); columns: filters; depth: (c, r, s). x [N, C, H, W], w [F, C, R, S], y [N, F, P, Q].
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    f = tl.program_id(1) * BN + tl.arange(0, BN)
    q = m % Q
    p = (m // Q) % P
    n = m // (Q * P)
    depth = C * R * S
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, depth, BK):
        kk = k + tl.arange(0, BK)
        s = kk % S
        r = (kk // S) % R
        c = kk // (R * S)
        h = p[:, None] * STRIDE - PAD + r[None, :] * DILATION
        w = q[:, None] * STRIDE - PAD + s[None, :] * DILATION
        inside = (h >= 0) & (h < H) & (w >= 0) & (w < W)
        x_offs = ((n[:, None] * C + c[None, :]) * H + h) * W + w
        x = tl.load(x_ptr + x_offs, mask=inside & (n[:, None] < batch) & (kk[None, :] < depth), other=0.0)
        weights = tl.load(
            w_ptr + f[None, :] * depth + kk[:, None], mask=(f[None, :] < F) & (kk[:, None] < depth), other=0.0
        )
        acc = tl.dot(x, weights, acc, input_precision="ieee")
    if b_ptr is not None:
        acc += tl.load(b_ptr + f, mask=f < F, other=0.0)[None, :]
    y_offs = ((n[:, None] * F + f[None, :]) * P + p[:, None]) * Q + q[:, None]
    tl.store(y_ptr + y_offs, acc, mask=(n[:, None] < batch) & (f[None, :] < F))


@triton.jit
def _causal_conv1d(
    x_ptr, w_ptr, b_ptr, state_ptr, y_ptr, T, C, K: tl.constexpr, SILU: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    # x, y [B, T, C], w [C, K], state [B, K - 1, C]: what came before x.
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    batch = tl.program_id(2)
    live_c = c < C
    acc = tl.zeros((BLOCK_T, BLOCK_C), dtype=tl.float32)
    if b_ptr is not None:
        acc += tl.load(b_ptr + c, mask=live_c, other=0.0).to(tl.float32)[None, :]
    for j in tl.static_range(K):
        at = t - (K - 1) + j
        x = tl.load(
            x_ptr + (batch * T + at)[:, None] * C + c[None, :],
            mask=((at >= 0) & (at < T))[:, None] & live_c[None, :],
            other=0.0,
        )
        if state_ptr is not None:
            old = tl.load(
                state_ptr + (batch * (K - 1) + at + K - 1)[:, None] * C + c[None, :],
                mask=(at < 0)[:, None] & live_c[None, :],
                other=0.0,
            )
            x = tl.where((at < 0)[:, None], old, x)
        w = tl.load(w_ptr + c * K + j, mask=live_c, other=0.0)
        acc += x.to(tl.float32) * w.to(tl.float32)[None, :]
    if SILU:
        acc = acc * tl.sigmoid(acc)
    tl.store(y_ptr + (batch * T + t)[:, None] * C + c[None, :], acc, mask=(t < T)[:, None] & live_c[None, :])


@triton.jit
def _causal_conv1d_bwd(
    dy_ptr, x_ptr, w_ptr, dx_ptr, dw_ptr, T, C, K: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr
):
    # dw [blocks of time, B, C, K]: partial sums, added up by the caller.
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    batch = tl.program_id(2)
    base = batch * T
    live = (t < T)[:, None] & (c < C)[None, :]
    dy = tl.load(dy_ptr + (base + t)[:, None] * C + c[None, :], mask=live, other=0.0).to(tl.float32)
    dx = tl.zeros((BLOCK_T, BLOCK_C), dtype=tl.float32)
    for j in tl.static_range(K):
        back = K - 1 - j
        w = tl.load(w_ptr + c * K + j, mask=c < C, other=0.0).to(tl.float32)
        later = t + back
        mask = (later < T)[:, None] & (c < C)[None, :]
        dx += tl.load(dy_ptr + (base + later)[:, None] * C + c[None, :], mask=mask, other=0.0) * w[None, :]
        earlier = t - back
        mask = ((earlier >= 0) & (t < T))[:, None] & (c < C)[None, :]
        x = tl.load(x_ptr + (base + earlier)[:, None] * C + c[None, :], mask=mask, other=0.0).to(tl.float32)
        partial = tl.sum(dy * x, axis=0)
        row = tl.program_id(0) * tl.num_programs(2) + batch
        tl.store(dw_ptr + (row * C + c) * K + j, partial, mask=c < C)
    tl.store(dx_ptr + (base + t)[:, None] * C + c[None, :], dx, mask=live)


@triton.jit
def _max_pool2d(x_ptr, y_ptr, index_ptr, H, W, P, Q, SIZE: tl.constexpr, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = o < P * Q
    h0 = o // Q * STRIDE
    w0 = o % Q * STRIDE
    best = tl.full([BLOCK], float("-inf"), tl.float32)
    at = tl.zeros([BLOCK], tl.int64)
    for i in tl.static_range(SIZE):
        for j in tl.static_range(SIZE):
            here = (h0 + i) * W + w0 + j
            x = tl.load(x_ptr + plane * H * W + here, mask=mask, other=float("-inf"))
            better = x > best
            best = tl.where(better, x, best)
            at = tl.where(better, here, at)
    tl.store(y_ptr + plane * P * Q + o, best, mask=mask)
    tl.store(index_ptr + plane * P * Q + o, at, mask=mask)


def conv2d(x, w, b=None, stride=1, pad=0, dilation=1, bm=64, bn=32, bk=32):
    """x [N, C, H, W], w [F, C, R, S]."""
    n, c, h, wd = x.shape
    f, _, r, s = w.shape
    p = (h + 2 * pad - dilation * (r - 1) - 1) // stride + 1
    q = (wd + 2 * pad - dilation * (s - 1) - 1) // stride + 1
    y = torch.empty(n, f, p, q, dtype=x.dtype, device=x.device)
    _conv2d[(triton.cdiv(n * p * q, bm), triton.cdiv(f, bn))](
        x, w, b, y, n, c, h, wd, f, p, q, R=r, S=s, STRIDE=stride, PAD=pad, DILATION=dilation, BM=bm, BN=bn, BK=bk
    )
    return y


def causal_conv1d(x, w, b=None, state=None, silu=False, block_t=32, block_c=32):
    """x [B, T, C], w [C, K]: y_t = sum_j w_j x_(t - K + 1 + j) + b."""
    batch, t, c = x.shape
    y = torch.empty_like(x)
    _causal_conv1d[(triton.cdiv(t, block_t), triton.cdiv(c, block_c), batch)](
        x, w, b, state, y, t, c, K=w.shape[1], SILU=silu, BLOCK_T=block_t, BLOCK_C=block_c
    )
    return y


def causal_conv1d_backward(dy, x, w, block_t=32, block_c=32):
    """Gradients of x and w without activation or state."""
    batch, t, c = x.shape
    dx = torch.empty_like(x)
    partial = torch.empty(triton.cdiv(t, block_t), batch, c, w.shape[1], dtype=torch.float32, device=x.device)
    _causal_conv1d_bwd[(triton.cdiv(t, block_t), triton.cdiv(c, block_c), batch)](
        dy, x, w, dx, partial, t, c, K=w.shape[1], BLOCK_T=block_t, BLOCK_C=block_c
    )
    return dx, partial.sum((0, 1)).to(w.dtype)


def max_pool2d(x, size, stride, block=256):
    """(maxima, their flat indices in each plane as int64)."""
    n, c, h, w = x.shape
    p, q = (h - size) // stride + 1, (w - size) // stride + 1
    y = torch.empty(n, c, p, q, dtype=x.dtype, device=x.device)
    index = torch.empty(n, c, p, q, dtype=torch.int64, device=x.device)
    _max_pool2d[(n * c, triton.cdiv(p * q, block))](x, y, index, h, w, p, q, SIZE=size, STRIDE=stride, BLOCK=block)
    return y, index
