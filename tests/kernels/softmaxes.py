"""Softmax over rows: a row in a block, online over blocks of columns, many rows a program; and backward."""

import torch
import triton
import triton.language as tl


@triton.jit
def _softmax_row(out_ptr, in_ptr, in_stride, out_stride, n_rows, n_cols, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    # Persistent: programs walk over rows in steps of the grid.
    start = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(start, n_rows, step, num_stages=num_stages):
        cols = tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(in_ptr + row * in_stride + cols, mask=mask, other=-float("inf")).to(tl.float32)
        e = tl.exp(x - tl.max(x, axis=0))
        y = e / tl.sum(e, axis=0)
        tl.store(out_ptr + row * out_stride + cols, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _softmax_online(out_ptr, in_ptr, stride, n_cols, LOG: tl.constexpr, BLOCK: tl.constexpr):
    # A running maximum and a running sum, corrected when the maximum grows.
    row = tl.program_id(0).to(tl.int64)
    in_ptr += row * stride
    out_ptr += row * stride
    m = tl.full([], value=float("-inf"), dtype=tl.float32)
    s = tl.full([], value=0.0, dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(in_ptr + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, 0))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(in_ptr + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        if LOG:
            y = x - m - tl.log(s)
        else:
            y = tl.exp(x - m) / s
        tl.store(out_ptr + cols, y, mask=cols < n_cols)


@triton.jit
def _softmax_bwd(dx_ptr, dy_ptr, y_ptr, n_rows, n_cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    offs = rows[:, None] * n_cols + cols[None, :]
    y = tl.load(y_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    dot = tl.sum(y * dy, axis=1)
    dx = y * (dy - dot[:, None])
    tl.store(dx_ptr + offs, dx.to(dx_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _causal_masked_softmax(s_ptr, lengths_ptr, T, scale, BLOCK: tl.constexpr):
    # Scores [batch, heads, T, T] in place: key <= query and key < length; a query past the length gives zeros.
    query = tl.program_id(0)
    batch = tl.program_id(2)
    row = (batch * tl.num_programs(1) + tl.program_id(1)).to(tl.int64) * T + query
    length = tl.load(lengths_ptr + batch)
    cols = tl.arange(0, BLOCK)
    live = (cols <= query) & (cols < length) & (query < length)
    x = tl.load(s_ptr + row * T + cols, mask=live, other=float("-inf")).to(tl.float32) * scale
    m = tl.max(x, 0)
    m = tl.where(m == float("-inf"), 0.0, m)
    e = tl.exp(x - m)
    total = tl.sum(e, 0)
    y = tl.where(total > 0, e / total, 0.0)
    tl.store(s_ptr + row * T + cols, y, mask=cols < T)


def softmax(x, programs=16):
    """x [rows, cols]; a row fits into a block."""
    rows, cols = x.shape
    y = torch.empty_like(x)
    _softmax_row[(min(programs, rows), 1, 1)](
        y, x, x.stride(0), y.stride(0), rows, cols, triton.next_power_of_2(cols), 2
    )
    return y


def softmax_online(x, log=False, block=1024):
    """x [rows, cols] of any width."""
    y = torch.empty_like(x)
    _softmax_online[(x.shape[0],)](y, x, x.stride(0), x.shape[1], LOG=log, BLOCK=block, num_warps=8)
    return y


def softmax_backward(dy, y):
    """Gradient of the input from the output."""
    rows, cols = y.shape
    dx = torch.empty_like(y)
    block = triton.next_power_of_2(cols)
    per_program = max(1, 4096 // block)
    _softmax_bwd[(triton.cdiv(rows, per_program),)](dx, dy, y, rows, cols, ROWS=per_program, BLOCK=block)
    return dx


def causal_softmax_(scores, lengths, scale):
    """scores [batch, heads, T, T] in place; lengths int32 [batch]."""
    b, h, t, _ = scores.shape
    _causal_masked_softmax[(t, h, b)](scores, lengths, t, scale, BLOCK=triton.next_power_of_2(t))
