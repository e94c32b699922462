"""Attention over a sliding window with attention sinks, and over packed sequences of different lengths (cu_seqlens)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _step(q, k, v, live, m, total, acc, scale):
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    s = tl.where(live, s, -1.0e30)
    m_new = tl.maximum(m, tl.max(s, 1))
    p = tl.where(live, tl.exp(s - m_new[:, None]), 0.0)
    alpha = tl.exp(m - m_new)
    acc = tl.dot(p.to(v.dtype), v, acc=acc * alpha[:, None], input_precision="ieee")
    return m_new, total * alpha + tl.sum(p, 1), acc


@triton.jit
def _window_fwd(
    q_ptr, k_ptr, v_ptr, o_ptr, T, scale, WINDOW: tl.constexpr, SINK: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    # [heads, T, D] contiguous. Blocks of keys that no row of this block sees are not read.
    start_m = tl.program_id(0) * BLOCK_M
    base = tl.program_id(1).to(tl.int64) * T * D
    rows = start_m + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :], mask=rows[:, None] < T, other=0.0)
    m = tl.full([BLOCK_M], -1.0e30, tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    first = tl.maximum(start_m - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
    end = tl.minimum(start_m + BLOCK_M, T)
    if SINK > 0:
        for n in range(0, tl.minimum(first, SINK), BLOCK_N):
            cols = n + tl.arange(0, BLOCK_N)
            k = tl.load(k_ptr + base + cols[:, None] * D + d[None, :], mask=cols[:, None] < T, other=0.0)
            v = tl.load(v_ptr + base + cols[:, None] * D + d[None, :], mask=cols[:, None] < T, other=0.0)
            live = (cols[None, :] < SINK) & (cols[None, :] <= rows[:, None])
            m, total, acc = _step(q, k, v, live, m, total, acc, scale)
    for n in range(first, end, BLOCK_N):
        cols = n + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + cols[:, None] * D + d[None, :], mask=cols[:, None] < T, other=0.0)
        v = tl.load(v_ptr + base + cols[:, None] * D + d[None, :], mask=cols[:, None] < T, other=0.0)
        distance = rows[:, None] - cols[None, :]
        live = (distance >= 0) & ((distance < WINDOW) | (cols[None, :] < SINK)) & (cols[None, :] < T)
        m, total, acc = _step(q, k, v, live, m, total, acc, scale)
    tl.store(o_ptr + base + rows[:, None] * D + d[None, :], acc / total[:, None], mask=rows[:, None] < T)


@triton.jit
def _varlen_fwd(
    q_ptr, k_ptr, v_ptr, o_ptr, cu_seqlens_ptr, scale, heads, SOFTCAP: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    # [tokens, heads, D]; sequence i holds tokens cu_seqlens[i] .. cu_seqlens[i + 1]; causal inside a sequence.
    seq = tl.program_id(2)
    head = tl.program_id(1)
    begin = tl.load(cu_seqlens_ptr + seq)
    length = tl.load(cu_seqlens_ptr + seq + 1) - begin
    start_m = tl.program_id(0) * BLOCK_M
    if start_m >= length:
        return
    rows = start_m + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q_offs = ((begin + rows)[:, None] * heads + head) * D + d[None, :]
    q = tl.load(q_ptr + q_offs, mask=rows[:, None] < length, other=0.0)
    m = tl.full([BLOCK_M], -1.0e30, tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    for n in range(0, tl.minimum(start_m + BLOCK_M, length), BLOCK_N):
        cols = n + tl.arange(0, BLOCK_N)
        offs = ((begin + cols)[:, None] * heads + head) * D + d[None, :]
        k = tl.load(k_ptr + offs, mask=cols[:, None] < length, other=0.0)
        v = tl.load(v_ptr + offs, mask=cols[:, None] < length, other=0.0)
        live = (cols[None, :] <= rows[:, None]) & (cols[None, :] < length)
        s = tl.dot(q, k.T, input_precision="ieee") * scale
        if SOFTCAP > 0:
            s = SOFTCAP * (2 * tl.sigmoid(2 * s / SOFTCAP) - 1)
        s = tl.where(live, s, -1.0e30)
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.where(live, tl.exp(s - m_new[:, None]), 0.0)
        alpha = tl.exp(m - m_new)
        acc = tl.dot(p.to(v.dtype), v, acc=acc * alpha[:, None], input_precision="ieee")
        total = total * alpha + tl.sum(p, 1)
        m = m_new
    tl.store(o_ptr + q_offs, acc / total[:, None], mask=rows[:, None] < length)


def window_attention(q, k, v, window, sink=0, block_m=32, block_n=32):
    """q, k, v [B, H, T, D] contiguous: each query sees the `window` keys up to itself and the first `sink` ones."""
    b, h, t, d = q.shape
    o = torch.empty_like(q)
    _window_fwd[(triton.cdiv(t, block_m), b * h)](
        q, k, v, o, t, d**-0.5, WINDOW=window, SINK=sink, D=d, BLOCK_M=block_m, BLOCK_N=block_n
    )
    return o


def varlen_attention(q, k, v, cu_seqlens, max_len, softcap=0.0, block_m=32, block_n=32):
    """q, k, v [tokens, H, D] of sequences packed end to end; cu_seqlens int32 [sequences + 1]."""
    _, h, d = q.shape
    o = torch.empty_like(q)
    _varlen_fwd[(triton.cdiv(max_len, block_m), h, len(cu_seqlens) - 1)](
        q, k, v, o, cu_seqlens, d**-0.5, h, SOFTCAP=softcap, D=d, BLOCK_M=block_m, BLOCK_N=block_n
    )
    return o
