"""Cross entropy of x @ w.T without storing the logits: forward with online log-sum-exp, backward by recomputation."""

import torch
import triton
import triton.language as tl


@triton.jit
def _logits_block(x_ptr, w_ptr, rows, cols, n_rows, n_vocab, H: tl.constexpr, BLOCK_H: tl.constexpr):
    """x[rows] @ w[cols].T in fp32, -inf past the vocabulary."""
    acc = tl.zeros((rows.shape[0], cols.shape[0]), dtype=tl.float32)
    for start in range(0, H, BLOCK_H):
        h = start + tl.arange(0, BLOCK_H)
        x = tl.load(x_ptr + rows[:, None] * H + h[None, :], mask=(rows[:, None] < n_rows) & (h[None, :] < H), other=0.0)
        w = tl.load(
            w_ptr + cols[None, :] * H + h[:, None], mask=(cols[None, :] < n_vocab) & (h[:, None] < H), other=0.0
        )
        acc = tl.dot(x, w, acc, input_precision="ieee")
    return tl.where(cols[None, :] < n_vocab, acc, float("-inf"))


@triton.jit
def _lse_fwd(
    x_ptr,
    w_ptr,
    target_ptr,
    loss_ptr,
    lse_ptr,
    n_rows,
    n_vocab,
    ignore_index,
    H: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    y = tl.load(target_ptr + rows, mask=rows < n_rows, other=ignore_index)
    m = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    s = tl.zeros((BLOCK_M,), tl.float32)
    at_target = tl.zeros((BLOCK_M,), tl.float32)
    for v in range(0, n_vocab, BLOCK_V):
        cols = v + tl.arange(0, BLOCK_V)
        logits = _logits_block(x_ptr, w_ptr, rows, cols, n_rows, n_vocab, H, BLOCK_H)
        at_target += tl.sum(tl.where(cols[None, :] == y[:, None], logits, 0.0), axis=1)
        m_new = tl.maximum(m, tl.max(logits, axis=1))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(logits - m_new[:, None]), axis=1)
        m = m_new
    lse = m + tl.log(s)
    tl.store(lse_ptr + rows, lse, mask=rows < n_rows)
    tl.store(loss_ptr + rows, tl.where(y == ignore_index, 0.0, lse - at_target), mask=rows < n_rows)


@triton.jit
def _gradient_block(logits, lse, y, cols, ignore_index, scale):
    p = tl.exp(logits - lse[:, None])
    p = tl.where(cols[None, :] == y[:, None], p - 1.0, p)
    return tl.where((y == ignore_index)[:, None], 0.0, p * scale)


@triton.jit
def _dx_bwd(
    x_ptr, w_ptr, target_ptr, lse_ptr, dx_ptr, n_rows, n_vocab, ignore_index, scale,
    H: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_V: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    y = tl.load(target_ptr + rows, mask=rows < n_rows, other=ignore_index)
    lse = tl.load(lse_ptr + rows, mask=rows < n_rows, other=0.0)
    h = tl.arange(0, H)
    dx = tl.zeros((BLOCK_M, H), dtype=tl.float32)
    for v in range(0, n_vocab, BLOCK_V):
        cols = v + tl.arange(0, BLOCK_V)
        logits = _logits_block(x_ptr, w_ptr, rows, cols, n_rows, n_vocab, H, BLOCK_H)
        g = _gradient_block(logits, lse, y, cols, ignore_index, scale)
        w = tl.load(w_ptr + cols[:, None] * H + h[None, :], mask=cols[:, None] < n_vocab, other=0.0)
        dx = tl.dot(g.to(w.dtype), w, dx, input_precision="ieee")
    tl.store(dx_ptr + rows[:, None] * H + h[None, :], dx, mask=rows[:, None] < n_rows)


@triton.jit
def _dw_bwd(
    x_ptr, w_ptr, target_ptr, lse_ptr, dw_ptr, n_rows, n_vocab, ignore_index, scale,
    H: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_V: tl.constexpr,
):  # fmt: skip
    cols = tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    h = tl.arange(0, H)
    dw = tl.zeros((BLOCK_V, H), dtype=tl.float32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        y = tl.load(target_ptr + rows, mask=rows < n_rows, other=ignore_index)
        lse = tl.load(lse_ptr + rows, mask=rows < n_rows, other=0.0)
        logits = _logits_block(x_ptr, w_ptr, rows, cols, n_rows, n_vocab, H, BLOCK_H)
        g = _gradient_block(logits, lse, y, cols, ignore_index, scale)
        x = tl.load(x_ptr + rows[:, None] * H + h[None, :], mask=rows[:, None] < n_rows, other=0.0)
        dw = tl.dot(tl.trans(g).to(x.dtype), x, dw, input_precision="ieee")
    tl.store(dw_ptr + cols[:, None] * H + h[None, :], dw, mask=cols[:, None] < n_vocab)


def linear_cross_entropy(x, w, target, ignore_index=-100, block_m=32, block_v=64, block_h=32):
    """x [rows, H], w [vocab, H]: (mean loss over the kept rows, log-sum-exp of each row)."""
    rows, hidden = x.shape
    loss = torch.empty(rows, dtype=torch.float32, device=x.device)
    lse = torch.empty_like(loss)
    _lse_fwd[(triton.cdiv(rows, block_m),)](
        x, w, target, loss, lse, rows, w.shape[0], ignore_index,
        H=hidden, BLOCK_H=block_h, BLOCK_M=block_m, BLOCK_V=block_v,
    )  # fmt: skip
    return loss.sum() / (target != ignore_index).sum(), lse


def linear_cross_entropy_backward(x, w, target, lse, ignore_index=-100, block_m=32, block_v=64, block_h=32):
    """Gradients of x and w; H a power of two."""
    rows, hidden = x.shape
    dx, dw = torch.empty_like(x), torch.empty_like(w)
    scale = 1.0 / int((target != ignore_index).sum())
    blocks = dict(H=hidden, BLOCK_H=block_h, BLOCK_M=block_m, BLOCK_V=block_v)
    sizes = (rows, w.shape[0], ignore_index, scale)
    _dx_bwd[(triton.cdiv(rows, block_m),)](x, w, target, lse, dx, *sizes, **blocks)
    _dw_bwd[(triton.cdiv(w.shape[0], block_v),)](x, w, target, lse, dw, *sizes, **blocks)
    return dx, dw
