"""Selective state space scan: step by step over time, and by associative scans over blocks of time."""

import torch
import triton
import triton.language as tl


@triton.jit
def softplus(x):
    return tl.where(x > 20.0, x, tl.log(1 + tl.exp(tl.minimum(x, 20.0))))


@triton.jit
def _scan_steps(
    u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, y_ptr, last_ptr, T, width,
    N: tl.constexpr, HAS_Z: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    # u, delta, z, y [B, T, width]; a [width, N]; b, c [B, T, N]; d [width]. A state of BLOCK_D x N stays in registers.
    batch = tl.program_id(1)
    ch = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    n = tl.arange(0, N)
    live = ch < width
    a = tl.load(a_ptr + ch[:, None] * N + n[None, :], mask=live[:, None], other=0.0)
    d = tl.load(d_ptr + ch, mask=live, other=0.0)
    h = tl.zeros([BLOCK_D, N], dtype=tl.float32)
    row = batch * T * width + ch
    u_ptrs = u_ptr + row
    delta_ptrs = delta_ptr + row
    y_ptrs = y_ptr + row
    b_ptrs = b_ptr + batch * T * N + n
    c_ptrs = c_ptr + batch * T * N + n
    for t in range(T):
        u = tl.load(u_ptrs, mask=live, other=0.0).to(tl.float32)
        delta = softplus(tl.load(delta_ptrs, mask=live, other=0.0).to(tl.float32))
        b = tl.load(b_ptrs).to(tl.float32)
        c = tl.load(c_ptrs).to(tl.float32)
        h = h * tl.exp(delta[:, None] * a) + (delta * u)[:, None] * b[None, :]
        y = tl.sum(h * c[None, :], axis=1) + u * d
        if HAS_Z:
            z = tl.load(z_ptr + row + t * width, mask=live, other=0.0).to(tl.float32)
            y *= z * tl.sigmoid(z)
        tl.store(y_ptrs, y, mask=live)
        u_ptrs += width
        delta_ptrs += width
        y_ptrs += width
        b_ptrs += N
        c_ptrs += N
    tl.store(last_ptr + (batch * width + ch)[:, None] * N + n[None, :], h, mask=live[:, None])


@triton.jit
def first_order(a_left, b_left, a_right, b_right):
    return a_left * a_right, b_left * a_right + b_right


@triton.jit
def _scan_blocks(x_ptr, gate_ptr, y_ptr, T, width, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    # y_t = gate_t * y_(t-1) + x_t along time: an associative scan in each block, the carry from one block to the next.
    ch = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    base = tl.program_id(1) * T * width
    carry = tl.zeros([BLOCK_D], tl.float32)
    t = tl.arange(0, BLOCK_T)
    for start in range(0, T, BLOCK_T):
        offs = base + (start + t)[:, None] * width + ch[None, :]
        mask = (start + t < T)[:, None] & (ch < width)[None, :]
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        gate = tl.load(gate_ptr + offs, mask=mask, other=1.0).to(tl.float32)
        a, y = tl.associative_scan((gate, x), 0, first_order)
        y += a * carry[None, :]
        carry = tl.sum(tl.where(t[:, None] == BLOCK_T - 1, y, 0.0), axis=0)
        tl.store(y_ptr + offs, y, mask=mask)


def selective_scan(u, delta, a, b, c, d, z=None, block=32):
    """(y [B, T, width], the last state [B, width, N]); N a power of two."""
    batch, t, width = u.shape
    y = torch.empty_like(u)
    last = torch.empty(batch, width, a.shape[1], dtype=torch.float32, device=u.device)
    _scan_steps[(triton.cdiv(width, block), batch)](
        u, delta, a, b, c, d, z, y, last, t, width, N=a.shape[1], HAS_Z=z is not None, BLOCK_D=block
    )
    return y, last


def gated_recurrence(x, gate, block_t=32, block_d=16):
    """y_t = gate_t * y_(t-1) + x_t over [B, T, width]."""
    batch, t, width = x.shape
    y = torch.empty_like(x)
    _scan_blocks[(triton.cdiv(width, block_d), batch)](x, gate, y, t, width, BLOCK_T=block_t, BLOCK_D=block_d)
    return y
