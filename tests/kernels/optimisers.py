"""Optimiser steps: AdamW, Adam with 8-bit block-quantised moments, Lion, and the clipped gradient norm."""

import torch
import triton
import triton.language as tl


@triton.jit
def _adamw(p_ptr, g_ptr, m_ptr, v_ptr, lr, beta1, beta2, eps, decay, correction1, correction2, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask).to(tl.float32)
    g = tl.load(g_ptr + offs, mask=mask).to(tl.float32)
    m = tl.load(m_ptr + offs, mask=mask)
    v = tl.load(v_ptr + offs, mask=mask)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    p = p * (1.0 - lr * decay)
    p -= lr * (m / correction1) / (tl.sqrt(v / correction2) + eps)
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)


@triton.jit
def _adam8(
    p_ptr, g_ptr, m_ptr, v_ptr, m_scale_ptr, v_scale_ptr, lr, beta1, beta2, eps, correction1, correction2, n,
    BLOCK: tl.constexpr,
):  # fmt: skip
    # Moments as int8 and uint8 with one scale a block; the second one by its square root.
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask, other=0.0)
    m = tl.load(m_ptr + offs, mask=mask, other=0).to(tl.float32) * tl.load(m_scale_ptr + pid)
    root = tl.load(v_ptr + offs, mask=mask, other=0).to(tl.float32) * tl.load(v_scale_ptr + pid)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * root * root + (1 - beta2) * g * g
    root = tl.sqrt(v)
    tl.store(p_ptr + offs, p - lr * (m / correction1) / (root / tl.sqrt(correction2) + eps), mask=mask)
    m_scale = tl.maximum(tl.max(tl.abs(m), axis=0) / 127.0, 1e-20)
    v_scale = tl.maximum(tl.max(root, axis=0) / 255.0, 1e-20)
    tl.store(m_scale_ptr + pid, m_scale)
    tl.store(v_scale_ptr + pid, v_scale)
    tl.store(m_ptr + offs, tl.floor(m / m_scale + 0.5).to(tl.int8), mask=mask)
    tl.store(v_ptr + offs, tl.floor(root / v_scale + 0.5).to(tl.uint8), mask=mask)


@triton.jit
def _lion(p_ptr, g_ptr, m_ptr, lr, beta1, beta2, decay, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    m = tl.load(m_ptr + offs, mask=mask)
    p = p * (1 - lr * decay)
    update = beta1 * m + (1 - beta1) * g
    step = tl.where(update > 0, lr, tl.where(update < 0, -lr, 0.0))
    tl.store(p_ptr + offs, p - step, mask=mask)
    tl.store(m_ptr + offs, beta2 * m + (1 - beta2) * g, mask=mask)


@triton.jit
def _square_sum(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    # A grid that walks over the elements, one atomic a program.
    acc = tl.zeros([BLOCK], tl.float32)
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
        acc += x * x
    tl.atomic_add(total_ptr, tl.sum(acc, axis=0))


@triton.jit
def _clip(x_ptr, total_ptr, max_norm, n, BLOCK: tl.constexpr):
    norm = tl.sqrt(tl.load(total_ptr))
    factor = max_norm / (norm + 1e-6)
    if factor < 1.0:
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        tl.store(x_ptr + offs, x * factor, mask=offs < n)


def adamw_(p, g, m, v, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, decay=0.01, block=1024):
    """One step in place; m, v fp32."""
    n = p.numel()
    _adamw[(triton.cdiv(n, block),)](
        p, g, m, v, lr, *betas, eps, decay, 1 - betas[0] ** step, 1 - betas[1] ** step, n, BLOCK=block
    )


def adam8_(p, g, m, v, m_scale, v_scale, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, block=256):
    """One step in place; m int8, v uint8, a scale of each for every `block` elements."""
    n = p.numel()
    _adam8[(triton.cdiv(n, block),)](
        p, g, m, v, m_scale, v_scale, lr, *betas, eps, 1 - betas[0] ** step, 1 - betas[1] ** step, n, BLOCK=block
    )


def lion_(p, g, m, lr=1e-3, betas=(0.9, 0.99), decay=0.1, block=1024):
    """One step in place, fp32."""
    _lion[(triton.cdiv(p.numel(), block),)](p, g, m, lr, *betas, decay, p.numel(), BLOCK=block)


def clip_norm_(x, max_norm, programs=4, block=1024):
    """Scales x in place to length max_norm if it is longer; returns its square length."""
    total = torch.zeros(1, dtype=torch.float32, device=x.device)
    n = x.numel()
    _square_sum[(programs,)](x, total, n, BLOCK=block)
    _clip[(triton.cdiv(n, block),)](x, total, max_norm, n, BLOCK=block)
    return total
