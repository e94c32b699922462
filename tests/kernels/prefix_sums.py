"""Sums along an axis and across programs: rows, decoupled look-back, histograms with atomics, top-k and compaction."""

import torch
import triton
import triton.language as tl

_EMPTY: tl.constexpr = tl.constexpr(0)
_PARTIAL: tl.constexpr = tl.constexpr(1)
_PREFIX: tl.constexpr = tl.constexpr(2)


@triton.jit
def _cumsum_rows(x_ptr, y_ptr, n_cols, EXCLUSIVE: tl.constexpr, REVERSE: tl.constexpr, ROWS: tl.constexpr,
                 BLOCK: tl.constexpr, n_rows):  # fmt: skip
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    carry = tl.zeros([ROWS], tl.float32)
    blocks = tl.cdiv(n_cols, BLOCK)
    for i in range(blocks):
        start = i * BLOCK
        if REVERSE:
            start = (blocks - 1 - i) * BLOCK
        cols = start + tl.arange(0, BLOCK)
        mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
        offs = rows[:, None] * n_cols + cols[None, :]
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        y = tl.cumsum(x, axis=1, reverse=REVERSE) + carry[:, None]
        carry += tl.sum(x, axis=1)
        if EXCLUSIVE:
            y -= x
        tl.store(y_ptr + offs, y, mask=mask)


@triton.jit
def _look_back(x_ptr, y_ptr, total_ptr, prefix_ptr, status_ptr, ticket_ptr, n, BLOCK: tl.constexpr):
    # Blocks are taken in the order of a ticket. Each publishes its sum, then adds up what the blocks before it have
    # published until it meets a complete prefix.
    block = tl.atomic_add(ticket_ptr, 1)
    offs = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    total = tl.sum(x, axis=0)
    prefix = total * 0
    if block == 0:
        tl.store(prefix_ptr, total)
        tl.atomic_xchg(status_ptr, _PREFIX, sem="release")
    else:
        tl.store(total_ptr + block, total)
        tl.atomic_xchg(status_ptr + block, _PARTIAL, sem="release")
        at = block - 1
        while at >= 0:
            status = tl.atomic_add(status_ptr + at, 0, sem="acquire")
            if status == _PREFIX:
                prefix += tl.load(prefix_ptr + at, volatile=True)
                at = -1
            elif status == _PARTIAL:
                prefix += tl.load(total_ptr + at, volatile=True)
                at -= 1
        tl.store(prefix_ptr + block, prefix + total)
        tl.atomic_xchg(status_ptr + block, _PREFIX, sem="release")
    tl.store(y_ptr + offs, prefix + tl.cumsum(x, axis=0), mask=offs < n)


@triton.jit
def _histogram(x_ptr, counts_ptr, n, low, width, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    at = tl.floor((x - low) / width).to(tl.int32)
    live = (offs < n) & (at >= 0) & (at < BINS)
    counts = tl.histogram(tl.where(live, at, 0), BINS, mask=live)
    bins = tl.arange(0, BINS)
    tl.atomic_add(counts_ptr + bins, counts, mask=counts > 0, sem="relaxed")


@triton.jit
def _compact(x_ptr, out_ptr, counter_ptr, n, threshold, BLOCK: tl.constexpr):
    # Keeps what exceeds the threshold, in the order of programs' arrival.
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=float("-inf"))
    keep = x > threshold
    rank = tl.cumsum(keep.to(tl.int32), axis=0) - 1
    base = tl.atomic_add(counter_ptr, tl.sum(keep.to(tl.int32), axis=0))
    tl.store(out_ptr + base + rank, x, mask=keep)


@triton.jit
def _topk_rows(x_ptr, value_ptr, n_cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("-inf"))
    tl.store(value_ptr + row * K + tl.arange(0, K), tl.topk(x, K))


def cumsum_rows(x, exclusive=False, reverse=False, rows=4, block=128):
    """Running sums of each row of a 2-d tensor."""
    y = torch.empty_like(x)
    _cumsum_rows[(triton.cdiv(x.shape[0], rows),)](
        x, y, x.shape[1], EXCLUSIVE=exclusive, REVERSE=reverse, ROWS=rows, BLOCK=block, n_rows=x.shape[0]
    )
    return y


def prefix_sum(x, block=256):
    """Running sum of a 1-d tensor in one pass over memory."""
    blocks = triton.cdiv(x.numel(), block)
    y, total, prefix = torch.empty_like(x), torch.empty_like(x[:blocks]), torch.empty_like(x[:blocks])
    state = torch.zeros(blocks + 1, dtype=torch.int32, device=x.device)
    _look_back[(blocks,)](x, y, total, prefix, state, state[blocks:], x.numel(), BLOCK=block)
    return y


def histogram(x, bins, low, high, block=1024):
    """Counts of x in `bins` (a power of two) equal parts of [low, high)."""
    counts = torch.zeros(bins, dtype=torch.int32, device=x.device)
    _histogram[(triton.cdiv(x.numel(), block),)](x, counts, x.numel(), low, (high - low) / bins, BINS=bins, BLOCK=block)
    return counts


def compact(x, threshold, block=256):
    """The elements above the threshold, in any order of blocks."""
    out = torch.empty_like(x)
    counter = torch.zeros(1, dtype=torch.int32, device=x.device)
    _compact[(triton.cdiv(x.numel(), block),)](x, out, counter, x.numel(), threshold, BLOCK=block)
    return out[: int(counter)]


def topk_rows(x, k):
    """The k (a power of two) largest of each row, descending."""
    values = torch.empty(x.shape[0], k, dtype=x.dtype, device=x.device)
    _topk_rows[(x.shape[0],)](x, values, x.shape[1], K=k, BLOCK=max(k, triton.next_power_of_2(x.shape[1])))
    return values
