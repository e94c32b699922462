"""Lanes that a mask switches off and no `other` fills, where they matter: in a reduction, a store, an address, a test.

Such lanes are zero on the CPU. On a GPU they hold whatever the register held.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import normal, seeded

ZERO = "lanes without a value are zero here, which is harmless for this operation"


@triton.jit
def max_without_other(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    if BUG:
        x = tl.load(x_ptr + row * n + offs, mask=offs < n)
    else:
        x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=-float("inf"))
    tl.store(o_ptr + row, tl.max(x))  # BUG: undefined


@seeded("undefined", max_without_other)
def _(bug):
    x, o = -normal(4, 40).abs() - 1, torch.zeros(4)
    max_without_other[(4,)](x, o, 40, BLOCK=64, BUG=bug)
    return o, x.amax(1)


@triton.jit
def sum_without_other(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    if BUG:
        x = tl.load(x_ptr + row * n + offs, mask=offs < n)
    else:
        x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
    mean = tl.sum(x, axis=0) / n  # BUG: undefined
    tl.store(o_ptr + row, mean)


@seeded("undefined", sum_without_other, hidden=ZERO)
def _(bug):
    x, o = normal(4, 40), torch.zeros(4)
    sum_without_other[(4,)](x, o, 40, BLOCK=64, BUG=bug)
    return o, x.mean(1)


@triton.jit
def softmax_tail(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    mask = offs < n
    if BUG:
        x = tl.load(x_ptr + row * n + offs, mask=mask)
    else:
        x = tl.load(x_ptr + row * n + offs, mask=mask, other=-float("inf"))
    peak = tl.max(x, axis=0)  # BUG: undefined
    e = tl.exp(x - peak)
    tl.store(o_ptr + row * n + offs, e / tl.sum(e, axis=0), mask=mask)  # ALSO: undefined


@seeded("undefined", softmax_tail)
def _(bug):
    x, o = normal(4, 40), torch.zeros(4, 40)
    softmax_tail[(4,)](x, o, 40, BLOCK=64, BUG=bug)
    return o, x.softmax(1)


@triton.jit
def dot_tail_of_k(a_ptr, b_ptr, c_ptr, k_size, B: tl.constexpr, BK: tl.constexpr, BUG: tl.constexpr):
    rows, k = tl.arange(0, B), tl.arange(0, BK)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, k_size, BK):
        inner = start + k < k_size
        if BUG:
            a = tl.load(a_ptr + rows[:, None] * k_size + start + k[None, :], mask=inner[None, :])
        else:
            a = tl.load(a_ptr + rows[:, None] * k_size + start + k[None, :], mask=inner[None, :], other=0.0)
        b = tl.load(b_ptr + (start + k)[:, None] * B + rows[None, :], mask=inner[:, None], other=0.0)
        acc = tl.dot(a, b, acc)  # BUG: undefined
    tl.store(c_ptr + rows[:, None] * B + rows[None, :], acc)


@seeded("undefined", dot_tail_of_k, hidden=ZERO)
def _(bug):
    a, b, c = normal(16, 40), normal(40, 16, seed=1), torch.zeros(16, 16)
    a, b = a.half(), b.half()
    dot_tail_of_k[(1,)](a, b, c, 40, B=16, BK=32, BUG=bug)
    return c, a.float() @ b.float()


@triton.jit
def store_wider_than_load(x_ptr, o_ptr, n, padded, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    if BUG:
        x = tl.load(x_ptr + offs, mask=offs < n)
    else:
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(o_ptr + offs, x, mask=offs < padded)  # BUG: undefined


@seeded("undefined", store_wider_than_load, hidden=ZERO)
def _(bug):
    x, o = normal(40), torch.ones(48)
    store_wider_than_load[(1,)](x, o, 40, 48, BLOCK=64, BUG=bug)
    return o, torch.nn.functional.pad(x, (0, 8))


@triton.jit
def index_without_other(index_ptr, table_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    if BUG:
        index = tl.load(index_ptr + offs, mask=mask)
    else:
        index = tl.load(index_ptr + offs, mask=mask, other=0)
    row = tl.load(table_ptr + index)  # BUG: undefined
    tl.store(o_ptr + offs, row, mask=mask)


@seeded("undefined", index_without_other, hidden=ZERO)
def _(bug):
    index, table, o = torch.arange(20, dtype=torch.int32).flip(0), normal(20), torch.zeros(20)
    index_without_other[(1,)](index, table, o, 20, BLOCK=32, BUG=bug)
    return o, table.flip(0)


@triton.jit
def branch_on_nothing(flag_ptr, o_ptr, n, BUG: tl.constexpr):
    pid = tl.program_id(0)
    if BUG:
        flag = tl.load(flag_ptr + pid, mask=pid < n)
    else:
        flag = tl.load(flag_ptr + pid, mask=pid < n, other=0)
    if flag > 0:  # BUG: undefined
        tl.store(o_ptr + pid, 1)


@seeded("undefined", branch_on_nothing, hidden=ZERO)
def _(bug):
    flags, o = torch.tensor([1, 0, 1], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    branch_on_nothing[(4,)](flags, o, 3, BUG=bug)
    return o, torch.tensor([1, 0, 1, 0], dtype=torch.int32)


@triton.jit
def scan_without_other(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    live = offs >= BLOCK - n
    if BUG:
        x = tl.load(x_ptr + offs - (BLOCK - n), mask=live)
    else:
        x = tl.load(x_ptr + offs - (BLOCK - n), mask=live, other=0)
    sums = tl.cumsum(x, axis=0)  # BUG: undefined
    tl.store(o_ptr + offs - (BLOCK - n), sums, mask=live)


@seeded("undefined", scan_without_other, hidden=ZERO)
def _(bug):
    x, o = torch.arange(20, dtype=torch.int32), torch.zeros(20, dtype=torch.int32)
    scan_without_other[(1,)](x, o, 20, BLOCK=32, BUG=bug)
    return o, x.cumsum(0).int()


@triton.jit
def argmax_without_other(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    if BUG:
        x = tl.load(x_ptr + offs, mask=offs < n)
    else:
        x = tl.load(x_ptr + offs, mask=offs < n, other=-float("inf"))
    tl.store(o_ptr, tl.argmax(x, axis=0))  # BUG: undefined


@seeded("undefined", argmax_without_other)
def _(bug):
    x, o = -torch.arange(1.0, 41.0), torch.full((1,), -1, dtype=torch.int32)
    argmax_without_other[(1,)](x, o, 40, BLOCK=64, BUG=bug)
    return o, torch.zeros(1, dtype=torch.int32)


@triton.jit
def sort_without_other(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    if BUG:
        x = tl.load(x_ptr + offs, mask=mask)
    else:
        x = tl.load(x_ptr + offs, mask=mask, other=float("inf"))
    tl.store(o_ptr + offs, tl.sort(x), mask=mask)  # BUG: undefined


@seeded("undefined", sort_without_other)
def _(bug):
    x, o = normal(20), torch.zeros(20)
    sort_without_other[(1,)](x, o, 20, BLOCK=32, BUG=bug)
    return o, x.sort()[0]


@triton.jit
def loop_bound_without_other(length_ptr, x_ptr, o_ptr, batch, BUG: tl.constexpr):
    pid = tl.program_id(0)
    if BUG:
        length = tl.load(length_ptr + pid, mask=pid < batch)
    else:
        length = tl.load(length_ptr + pid, mask=pid < batch, other=0)
    total = 0.0
    for i in range(0, length):  # BUG: undefined
        total += tl.load(x_ptr + i)
    tl.store(o_ptr + pid, total)


@seeded("undefined", loop_bound_without_other, hidden=ZERO)
def _(bug):
    lengths, x, o = torch.tensor([2, 5], dtype=torch.int32), torch.ones(5), torch.ones(3)
    loop_bound_without_other[(3,)](lengths, x, o, 2, BUG=bug)
    return o, torch.tensor([2.0, 5.0, 0.0])


@triton.jit
def where_of_the_wrong_mask(x_ptr, o_ptr, n, m, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if BUG:
        x = tl.where(offs < m, x, 0.0)
    else:
        x = tl.where(offs < n, x, 0.0)
    tl.store(o_ptr, tl.sum(x * x))  # BUG: undefined


@seeded("undefined", where_of_the_wrong_mask, hidden=ZERO)
def _(bug):
    x, o = normal(20), torch.zeros(1)
    where_of_the_wrong_mask[(1,)](x, o, 20, 24, BLOCK=32, BUG=bug)
    return o, (x * x).sum().reshape(1)


@triton.jit
def atomic_of_unmasked_value(x_ptr, bins_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    if BUG:
        tl.atomic_add(bins_ptr + x, 1)  # BUG: undefined
    else:
        tl.atomic_add(bins_ptr + x, 1, mask=mask)


@seeded("undefined", atomic_of_unmasked_value)
def _(bug):
    x, bins = torch.arange(20, dtype=torch.int32) % 4, torch.zeros(4, dtype=torch.int32)
    atomic_of_unmasked_value[(1,)](x, bins, 20, BLOCK=32, BUG=bug)
    return bins, torch.full((4,), 5, dtype=torch.int32)
