"""Triton kernels as people ship them. Nothing in this file knows of tiletwin."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


@triton.jit
def row_softmax(x_ptr, out_ptr, row_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * row_stride + cols, mask=mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    num = tl.exp(x)
    tl.store(out_ptr + row * row_stride + cols, num / tl.sum(num, axis=0), mask=mask)


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, out_ptr, row_stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * row_stride
    out_ptr += row * row_stride
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(mask, x - mean, 0.0)
    var = tl.sum(centred * centred, axis=0) / n_cols
    rstd = 1 / tl.sqrt(var + eps)
    w = tl.load(w_ptr + cols, mask=mask)
    b = tl.load(b_ptr + cols, mask=mask)
    tl.store(out_ptr + cols, centred * rstd * w + b, mask=mask)


@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    PRECISION: tl.constexpr,
):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    pid_m, pid_n = tl.swizzle2d(pid // num_n, pid % num_n, num_m, num_n, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :] * stride_ak
    b_ptrs = b_ptr + rk[:, None] * stride_bk + rn[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    c_ptrs = c_ptr + rm[:, None] * stride_cm + rn[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def product(a, b, out, tile, group=8, precision="ieee"):
    """out = a @ b, in tiles of (rows, columns, depth)."""
    bm, bn, bk = tile
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    strides = (*a.stride(), *b.stride(), *out.stride())
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    matmul[grid](a, b, out, m, n, k, *strides, BM=bm, BN=bn, BK=bk, GROUP=group, PRECISION=precision)


@triton.jit
def flash_attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    T,
    scale,
    stride_h,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    start = tl.program_id(0) * BM
    base = tl.program_id(1) * stride_h
    rm = start + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < T, other=0.0)
    m_i = tl.full((BM,), float("-inf"), tl.float32)
    l_i = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    scale_log2 = scale * 1.4426950408889634
    end = T
    if CAUSAL:
        end = min(start + BM, T)
    for n in range(0, end, BN):
        cols = n + rn
        k = tl.load(k_ptr + base + cols[None, :] * D + rd[:, None], mask=cols[None, :] < T, other=0.0)
        s = tl.dot(q, k) * scale_log2
        if CAUSAL:
            s = tl.where((rm[:, None] >= cols[None, :]) & (cols[None, :] < T), s, float("-inf"))
        else:
            s = tl.where(cols[None, :] < T, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + base + cols[:, None] * D + rd[None, :], mask=cols[:, None] < T, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(out_ptr + base + rm[:, None] * D + rd[None, :], acc.to(out_ptr.dtype.element_ty), mask=rm[:, None] < T)


@triton.jit
def rgb_to_grey(x_ptr, out_ptr, height, width, BY: tl.constexpr, BX: tl.constexpr):
    y = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    x = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    mask = (y < height) & (x < width)
    pixel = y * width + x
    r = tl.load(x_ptr + pixel * 3, mask=mask)
    g = tl.load(x_ptr + pixel * 3 + 1, mask=mask)
    b = tl.load(x_ptr + pixel * 3 + 2, mask=mask)
    grey = 0.2989 * r + 0.5870 * g + 0.1140 * b
    tl.store(out_ptr + pixel, grey.to(tl.uint8), mask=mask)


@triton.jit
def forgotten_mask(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)  # n is no multiple of BLOCK, and nothing masks the last block
    tl.store(out_ptr + offs, x * 2, mask=offs < n)
