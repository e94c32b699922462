"""Losses: cross entropy (label smoothing, ignore_index, z-loss) with gradients in place, KL divergence, JSD."""

import torch
import triton
import triton.language as tl


@triton.jit
def _cross_entropy(
    logits_ptr,
    stride,
    target_ptr,
    loss_ptr,
    lse_ptr,
    n_cols,
    n_kept,
    ignore_index,
    smoothing: tl.constexpr,
    z_weight: tl.constexpr,
    WITH_GRAD: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # Two passes: maximum and sum online, then the gradient written over the logits.
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * stride
    y = tl.load(target_ptr + row)
    if y == ignore_index:
        if WITH_GRAD:
            for i in range(0, n_cols, BLOCK):
                offs = i + tl.arange(0, BLOCK)
                tl.store(logits_ptr + offs, 0.0, mask=offs < n_cols)
        tl.store(loss_ptr + row, 0.0)
        tl.store(lse_ptr + row, 0.0)
        return
    m = float("-inf")
    d = 0.0
    total = 0.0
    at_target = tl.load(logits_ptr + y).to(tl.float32)
    for i in range(0, n_cols, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + offs, mask=offs < n_cols, other=float("-inf")).to(tl.float32)
        if smoothing > 0:
            total += tl.sum(tl.where(offs < n_cols, x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    loss = (1 - smoothing) * (lse - at_target)
    if smoothing > 0:
        loss += smoothing * (lse - total / n_cols)
    if z_weight > 0:
        loss += z_weight * lse * lse
    tl.store(loss_ptr + row, loss / n_kept)
    tl.store(lse_ptr + row, lse)
    if WITH_GRAD:
        tl.debug_barrier()
        eps = smoothing / n_cols
        for i in range(0, n_cols, BLOCK):
            offs = i + tl.arange(0, BLOCK)
            x = tl.load(logits_ptr + offs, mask=offs < n_cols, other=float("-inf")).to(tl.float32)
            p = tl.exp(x - lse)
            grad = p - eps - tl.where(offs == y, 1 - smoothing, 0.0)
            if z_weight > 0:
                grad += 2 * z_weight * lse * p
            tl.store(logits_ptr + offs, grad / n_kept, mask=offs < n_cols)


@triton.jit
def _scale_rows(x_ptr, stride, factor_ptr, n_cols, BLOCK: tl.constexpr):
    # The gradient that arrives from above, unless it is one.
    row = tl.program_id(0).to(tl.int64)
    factor = tl.load(factor_ptr)
    if factor == 1.0:
        return
    for i in range(0, n_cols, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + offs, mask=offs < n_cols)
        tl.store(x_ptr + row * stride + offs, x * factor, mask=offs < n_cols)


_NONE: tl.constexpr = tl.constexpr(0)
_SUM: tl.constexpr = tl.constexpr(1)


@triton.jit
def _kl_div(
    logq_ptr,
    p_ptr,
    loss_ptr,
    grad_ptr,
    n_cols,
    eps,
    REDUCTION: tl.constexpr,
    LOG_TARGET: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * n_cols
    acc = 0.0
    for i in range(0, n_cols, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        mask = offs < n_cols
        logq = tl.load(logq_ptr + row + offs, mask=mask, other=0.0)
        p = tl.load(p_ptr + row + offs, mask=mask, other=0.0)
        if LOG_TARGET:
            loss = tl.where(mask, tl.exp(p) * (p - logq), 0.0)
            grad = -tl.exp(p)
        else:
            loss = tl.where(mask, p * (tl.log(tl.maximum(p, eps)) - logq), 0.0)
            grad = -p
        tl.store(grad_ptr + row + offs, grad, mask=mask)
        if REDUCTION == _NONE:
            tl.store(loss_ptr + row + offs, loss, mask=mask)
        else:
            acc += tl.sum(loss, axis=0)
    if REDUCTION == _SUM:
        tl.store(loss_ptr + tl.program_id(0), acc)


@triton.jit
def _jsd(x_ptr, y_ptr, loss_ptr, dx_ptr, n_cols, beta: tl.constexpr, BLOCK: tl.constexpr):
    # x, y: log probabilities of student and teacher. beta 0: KL(y | x), 1: KL(x | y).
    row = tl.program_id(0).to(tl.int64) * n_cols
    for i in range(0, n_cols, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        mask = offs < n_cols
        x = tl.load(x_ptr + row + offs, mask=mask, other=float("-inf")).to(tl.float32)
        y = tl.load(y_ptr + row + offs, mask=mask, other=float("-inf")).to(tl.float32)
        if beta == 0.0:
            q = tl.exp(y)
            loss = q * (y - x)
            dx = -q
        elif beta == 1.0:
            p = tl.exp(x)
            loss = p * (x - y)
            dx = loss + p
        else:
            q = tl.exp(x)
            p = tl.exp(y)
            mix = beta * p + (1 - beta) * q
            logm = tl.log(mix)
            loss = beta * p * (y - logm) + (1 - beta) * q * (x - logm)
            dx = (1 - beta) * q * (x - logm)
        tl.store(loss_ptr + row + offs, loss, mask=mask)
        tl.store(dx_ptr + row + offs, dx, mask=mask)


def cross_entropy(logits, target, smoothing=0.0, ignore_index=-100, z_weight=0.0, grad=False, block=4096):
    """Mean loss over the kept rows and the rows' log-sum-exp; with `grad` the gradient replaces the logits."""
    rows, cols = logits.shape
    loss = torch.empty(rows, dtype=torch.float32, device=logits.device)
    lse = torch.empty_like(loss)
    kept = max(1, int((target != ignore_index).sum()))
    _cross_entropy[(rows,)](
        logits,
        logits.stride(0),
        target,
        loss,
        lse,
        cols,
        kept,
        ignore_index,
        smoothing=smoothing,
        z_weight=z_weight,
        WITH_GRAD=grad,
        BLOCK=min(block, triton.next_power_of_2(cols)),
        num_warps=16,
    )
    return loss.sum(), lse


def scale_rows_(x, factor, block=2048):
    """x *= factor, a tensor of one element; nothing is read when it is one."""
    _scale_rows[(x.shape[0],)](x, x.stride(0), factor, x.shape[1], BLOCK=block)


def kl_div(logq, p, reduction="sum", log_target=False, block=1024):
    """KL(p | q) per element or row sums, and the gradient of the sum with respect to logq."""
    rows, cols = logq.shape
    none = reduction == "none"
    loss = torch.empty((rows, cols) if none else (rows,), dtype=torch.float32, device=p.device)
    grad = torch.empty_like(logq)
    _kl_div[(rows,)](logq, p, loss, grad, cols, 1e-10, REDUCTION=0 if none else 1, LOG_TARGET=log_target, BLOCK=block)
    return loss, grad


def jsd(x, y, beta=0.5, block=1024):
    """Generalised Jensen-Shannon divergence of log probabilities per element, and the gradient of the sum for x."""
    loss, dx = torch.empty_like(x), torch.empty_like(x)
    _jsd[(x.shape[0],)](x, y, loss, dx, x.shape[1], beta=beta, BLOCK=block)
    return loss, dx
