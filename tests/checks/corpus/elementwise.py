"""Mistakes with masks and offsets in kernels that move or map elements: a tail without a mask, a mask off by one,
a stride of the wrong tensor or dimension, an index nobody checked."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import inside, normal, seeded


@triton.jit
def add_without_mask(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    if BUG:
        x = tl.load(x_ptr + offs)  # BUG: OutOfBoundsError
    else:
        x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(o_ptr + offs, x + y, mask=mask)


@seeded("OutOfBoundsError", add_without_mask)
def _(bug):
    x, y, o = normal(1000), normal(1000, seed=1), torch.zeros(1000)
    add_without_mask[(4,)](x, y, o, 1000, BLOCK=256, BUG=bug)
    return o, x + y


@triton.jit
def store_without_mask(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    if BUG:
        tl.store(o_ptr + offs, x * 2)  # BUG: bounds
    else:
        tl.store(o_ptr + offs, x * 2, mask=offs < n)


@seeded("bounds", store_without_mask)
def _(bug):
    x = normal(1000)
    storage = torch.full((1024,), 7.0)
    store_without_mask[(4,)](x, storage[:1000], 1000, BLOCK=256, BUG=bug)
    return storage, torch.cat([x * 2, torch.full((24,), 7.0)])


@triton.jit
def mask_off_by_one(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if BUG:
        mask = offs <= n
    else:
        mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)  # BUG: bounds
    tl.atomic_add(o_ptr, tl.sum(x))


@seeded("bounds", mask_off_by_one)
def _(bug):
    x, o = inside(torch.arange(100, dtype=torch.float32), 4, 4), torch.zeros(1)
    mask_off_by_one[(1,)](x, o, 100, BLOCK=128, BUG=bug)
    return o, x.sum().reshape(1)


@triton.jit
def one_program_too_many(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)  # BUG: OutOfBoundsError
    tl.store(o_ptr + offs, x + 1)


@seeded("OutOfBoundsError", one_program_too_many)
def _(bug):
    x, o = normal(1024), torch.zeros(1024)
    one_program_too_many[(1024 // 256 + bug,)](x, o, 1024, BLOCK=256, BUG=bug)
    return o, x + 1


@triton.jit
def dense_strides_of_a_view(x_ptr, o_ptr, rows, cols, stride, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    if BUG:
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=0.0)  # BUG: bounds
    else:
        x = tl.load(x_ptr + row * stride + offs, mask=offs < cols, other=0.0)
    tl.store(o_ptr + row * cols + offs, x, mask=offs < cols)


@seeded("bounds", dense_strides_of_a_view)
def _(bug):
    x, o = normal(32, 64)[:, :48], torch.zeros(32, 48)
    dense_strides_of_a_view[(32,)](x, o, 32, 48, x.stride(0), BLOCK=64, BUG=bug)
    return o, x


@triton.jit
def row_stride_for_column(
    x_ptr, o_ptr, m, n, stride_m, stride_n, BM: tl.constexpr, BN: tl.constexpr, BUG: tl.constexpr
):
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    mask = (rows < m) & (cols < n)
    if BUG:
        x = tl.load(x_ptr + rows * stride_n + cols * stride_m, mask=mask, other=0.0)  # BUG: OutOfBoundsError
    else:
        x = tl.load(x_ptr + rows * stride_m + cols * stride_n, mask=mask, other=0.0)
    tl.store(o_ptr + rows * n + cols, x, mask=mask)


@seeded("OutOfBoundsError", row_stride_for_column)
def _(bug):
    x, o = normal(5, 24), torch.zeros(5, 24)
    row_stride_for_column[(1,)](x, o, 5, 24, *x.stride(), BM=8, BN=32, BUG=bug)
    return o, x


@triton.jit
def rows_masked_but_not_columns(x_ptr, o_ptr, m, n, stride, BM: tl.constexpr, BN: tl.constexpr, BUG: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    if BUG:
        mask = (rows < m) & (cols >= 0)
    else:
        mask = (rows < m) & (cols < n)
    x = tl.load(x_ptr + rows * stride + cols, mask=mask, other=0.0)  # BUG: bounds
    total = tl.sum(x, axis=1)
    out = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(o_ptr + out, total, mask=out < m)


@seeded("bounds", rows_masked_but_not_columns)
def _(bug):
    x, o = torch.ones(20, 40)[:12, :24], torch.zeros(12)
    rows_masked_but_not_columns[(2,)](x, o, 12, 24, x.stride(0), BM=8, BN=32, BUG=bug)
    return o, x.sum(1)


@triton.jit
def stencil_left_edge(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inner = offs < n
    if BUG:
        left = tl.load(x_ptr + offs - 1, mask=inner, other=0.0)  # BUG: bounds
    else:
        left = tl.load(x_ptr + offs - 1, mask=inner & (offs > 0), other=0.0)
    right = tl.load(x_ptr + offs + 1, mask=offs + 1 < n, other=0.0)
    tl.store(o_ptr + offs, right - left, mask=inner)


@seeded("bounds", stencil_left_edge)
def _(bug):
    x, o = inside(normal(100), before=8, after=8), torch.zeros(100)
    stencil_left_edge[(2,)](x, o, 100, BLOCK=64, BUG=bug)
    padded = torch.nn.functional.pad(x, (1, 1))
    return o, padded[2:] - padded[:-2]


@triton.jit
def transposed_output(x_ptr, o_ptr, m, n, stride_om, stride_on, B: tl.constexpr, BUG: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    cols = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    mask = (rows < m) & (cols < n)
    x = tl.load(x_ptr + rows * n + cols, mask=mask)
    if BUG:
        tl.store(o_ptr + rows * stride_om + cols * stride_on, x, mask=mask)  # BUG: bounds
    else:
        tl.store(o_ptr + cols * stride_om + rows * stride_on, x, mask=mask)


@seeded("bounds", transposed_output)
def _(bug):
    x, storage = normal(24, 40), torch.zeros(40, 64)
    o = storage[:, :24]
    transposed_output[(2, 3)](x, o, 24, 40, *o.stride(), B=16, BUG=bug)
    return o, x.T


@triton.jit
def embedding_index(table_ptr, index_ptr, o_ptr, rows, DIM: tl.constexpr, BUG: tl.constexpr):
    at = tl.program_id(0)
    index = tl.load(index_ptr + at)
    if not BUG:
        index = tl.where((index >= 0) & (index < rows), index, 0)
    cols = tl.arange(0, DIM)
    row = tl.load(table_ptr + index * DIM + cols)  # BUG: bounds
    tl.store(o_ptr + at * DIM + cols, row)


@seeded("bounds", embedding_index)
def _(bug):
    weights = normal(11 * 16)
    table, index, o = weights[: 10 * 16].view(10, 16), torch.tensor([3, 10, 0]), torch.zeros(3, 16)
    embedding_index[(3,)](table, index, o, 10, DIM=16, BUG=bug)
    return o, table[torch.tensor([3, 0, 0])]


@triton.jit
def ignored_label(logits_ptr, label_ptr, loss_ptr, n_cols, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
    label = tl.load(label_ptr + row)
    peak = tl.max(x)
    log_sum = peak + tl.log(tl.sum(tl.exp(x - peak)))
    if BUG:
        target = tl.load(logits_ptr + row * n_cols + label)  # BUG: OutOfBoundsError
    else:
        target = tl.load(logits_ptr + row * n_cols + label, mask=label >= 0, other=0.0)
    tl.store(loss_ptr + row, tl.where(label >= 0, log_sum - target, 0.0))


@seeded("OutOfBoundsError", ignored_label)
def _(bug):
    x, labels, loss = normal(3, 20), torch.tensor([-100, 4, 19]), torch.zeros(3)
    ignored_label[(3,)](x, labels, loss, 20, BLOCK=32, BUG=bug)
    return loss, torch.nn.functional.cross_entropy(x, labels, reduction="none")


@triton.jit
def block_pointer_unchecked(x_ptr, o_ptr, m, n, stride, BM: tl.constexpr, BN: tl.constexpr, BUG: tl.constexpr):
    block = tl.make_block_ptr(x_ptr, (m, n), (stride, 1), (0, 0), (BM, BN), (1, 0))
    if BUG:
        x = tl.load(block, boundary_check=(0,), padding_option="zero")  # BUG: bounds
    else:
        x = tl.load(block, boundary_check=(0, 1), padding_option="zero")
    tl.store(o_ptr + tl.arange(0, BM), tl.sum(x, axis=1), mask=tl.arange(0, BM) < m)


@seeded("bounds", block_pointer_unchecked)
def _(bug):
    x, o = torch.ones(6, 32)[:, :24], torch.zeros(6)
    block_pointer_unchecked[(1,)](x, o, 6, 24, x.stride(0), BM=8, BN=32, BUG=bug)
    return o, x.sum(1)


@triton.jit
def convolution_padding(x_ptr, w_ptr, o_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for tap in range(TAPS):
        at = offs + tap - TAPS // 2
        if BUG:
            x = tl.load(x_ptr + at, mask=at < n, other=0.0)  # BUG: bounds
        else:
            x = tl.load(x_ptr + at, mask=(at >= 0) & (at < n), other=0.0)
        acc += x * tl.load(w_ptr + tap)
    tl.store(o_ptr + offs, acc, mask=offs < n)


@seeded("bounds", convolution_padding)
def _(bug):
    x, w, o = inside(normal(50), before=8), normal(5, seed=1), torch.zeros(50)
    convolution_padding[(1,)](x, w, o, 50, TAPS=5, BLOCK=64, BUG=bug)
    return o, torch.nn.functional.conv1d(x[None, None], w[None, None], padding=2)[0, 0]


@triton.jit
def page_of_nobody(pages_ptr, table_ptr, o_ptr, length, PAGE: tl.constexpr, DIM: tl.constexpr, BUG: tl.constexpr):
    at = tl.arange(0, 4 * PAGE)
    if BUG:
        live = at < 4 * PAGE
    else:
        live = at < length
    page = tl.load(table_ptr + at // PAGE, mask=live, other=0)
    dims = tl.arange(0, DIM)
    where = (page * PAGE + at % PAGE)[:, None] * DIM + dims[None, :]
    x = tl.load(pages_ptr + where, mask=live[:, None], other=0.0)  # BUG: OutOfBoundsError
    tl.store(o_ptr + dims, tl.sum(x, axis=0))


@seeded("OutOfBoundsError", page_of_nobody)
def _(bug):
    pages, table, o = torch.ones(8, 4, 16), torch.tensor([5, 2, -1, -1], dtype=torch.int32), torch.zeros(16)
    page_of_nobody[(1,)](pages, table, o, 8, PAGE=4, DIM=16, BUG=bug)
    return o, torch.full((16,), 8.0)


@triton.jit
def heads_of_the_query(k_ptr, o_ptr, kv_heads, group, length, DIM: tl.constexpr, BUG: tl.constexpr):
    head = tl.program_id(0)
    if BUG:
        kv = head
    else:
        kv = head // group
    dims = tl.arange(0, DIM)
    total = tl.zeros((DIM,), tl.float32)
    for t in range(length):
        total += tl.load(k_ptr + (t * kv_heads + kv) * DIM + dims)  # BUG: bounds
    tl.store(o_ptr + head * DIM + dims, total)


@seeded("bounds", heads_of_the_query)
def _(bug):
    packed = normal(6 * 2 * 16 + 6 * 2 * 16)  # keys, then values
    k, o = packed[: 6 * 2 * 16].view(6, 2, 16), torch.zeros(8, 16)
    heads_of_the_query[(8,)](k, o, 2, 4, 6, DIM=16, BUG=bug)
    return o, k.sum(0).repeat_interleave(4, 0)
