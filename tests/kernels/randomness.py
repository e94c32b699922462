"""Kernels with counter-based random numbers: dropout, initialisers, stochastic rounding, hashes."""

import torch
import triton
import triton.language as tl
from checking import DEVICE


@triton.jit
def _dropout(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    # No mask is stored: the backward pass draws the same numbers again.
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = offs < n
    x = tl.load(x_ptr + offs, mask=live)
    keep = tl.rand(seed, offs) > p
    tl.store(y_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=live)


@triton.jit
def _dropout_residual_norm(x_ptr, residual_ptr, w_ptr, y_ptr, n_cols, p, seed, eps, BLOCK: tl.constexpr):
    # y = rms_norm(residual + dropout(x)) * w; four numbers for each counter.
    row = tl.program_id(0)
    q: tl.constexpr = BLOCK // 4
    r0, r1, r2, r3 = tl.rand4x(seed, row * q + tl.arange(0, q))
    u = tl.reshape(tl.join(tl.join(r0, r2), tl.join(r1, r3)), (BLOCK,))
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(residual_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    h = r + tl.where(u > p, x / (1 - p), 0.0)
    h = tl.where(mask, h, 0.0)
    rstd = tl.rsqrt(tl.sum(h * h, axis=0) / n_cols + eps)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    tl.store(y_ptr + row * n_cols + cols, h * rstd * w, mask=mask)


@triton.jit
def _init(out_ptr, n, seed, a, b, KIND: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == "uniform":
        value = a + (b - a) * tl.rand(seed, offs)
    elif KIND == "normal":
        value = a + b * tl.randn(seed, offs)
    else:
        # truncated at two standard deviations by drawing again
        value = tl.randn(seed, offs)
        for i in tl.static_range(1, 6):
            value = tl.where(tl.abs(value) > 2.0, tl.randn(seed + i, offs), value)
        value = a + b * tl.clamp(value, -2.0, 2.0)
    tl.store(out_ptr + offs, value, mask=offs < n)


@triton.jit
def _stochastic_bf16(x_ptr, y_ptr, n, seed, BLOCK: tl.constexpr):
    # Random bits below the kept ones, then truncation.
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    bits = tl.load(x_ptr + offs, mask=mask).to(tl.uint32, bitcast=True)
    noise = tl.randint(seed, offs).to(tl.uint32, bitcast=True) & 0xFFFF
    kept = ((bits + noise) >> 16).to(tl.uint16)
    tl.store(y_ptr + offs, kept.to(tl.bfloat16, bitcast=True), mask=mask)


@triton.jit
def _murmur(x_ptr, out_ptr, n, buckets, BLOCK: tl.constexpr):
    # The 32-bit finaliser of MurmurHash3, and its bucket by multiplication.
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.load(x_ptr + offs, mask=offs < n, other=0).to(tl.uint32)
    h ^= h >> 16
    h *= 0x85EBCA6B
    h ^= h >> 13
    h *= 0xC2B2AE35
    h ^= h >> 16
    tl.store(out_ptr + offs, tl.umulhi(h, buckets.to(tl.uint32)).to(tl.int32), mask=offs < n)


def dropout(x, p, seed, block=1024):
    """Elements survive with probability 1 - p; the same seed gives the same choice (also for gradients)."""
    y = torch.empty_like(x)
    _dropout[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), p, seed, BLOCK=block)
    return y


def dropout_residual_norm(x, residual, w, p, seed, eps=1e-6):
    """rms_norm(residual + dropout(x)) * w over the rows."""
    y = torch.empty_like(x)
    n = x.shape[1]
    _dropout_residual_norm[(x.shape[0],)](x, residual, w, y, n, p, seed, eps, BLOCK=max(16, triton.next_power_of_2(n)))
    return y


def initialise(n, kind, a, b, seed, dtype=torch.float32, block=1024):
    """uniform in [a, b), normal or truncated normal of mean a and deviation b."""
    out = torch.empty(n, dtype=dtype, device=DEVICE)
    _init[(triton.cdiv(n, block),)](out, n, seed, a, b, KIND=kind, BLOCK=block)
    return out


def stochastic_bf16(x, seed, block=1024):
    """fp32 to bf16, up or down in proportion to the distance."""
    y = torch.empty_like(x, dtype=torch.bfloat16)
    _stochastic_bf16[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), seed, BLOCK=block)
    return y


def hash_buckets(x, buckets, block=256):
    """int32 keys to [0, buckets)."""
    out = torch.empty_like(x)
    _murmur[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), buckets, BLOCK=block)
    return out
