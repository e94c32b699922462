"""Normalisation over rows and groups: RMS norm forward and backward, residual + RMS norm, group norm, L2 norm."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rms_norm_fwd(x_ptr, w_ptr, y_ptr, rstd_ptr, x_stride, y_stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + cols, mask=mask, eviction_policy="evict_last")
    y = (x * rstd) * w.to(tl.float32)
    tl.store(y_ptr + row * y_stride + cols, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _rms_norm_bwd(
    dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, dw_ptr, stride, n_rows, n_cols, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    # Each program takes ROWS rows and leaves one row of partial weight gradients.
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    first = pid * ROWS
    last = min(first + ROWS, n_rows)
    for row in range(first, last):
        x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        xhat = x * rstd
        wdy = w * dy
        c = tl.sum(xhat * wdy, axis=0) / n_cols
        dx = (wdy - xhat * c) * rstd
        tl.store(dx_ptr + row * stride + cols, dx.to(dx_ptr.dtype.element_ty), mask=mask)
        dw += dy * xhat
    tl.store(dw_ptr + pid * n_cols + cols, dw, mask=mask)


@triton.jit
def _add_rms_norm(x_ptr, residual_ptr, w_ptr, stride, n_cols, eps, BLOCK: tl.constexpr):
    # In place: residual += x, x = norm(residual) * w, in passes of BLOCK columns.
    row = tl.program_id(axis=0)
    x_ptr += row * stride
    residual_ptr += row * stride
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in tl.range(0, n_cols, BLOCK, num_stages=2):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols, mask=mask, other=0.0)
        r = tl.load(residual_ptr + cols, mask=mask, other=0.0)
        s = x.to(tl.float32) + r.to(tl.float32)
        square += s * s
        tl.store(residual_ptr + cols, s, mask=mask)
    tl.debug_barrier()
    rstd = 1.0 / tl.sqrt(tl.sum(square, axis=0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        s = tl.load(residual_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(x_ptr + cols, s * rstd * w, mask=mask)


@triton.jit
def _group_norm(
    x_ptr, w_ptr, b_ptr, y_ptr, hw, channels, groups, eps, CPG: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK: tl.constexpr
):
    # One program per (image, group) of an NCHW tensor; CPG channels, each hw long, are contiguous.
    image = tl.program_id(0)
    group = tl.program_id(1)
    base = (image * channels + group * CPG).to(tl.int64) * hw
    c = tl.arange(0, BLOCK_C)[:, None]
    count = CPG * hw
    total = tl.zeros([BLOCK_C, BLOCK], tl.float32)
    total_sq = tl.zeros([BLOCK_C, BLOCK], tl.float32)
    for start in range(0, hw, BLOCK):
        p = start + tl.arange(0, BLOCK)[None, :]
        x = tl.load(x_ptr + base + c * hw + p, mask=(c < CPG) & (p < hw), other=0.0).to(tl.float32)
        total += x
        total_sq += x * x
    mean = tl.sum(total) / count
    var = tl.sum(total_sq) / count - mean * mean
    rstd = tl.math.rsqrt(var + eps)
    w = tl.load(w_ptr + group * CPG + c, mask=c < CPG, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + group * CPG + c, mask=c < CPG, other=0.0).to(tl.float32)
    for start in range(0, hw, BLOCK):
        p = start + tl.arange(0, BLOCK)[None, :]
        mask = (c < CPG) & (p < hw)
        x = tl.load(x_ptr + base + c * hw + p, mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * w + b
        tl.store(y_ptr + base + c * hw + p, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _l2_norm(x_ptr, y_ptr, n_rows, D: tl.constexpr, eps, BLOCK_ROWS: tl.constexpr, BLOCK_D: tl.constexpr):
    # Many short rows (heads) a program.
    rows = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    d = tl.arange(0, BLOCK_D)
    mask = (rows < n_rows)[:, None] & (d < D)[None, :]
    offs = rows[:, None] * D + d[None, :]
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    norm = tl.sqrt(tl.sum(x * x, axis=1, keep_dims=True))
    tl.store(y_ptr + offs, x / tl.maximum(norm, eps), mask=mask)


def rms_norm(x, w, eps=1e-6):
    """x [..., n], w [n]: (x * rsqrt(mean(x^2) + eps) * w, the factors as fp32)."""
    rows = x.reshape(-1, x.shape[-1])
    y = torch.empty_like(rows)
    rstd = torch.empty(rows.shape[0], dtype=torch.float32, device=x.device)
    n = rows.shape[1]
    _rms_norm_fwd[(rows.shape[0],)](
        rows, w, y, rstd, rows.stride(0), y.stride(0), n, eps, BLOCK=triton.next_power_of_2(n), num_warps=8
    )
    return y.view(x.shape), rstd


def rms_norm_backward(dy, x, w, rstd, programs=8):
    """Gradients of x and w; x contiguous."""
    rows, n = x.reshape(-1, x.shape[-1]), x.shape[-1]
    dx = torch.empty_like(rows)
    partial = torch.empty(programs, n, dtype=torch.float32, device=x.device)
    per_program = triton.cdiv(rows.shape[0], programs)
    _rms_norm_bwd[(programs,)](
        dy, rows, w, rstd, dx, partial, n, rows.shape[0], n, ROWS=per_program, BLOCK=triton.next_power_of_2(n)
    )
    return dx.view(x.shape), partial.sum(0).to(w.dtype)


def add_rms_norm_(x, residual, w, eps=1e-5, block=512):
    """residual += x; x = rms_norm(residual) * w, both in place."""
    n = x.shape[-1]
    _add_rms_norm[(x.numel() // n,)](x, residual, w, n, n, eps, BLOCK=block, num_warps=4)


def group_norm(x, groups, w, b, eps=1e-5, block=256):
    """x [N, C, H, W] contiguous."""
    n, c, h, wd = x.shape
    y = torch.empty_like(x)
    cpg = c // groups
    _group_norm[(n, groups)](
        x, w, b, y, h * wd, c, groups, eps, CPG=cpg, BLOCK_C=triton.next_power_of_2(cpg), BLOCK=block
    )
    return y


def l2_norm(x, eps=1e-6):
    """Rows of the last dimension divided by their length."""
    d = x.shape[-1]
    rows = x.numel() // d
    y = torch.empty_like(x)
    _l2_norm[lambda meta: (triton.cdiv(rows, meta["BLOCK_ROWS"]),)](
        x, y, rows, d, eps, BLOCK_ROWS=32, BLOCK_D=triton.next_power_of_2(d)
    )
    return y
