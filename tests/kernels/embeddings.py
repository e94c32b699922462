"""Embedding tables: lookup, gradient by atomics, bags with weights, and the sum of segments of sorted rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def _lookup(table_ptr, index_ptr, out_ptr, n, D: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    i = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    rows = tl.load(index_ptr + i, mask=i < n, other=0)
    mask = (i < n)[:, None] & (d < D)[None, :]
    x = tl.load(table_ptr + rows[:, None] * D + d[None, :], mask=mask)
    tl.store(out_ptr + i[:, None] * D + d[None, :], x, mask=mask)


@triton.jit
def _lookup_bwd(
    dout_ptr, index_ptr, dtable_ptr, n, padding, D: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr
):
    i = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    rows = tl.load(index_ptr + i, mask=i < n, other=0)
    mask = ((i < n) & (rows != padding))[:, None] & (d < D)[None, :]
    g = tl.load(dout_ptr + i[:, None] * D + d[None, :], mask=mask, other=0.0)
    tl.atomic_add(dtable_ptr + rows[:, None] * D + d[None, :], g.to(tl.float32), mask=mask)


@triton.jit
def _bag(
    table_ptr, index_ptr, weight_ptr, offsets_ptr, out_ptr, D: tl.constexpr, MODE: tl.constexpr, BLOCK_D: tl.constexpr
):
    # One program a bag: index[offsets[bag] .. offsets[bag + 1]].
    bag = tl.program_id(0)
    d = tl.arange(0, BLOCK_D)
    begin = tl.load(offsets_ptr + bag)
    end = tl.load(offsets_ptr + bag + 1)
    if MODE == "max":
        acc = tl.full([BLOCK_D], float("-inf"), tl.float32)
    else:
        acc = tl.zeros([BLOCK_D], tl.float32)
    i = begin
    while i < end:
        row = tl.load(index_ptr + i)
        x = tl.load(table_ptr + row * D + d, mask=d < D, other=0.0).to(tl.float32)
        if MODE == "max":
            acc = tl.maximum(acc, x)
        elif weight_ptr is not None:
            acc += x * tl.load(weight_ptr + i)
        else:
            acc += x
        i += 1
    if MODE == "mean":
        acc /= tl.maximum(end - begin, 1).to(tl.float32)
    if MODE == "max":
        acc = tl.where(end > begin, acc, 0.0)
    tl.store(out_ptr + bag * D + d, acc, mask=d < D)


@triton.jit
def segmented_add(left_value, left_key, right_value, right_key):
    # The sum starts anew where the key changes.
    return tl.where(left_key == right_key, left_value + right_value, right_value), right_key


@triton.jit
def _segment_sum(x_ptr, key_ptr, out_ptr, n, D: tl.constexpr, BLOCK: tl.constexpr):
    # Rows sorted by key: sums inside a block by a scan, joined between blocks by atomics on the last row of each run.
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    key = tl.load(key_ptr + i, mask=live, other=-1)
    following = tl.load(key_ptr + i + 1, mask=i + 1 < n, other=-2)
    last = live & ((following != key) | (tl.arange(0, BLOCK) == BLOCK - 1))
    for d in tl.static_range(D):
        x = tl.load(x_ptr + i * D + d, mask=live, other=0.0)
        total, _ = tl.associative_scan((x, key), 0, segmented_add)
        tl.atomic_add(out_ptr + key * D + d, total, mask=last)


def embedding(table, index, block_n=16, block_d=128):
    """table [rows, D], index of any shape: table[index]."""
    n, d = index.numel(), table.shape[1]
    out = torch.empty(*index.shape, d, dtype=table.dtype, device=table.device)
    _lookup[(triton.cdiv(n, block_n), triton.cdiv(d, block_d))](
        table, index, out, n, D=d, BLOCK_N=block_n, BLOCK_D=block_d
    )
    return out


def embedding_backward(dout, index, rows, padding=-1, block_n=16, block_d=128):
    """fp32 gradient [rows, D] of the table; the row `padding` gets none."""
    n, d = index.numel(), dout.shape[-1]
    dtable = torch.zeros(rows, d, dtype=torch.float32, device=dout.device)
    _lookup_bwd[(triton.cdiv(n, block_n), triton.cdiv(d, block_d))](
        dout, index, dtable, n, padding, D=d, BLOCK_N=block_n, BLOCK_D=block_d
    )
    return dtable


def embedding_bag(table, index, offsets, mode="sum", weights=None):
    """Sum, mean or maximum of the rows of each bag; offsets [bags + 1]."""
    d, bags = table.shape[1], len(offsets) - 1
    out = torch.empty(bags, d, dtype=table.dtype, device=table.device)
    _bag[(bags,)](table, index, weights, offsets, out, D=d, MODE=mode, BLOCK_D=triton.next_power_of_2(d))
    return out


def segment_sum(x, keys, segments, block=64):
    """x fp32 [n, D], keys int32 [n] ascending in [0, segments): sums of the rows of each key."""
    out = torch.zeros(segments, x.shape[1], dtype=torch.float32, device=x.device)
    _segment_sum[(triton.cdiv(x.shape[0], block),)](x, keys, out, x.shape[0], D=x.shape[1], BLOCK=block)
    return out
