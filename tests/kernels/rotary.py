"""Rotary position embedding: halves rotated for queries and keys at once, interleaved pairs, and both backward."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rope_half(
    q_ptr, q_stride, k_ptr, k_stride, cos_ptr, sin_ptr, T,
    HQ: tl.constexpr, HK: tl.constexpr, D: tl.constexpr,
    PAD_HQ: tl.constexpr, PAD_HK: tl.constexpr, BACKWARD: tl.constexpr,
):  # fmt: skip
    # q [B * T, HQ, D], k [B * T, HK, D] in place; cos, sin [T, D / 2]. One program a token.
    pid = tl.program_id(0).to(tl.int64)
    q_ptr += pid * q_stride
    k_ptr += pid * k_stride
    half: tl.constexpr = D // 2
    d = tl.arange(0, half)
    pos = pid % T
    cos = tl.load(cos_ptr + pos * half + d).to(tl.float32)[None, :]
    sin = tl.load(sin_ptr + pos * half + d).to(tl.float32)[None, :]
    if BACKWARD:
        sin = -sin
    q_first = tl.arange(0, PAD_HQ)[:, None] * D + d[None, :]
    k_first = tl.arange(0, PAD_HK)[:, None] * D + d[None, :]
    q_mask = tl.arange(0, PAD_HQ)[:, None] < HQ
    k_mask = tl.arange(0, PAD_HK)[:, None] < HK
    q1 = tl.load(q_ptr + q_first, mask=q_mask, other=0).to(tl.float32)
    q2 = tl.load(q_ptr + q_first + half, mask=q_mask, other=0).to(tl.float32)
    tl.store(q_ptr + q_first, q1 * cos - q2 * sin, mask=q_mask)
    tl.store(q_ptr + q_first + half, q2 * cos + q1 * sin, mask=q_mask)
    k1 = tl.load(k_ptr + k_first, mask=k_mask, other=0).to(tl.float32)
    k2 = tl.load(k_ptr + k_first + half, mask=k_mask, other=0).to(tl.float32)
    tl.store(k_ptr + k_first, k1 * cos - k2 * sin, mask=k_mask)
    tl.store(k_ptr + k_first + half, k2 * cos + k1 * sin, mask=k_mask)


@triton.jit
def _rope_interleaved(
    x_ptr, out_ptr, positions_ptr, inv_freq_ptr, n_tokens, H, D: tl.constexpr, R: tl.constexpr,
    BLOCK_T: tl.constexpr, CONJUGATE: tl.constexpr,
):  # fmt: skip
    # Pairs (0, 1), (2, 3), ... of the first R of D elements are turned; the rest is copied. Angles are made here.
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    head = tl.program_id(1)
    pairs = tl.arange(0, R // 2)
    both = tl.arange(0, R)
    live = t[:, None] < n_tokens
    base = (t[:, None] * H + head) * D
    pos = tl.load(positions_ptr + t, mask=t < n_tokens, other=0).to(tl.float32)
    angle = pos[:, None] * tl.load(inv_freq_ptr + pairs)[None, :]
    cos = tl.cos(angle)
    sin = tl.sin(angle)
    if CONJUGATE:
        sin = -sin
    x = tl.load(x_ptr + base + both[None, :], mask=live, other=0.0)
    even, odd = tl.split(tl.reshape(x.to(tl.float32), (BLOCK_T, R // 2, 2)))
    turned = tl.interleave(even * cos - odd * sin, even * sin + odd * cos)
    tl.store(out_ptr + base + both[None, :], turned.to(out_ptr.dtype.element_ty), mask=live)
    if R < D:
        rest = R + tl.arange(0, R)
        for start in tl.static_range(0, D - R, R):
            keep = live & (rest + start < D)[None, :]
            value = tl.load(x_ptr + base + start + rest[None, :], mask=keep)
            tl.store(out_ptr + base + start + rest[None, :], value, mask=keep)


def rope_half_(q, k, cos, sin, backward=False):
    """q [B, T, HQ, D], k [B, T, HK, D] turned in place; cos, sin [T, D / 2]."""
    b, t, hq, d = q.shape
    hk = k.shape[2]
    _rope_half[(b * t,)](
        q, q.stride(1), k, k.stride(1), cos, sin, t, HQ=hq, HK=hk, D=d,
        PAD_HQ=triton.next_power_of_2(hq), PAD_HK=triton.next_power_of_2(hk), BACKWARD=backward,
    )  # fmt: skip


def rope_interleaved(x, positions, rotary_dim, base=10000.0, conjugate=False, block=16):
    """x [tokens, H, D]; the first `rotary_dim` (a power of two) elements of each head are turned by position."""
    n, h, d = x.shape
    inv_freq = 1.0 / base ** (torch.arange(0, rotary_dim, 2, device=x.device, dtype=torch.float32) / rotary_dim)
    out = torch.empty_like(x)
    _rope_interleaved[(triton.cdiv(n, block), h)](
        x, out, positions, inv_freq, n, h, D=d, R=rotary_dim, BLOCK_T=block, CONJUGATE=conjugate
    )
    return out
