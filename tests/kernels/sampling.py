"""Sampling from logits: argmax, top-k and top-p (nucleus) sampling, Gumbel sampling, penalties for repetition."""

import torch
import triton
import triton.language as tl


@triton.jit
def _argmax(x_ptr, index_ptr, value_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    best = float("-inf")
    at = 0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        value, index = tl.max(x, axis=0, return_indices=True)
        if value > best:
            best = value
            at = start + index
    tl.store(index_ptr + row, at)
    tl.store(value_ptr + row, best)


@triton.jit
def _topk_topp(logits_ptr, uniform_ptr, token_ptr, kept_ptr, n_cols, temperature, top_k, top_p, BLOCK: tl.constexpr):
    # Sorted probabilities: the first top_k, of those the shortest prefix of at least top_p; one draw by inversion.
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32) / temperature
    ordered = tl.sort(x, descending=True)
    e = tl.exp(ordered - tl.max(ordered, axis=0))
    p = tl.where(cols < top_k, e, 0.0)
    p = p / tl.sum(p, axis=0)
    before = tl.cumsum(p, axis=0) - p
    keep = (before < top_p) & (p > 0)
    count = tl.sum(keep.to(tl.int32), axis=0)
    lowest = tl.min(tl.where(keep, ordered, float("inf")), axis=0)
    tl.store(kept_ptr + row, count)
    # Draw in the order of tokens, so that no sorted indices are needed.
    weight = tl.where(x >= lowest, tl.exp(x - tl.max(x, axis=0)), 0.0)
    cumulative = tl.cumsum(weight, axis=0)
    target = tl.load(uniform_ptr + row) * tl.sum(weight, axis=0)
    chosen = tl.sum((cumulative <= target).to(tl.int32), axis=0)
    last = tl.max(tl.where(weight > 0, cols, 0), axis=0)
    tl.store(token_ptr + row, tl.minimum(chosen, last))


@triton.jit
def _gumbel(logits_ptr, token_ptr, n_cols, seed, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = float("-inf")
    at = 0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(logits_ptr + row * n_cols + cols, mask=mask, other=float("-inf")).to(tl.float32)
        u = tl.rand(seed, row * n_cols + cols)
        noise = -tl.log(-tl.log(tl.maximum(u, 1e-7)))
        score = tl.where(mask, x + noise, float("-inf"))
        value = tl.max(score, axis=0)
        index = tl.argmax(score, axis=0)
        at = tl.where(value > best, start + index, at)
        best = tl.maximum(value, best)
    tl.store(token_ptr + row, at)


@triton.jit
def _penalties(logits_ptr, counts_ptr, n_cols, repetition, frequency, presence, BLOCK: tl.constexpr):
    # logits in place; counts of the tokens so far.
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_cols
    base = tl.program_id(0) * n_cols
    x = tl.load(logits_ptr + base + offs, mask=mask)
    count = tl.load(counts_ptr + base + offs, mask=mask, other=0)
    seen = count > 0
    x = tl.where(seen, tl.where(x > 0, x / repetition, x * repetition), x)
    x -= frequency * count.to(tl.float32)
    x -= presence * seen.to(tl.float32)
    tl.store(logits_ptr + base + offs, x, mask=mask)


def argmax(x, block=1024):
    """(first index of each row's maximum as int64, the maximum as fp32)."""
    index = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
    value = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    _argmax[(x.shape[0],)](x, index, value, x.shape[1], BLOCK=block)
    return index, value


def sample_topk_topp(logits, uniform, temperature=1.0, top_k=50, top_p=0.9):
    """One token a row by the uniform numbers [rows]: (tokens int64, number of candidates int32)."""
    rows, n = logits.shape
    token = torch.empty(rows, dtype=torch.int64, device=logits.device)
    kept = torch.empty(rows, dtype=torch.int32, device=logits.device)
    _topk_topp[(rows,)](
        logits, uniform, token, kept, n, temperature, top_k, top_p, BLOCK=triton.next_power_of_2(n), num_warps=8
    )
    return token, kept


def sample_gumbel(logits, seed, block=1024):
    """One token a row with the probabilities softmax(logits)."""
    token = torch.empty(logits.shape[0], dtype=torch.int64, device=logits.device)
    _gumbel[(logits.shape[0],)](logits, token, logits.shape[1], seed, BLOCK=block)
    return token


def apply_penalties_(logits, counts, repetition, frequency, presence, block=512):
    """fp32 logits in place; counts int32 of the same shape."""
    rows, n = logits.shape
    _penalties[(rows, triton.cdiv(n, block))](logits, counts, n, repetition, frequency, presence, BLOCK=block)
