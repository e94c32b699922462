"""Layer norm with its backward pass: weight gradients by partial sums, and by groups of rows under spin locks."""

import torch
import triton
import triton.language as tl


@triton.jit
def _layer_norm_fwd(X, Y, W, B, Mean, Rstd, stride, N, eps, HAS_BIAS: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    _mean = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        a = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        _mean += a
    mean = tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        _var += x * x
    rstd = 1 / tl.sqrt(tl.sum(_var, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * w
        if HAS_BIAS:
            y += tl.load(B + cols, mask=mask)
        tl.store(Y + cols, y, mask=mask)


@triton.jit
def _row_gradient(x, dy, w, mean, rstd, mask, N):
    """Gradient of one row, and the normalised row."""
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    return (wdy - (xhat * c1 + c2)) * rstd, xhat


@triton.jit
def _layer_norm_bwd_partial(DX, DY, X, W, Mean, Rstd, DW, DB, stride, n_rows, N, BLOCK: tl.constexpr):
    # Row r goes to program r % num_programs: no two programs add to the same sums.
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    db = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(pid, n_rows, programs):
        x = tl.load(X + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(DY + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        dx, xhat = _row_gradient(x, dy, w, tl.load(Mean + row), tl.load(Rstd + row), mask, N)
        tl.store(DX + row * stride + cols, dx.to(DX.dtype.element_ty), mask=mask)
        dw += dy * xhat
        db += dy
    tl.store(DW + pid * N + cols, dw, mask=mask)
    tl.store(DB + pid * N + cols, db, mask=mask)


@triton.jit
def _layer_norm_bwd_locked(
    DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr
):
    # One program a row; rows of one group take turns at the group's sums.
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + row * stride + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    dx, xhat = _row_gradient(x, dy, w, tl.load(Mean + row), tl.load(Rstd + row), mask, N)
    tl.store(DX + row * stride + cols, dx, mask=mask)
    lock_id = row % GROUP_SIZE_M
    Lock += lock_id
    Count = Lock + GROUP_SIZE_M
    DW = DW + lock_id * N + cols
    DB = DB + lock_id * N + cols
    partial_dw = dy * xhat
    partial_db = dy
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def _sum_groups(DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, M, BLOCK_M):
        rows = i + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(DW + offs, mask=mask, other=0.0)
        db += tl.load(DB + offs, mask=mask, other=0.0)
    tl.store(FINAL_DW + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(FINAL_DB + cols, tl.sum(db, axis=0), mask=cols < N)


def layer_norm(x, w, b=None, eps=1e-5, block=1024):
    """x [rows, n]: (y, mean, rstd)."""
    rows, n = x.shape
    y = torch.empty_like(x)
    mean = torch.empty(rows, dtype=torch.float32, device=x.device)
    rstd = torch.empty_like(mean)
    block = min(block, triton.next_power_of_2(n))
    _layer_norm_fwd[(rows,)](
        x, y, w, b, mean, rstd, x.stride(0), n, eps, HAS_BIAS=b is not None, BLOCK_SIZE=block, num_warps=4
    )
    return y, mean, rstd


def layer_norm_backward(dy, x, w, mean, rstd, programs=8):
    """Gradients of x, w, b; each program sums the weight gradients of its rows, a second kernel adds the sums up."""
    rows, n = x.shape
    dx = torch.empty_like(x)
    partial_w = torch.empty(programs, n, dtype=torch.float32, device=x.device)
    partial_b = torch.empty_like(partial_w)
    _layer_norm_bwd_partial[(programs,)](
        dx, dy, x, w, mean, rstd, partial_w, partial_b, x.stride(0), rows, n, BLOCK=triton.next_power_of_2(n)
    )
    return dx, *_finish(partial_w, partial_b, w)


def layer_norm_backward_locked(dy, x, w, mean, rstd, groups=16):
    """The same with one program a row and a spin lock for each of `groups` sums."""
    rows, n = x.shape
    groups = min(groups, rows)
    dx = torch.empty_like(x)
    locks = torch.zeros(2 * groups, dtype=torch.int32, device=x.device)
    partial_w = torch.zeros(groups, n, dtype=torch.float32, device=x.device)
    partial_b = torch.zeros_like(partial_w)
    _layer_norm_bwd_locked[(rows,)](
        dx,
        dy,
        partial_w,
        partial_b,
        x,
        w,
        mean,
        rstd,
        locks,
        x.stride(0),
        n,
        GROUP_SIZE_M=groups,
        BLOCK_SIZE_N=triton.next_power_of_2(n),
    )
    return dx, *_finish(partial_w, partial_b, w)


def _finish(partial_w, partial_b, w):
    m, n = partial_w.shape
    dw, db = torch.empty_like(w), torch.empty_like(w)
    _sum_groups[lambda meta: (triton.cdiv(n, meta["BLOCK_N"]),)](
        partial_w, partial_b, dw, db, m, n, BLOCK_M=8, BLOCK_N=128
    )
    return dw, db
