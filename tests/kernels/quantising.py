"""Dynamic quantisation: per token to int8 and fp8, per 128-blocks to fp8, packed int4 with zero points; and back."""

import torch
import triton
import triton.language as tl


@triton.jit
def _per_token_int8(x_ptr, q_ptr, scale_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x)) / 127.0, 1e-10)
    y = x / scale
    y = tl.where(y >= 0, tl.floor(y + 0.5), tl.ceil(y - 0.5))
    tl.store(q_ptr + row * n_cols + cols, y.to(tl.int8), mask=mask)
    tl.store(scale_ptr + row, scale)


@triton.jit
def _per_token_fp8(x_ptr, q_ptr, scale_ptr, n_cols, fp8_max, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    peak = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        peak = tl.maximum(peak, tl.abs(x.to(tl.float32)))
    scale = tl.maximum(tl.max(peak, axis=0), 1e-12) / fp8_max
    tl.store(scale_ptr + row, scale)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        y = tl.clamp(x.to(tl.float32) / scale, -fp8_max, fp8_max)
        tl.store(q_ptr + row * n_cols + cols, y.to(q_ptr.dtype.element_ty), mask=cols < n_cols)


@triton.jit
def _block_fp8(x_ptr, q_ptr, scale_ptr, M, N, fp8_max, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offs = rows[:, None] * N + cols[None, :]
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(x)) / fp8_max
    scale = tl.where(scale == 0.0, 1.0, scale)
    tl.store(q_ptr + offs, (x / scale).to(q_ptr.dtype.element_ty), mask=mask)
    tl.store(scale_ptr + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), scale)


@triton.jit
def _dequant_blocks(q_ptr, scale_ptr, x_ptr, M, N, BLOCK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = pid_m * BLOCK + tl.arange(0, BLOCK)
    cols = pid_n * BLOCK + tl.arange(0, BLOCK)
    offs = rows[:, None] * N + cols[None, :]
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    q = tl.load(q_ptr + offs, mask=mask).to(tl.float32)
    tl.store(x_ptr + offs, q * tl.load(scale_ptr + pid_m * tl.cdiv(N, BLOCK) + pid_n), mask=mask)


@triton.jit
def _pack_int4(w_ptr, packed_ptr, scale_ptr, zero_ptr, K, N, GROUP: tl.constexpr, BLOCK_N: tl.constexpr):
    # w [K, N] in groups of GROUP rows: 8 rows a word, low nibble first; asymmetric with zero points.
    group = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = group * GROUP + tl.arange(0, GROUP)
    live = (rows[:, None] < K) & (cols[None, :] < N)
    w = tl.load(w_ptr + rows[:, None] * N + cols[None, :], mask=live, other=0.0).to(tl.float32)
    low = tl.min(w, axis=0)
    high = tl.max(w, axis=0)
    scale = tl.maximum((high - low) / 15.0, 1e-8)
    zero = tl.floor(-low / scale + 0.5)
    zero = tl.clamp(zero, 0.0, 15.0)
    q = tl.clamp(tl.floor(w / scale[None, :] + 0.5) + zero[None, :], 0.0, 15.0).to(tl.int32)
    shifts = (tl.arange(0, 8) * 4)[None, :, None]
    words = tl.sum(tl.reshape(q, (GROUP // 8, 8, BLOCK_N)) << shifts, axis=1)
    word_rows = group * (GROUP // 8) + tl.arange(0, GROUP // 8)
    tl.store(packed_ptr + word_rows[:, None] * N + cols[None, :], words, mask=cols[None, :] < N)
    tl.store(scale_ptr + group * N + cols, scale, mask=cols < N)
    tl.store(zero_ptr + group * N + cols, zero.to(tl.int8), mask=cols < N)


def quantise_tokens(x, dtype=torch.int8, block=1024):
    """x [tokens, n]: (values of `dtype`, fp32 scale of each token)."""
    q = torch.empty_like(x, dtype=dtype)
    scale = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    if dtype == torch.int8:
        _per_token_int8[(x.shape[0],)](x, q, scale, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    else:
        _per_token_fp8[(x.shape[0],)](x, q, scale, x.shape[1], torch.finfo(dtype).max, BLOCK=block)
    return q, scale


def quantise_blocks(w, dtype=torch.float8_e4m3fn, block=128):
    """w [M, N]: (values, scales [ceil(M / block), ceil(N / block)])."""
    m, n = w.shape
    grid = (triton.cdiv(m, block), triton.cdiv(n, block))
    q, scale = torch.empty_like(w, dtype=dtype), torch.empty(grid, dtype=torch.float32, device=w.device)
    _block_fp8[grid](w, q, scale, m, n, torch.finfo(dtype).max, BLOCK=block)
    return q, scale


def dequantise_blocks(q, scale, dtype=torch.float32, block=128):
    """The inverse of quantise_blocks."""
    m, n = q.shape
    x = torch.empty(m, n, dtype=dtype, device=q.device)
    _dequant_blocks[tuple(scale.shape)](q, scale, x, m, n, BLOCK=block)
    return x


def pack_int4(w, group=32, block_n=64):
    """w [K, N]: (int32 [K / 8, N], scales [K / group, N], int8 zero points likewise); K a multiple of group."""
    k, n = w.shape
    packed = torch.empty(k // 8, n, dtype=torch.int32, device=w.device)
    scale = torch.empty(k // group, n, dtype=torch.float32, device=w.device)
    zero = torch.empty(k // group, n, dtype=torch.int8, device=w.device)
    _pack_int4[(k // group, triton.cdiv(n, block_n))](w, packed, scale, zero, k, n, GROUP=group, BLOCK_N=block_n)
    return packed, scale, zero
