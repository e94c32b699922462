"""Programs that get in each other's way: two that store the same tile, sums without atomics, tiles updated in place
that a neighbour still reads.

The CPU often runs such programs one after the other, so that several mistakes hide; a GPU runs them at once.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import normal, seeded

IN_TURN = "programs that run one after the other leave the right numbers"


@triton.jit
def overlapping_tiles(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    pid = tl.program_id(0)
    if BUG:
        start = pid * BLOCK // 2
    else:
        start = pid * BLOCK
    offs = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(o_ptr + offs, x + pid, mask=offs < n)  # BUG: races


@seeded("races", overlapping_tiles, also="order")
def _(bug):
    x, o = normal(256), torch.zeros(256)
    overlapping_tiles[(4,)](x, o, 256, BLOCK=64, BUG=bug)
    return o, x + torch.arange(4).repeat_interleave(64)


@triton.jit
def sum_without_atomic(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + offs))
    if BUG:
        total = tl.load(o_ptr)  # BUG: races
        tl.store(o_ptr, total + part)  # BUG: races
    else:
        tl.atomic_add(o_ptr, part)


@seeded("races", sum_without_atomic, hidden=IN_TURN)
def _(bug):
    x, o = torch.arange(256, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    sum_without_atomic[(4,)](x, o, BLOCK=64, BUG=bug)
    return o, x.sum().reshape(1).int()


@triton.jit
def histogram_without_atomic(x_ptr, bins_ptr, BLOCK: tl.constexpr, BINS: tl.constexpr, BUG: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    counts = tl.histogram(x, BINS)
    bins = bins_ptr + tl.arange(0, BINS)
    if BUG:
        before = tl.load(bins)  # BUG: races
        tl.store(bins, before + counts)  # BUG: races
    else:
        tl.atomic_add(bins, counts)


@seeded("races", histogram_without_atomic, hidden=IN_TURN)
def _(bug):
    x = torch.randint(0, 8, (256,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    bins = torch.zeros(8, dtype=torch.int32)
    histogram_without_atomic[(4,)](x, bins, BLOCK=64, BINS=8, BUG=bug)
    return bins, torch.bincount(x, minlength=8).int()


@triton.jit
def smooth_in_place(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    left = tl.load(x_ptr + offs - 1, mask=mask & (offs > 0), other=0.0)  # BUG: races
    here = tl.load(x_ptr + offs, mask=mask, other=0.0)
    if BUG:
        tl.store(x_ptr + offs, left + here, mask=mask)  # BUG: races
    else:
        tl.store(o_ptr + offs, left + here, mask=mask)


@seeded("races", smooth_in_place, also="order")
def _(bug):
    x, o = normal(200), torch.zeros(200)
    want = x + torch.nn.functional.pad(x, (1, 0))[:-1]
    smooth_in_place[(4,)](x, o, 200, BLOCK=64, BUG=bug)
    return (x if bug else o), want


@triton.jit
def transpose_in_place(x_ptr, N: tl.constexpr, B: tl.constexpr, BUG: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    rows, cols = i * B + tl.arange(0, B)[:, None], j * B + tl.arange(0, B)[None, :]
    here, there = rows * N + cols, cols * N + rows
    if BUG:
        tile = tl.load(x_ptr + here)  # BUG: races
        tl.store(x_ptr + there, tile)  # BUG: races
    else:
        if i <= j:
            upper, lower = tl.load(x_ptr + here), tl.load(x_ptr + there)
            tl.store(x_ptr + there, upper)
            tl.store(x_ptr + here, lower)


@seeded("races", transpose_in_place, also="order")
def _(bug):
    x = normal(32, 32)
    want = x.T.clone()
    transpose_in_place[(2, 2)](x, N=32, B=16, BUG=bug)
    return x, want


@triton.jit
def reverse_in_place(x_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if BUG:
        mask = offs < n
    else:
        mask = offs < n // 2
    front = tl.load(x_ptr + offs, mask=mask)  # BUG: races
    back = tl.load(x_ptr + n - 1 - offs, mask=mask)  # BUG: races
    tl.store(x_ptr + n - 1 - offs, front, mask=mask)  # BUG: races
    tl.store(x_ptr + offs, back, mask=mask)  # BUG: races


@seeded("races", reverse_in_place, also="order")
def _(bug):
    x = normal(256)
    want = x.flip(0)
    reverse_in_place[(4,)](x, 256, BLOCK=64, BUG=bug)
    return x, want


@triton.jit
def rotary_by_halves(x_ptr, cos_ptr, sin_ptr, o_ptr, HALF: tl.constexpr, BUG: tl.constexpr):
    row, half = tl.program_id(0), tl.program_id(1)
    dims = tl.arange(0, HALF)
    first = tl.load(x_ptr + row * 2 * HALF + dims)  # BUG: races
    second = tl.load(x_ptr + row * 2 * HALF + HALF + dims)  # BUG: races
    cos, sin = tl.load(cos_ptr + dims), tl.load(sin_ptr + dims)
    turned = tl.where(half == 0, first * cos - second * sin, second * cos + first * sin)
    if BUG:
        tl.store(x_ptr + row * 2 * HALF + half * HALF + dims, turned)  # BUG: races
    else:
        tl.store(o_ptr + row * 2 * HALF + half * HALF + dims, turned)


@seeded("races", rotary_by_halves, also="order")
def _(bug):
    x, angle = normal(4, 32), torch.linspace(0, 3, 16)
    cos, sin, o = angle.cos(), angle.sin(), torch.zeros(4, 32)
    a, b = x[:, :16].clone(), x[:, 16:].clone()
    rotary_by_halves[(4, 2)](x, cos, sin, o, HALF=16, BUG=bug)
    return (x if bug else o), torch.cat([a * cos - b * sin, b * cos + a * sin], 1)


@triton.jit
def split_k_by_store(a_ptr, b_ptr, c_ptr, M: tl.constexpr, K: tl.constexpr, SPLIT: tl.constexpr, BUG: tl.constexpr):
    part: tl.constexpr = K // SPLIT
    k = tl.program_id(0) * part + tl.arange(0, part)
    rows = tl.arange(0, M)
    a = tl.load(a_ptr + rows[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * M + rows[None, :])
    c = tl.dot(a, b, out_dtype=tl.int32)
    if BUG:
        tl.store(c_ptr + rows[:, None] * M + rows[None, :], c)  # BUG: races
    else:
        tl.atomic_add(c_ptr + rows[:, None] * M + rows[None, :], c)


@seeded("races", split_k_by_store, also="order")
def _(bug):
    generator = torch.Generator().manual_seed(0)
    a = torch.randint(-8, 8, (16, 128), generator=generator, dtype=torch.int8)
    b = torch.randint(-8, 8, (128, 16), generator=generator, dtype=torch.int8)
    c = torch.zeros(16, 16, dtype=torch.int32)
    split_k_by_store[(4,)](a, b, c, M=16, K=128, SPLIT=4, BUG=bug)
    return c, a.int() @ b.int()


@triton.jit
def weight_gradient_without_lock(x_ptr, dy_ptr, dw_ptr, DIM: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    dims = tl.arange(0, DIM)
    part = tl.load(x_ptr + row * DIM + dims) * tl.load(dy_ptr + row * DIM + dims)
    if BUG:
        sofar = tl.load(dw_ptr + dims)  # BUG: races
        tl.store(dw_ptr + dims, sofar + part)  # BUG: races
    else:
        tl.store(dw_ptr + row * DIM + dims, part)


@seeded("races", weight_gradient_without_lock, also="order", hidden=IN_TURN)
def _(bug):
    x, dy = normal(6, 32), normal(6, 32, seed=1)
    dw = torch.zeros(32) if bug else torch.zeros(6, 32)
    weight_gradient_without_lock[(6,)](x, dy, dw, DIM=32, BUG=bug)
    return (dw if bug else dw.sum(0)), (x * dy).sum(0)


@triton.jit
def scatter_with_duplicates(index_ptr, x_ptr, o_ptr, DIM: tl.constexpr, BUG: tl.constexpr):
    at = tl.program_id(0)
    dims = tl.arange(0, DIM)
    row = tl.load(index_ptr + at)
    x = tl.load(x_ptr + at * DIM + dims)
    if BUG:
        tl.store(o_ptr + row * DIM + dims, x)  # BUG: races
    else:
        tl.atomic_add(o_ptr + row * DIM + dims, x)


@seeded("races", scatter_with_duplicates, also="order")
def _(bug):
    index, x = torch.tensor([2, 0, 2, 1]), torch.arange(64, dtype=torch.int32).view(4, 16)
    o = torch.zeros(3, 16, dtype=torch.int32)
    scatter_with_duplicates[(4,)](index, x, o, DIM=16, BUG=bug)
    return o, torch.zeros(3, 16, dtype=torch.int32).index_add_(0, index, x)


@triton.jit
def one_slot_for_two(slot_ptr, k_ptr, cache_ptr, DIM: tl.constexpr, BUG: tl.constexpr):
    sequence = tl.program_id(0)
    dims = tl.arange(0, DIM)
    slot = tl.load(slot_ptr + sequence)
    k = tl.load(k_ptr + sequence * DIM + dims)
    tl.store(cache_ptr + slot * DIM + dims, k)  # BUG: races


@seeded("races", one_slot_for_two, also="order")
def _(bug):
    slots, k, cache = torch.tensor([3, 5, 3 if bug else 4]), normal(3, 16), torch.zeros(8, 16)
    one_slot_for_two[(3,)](slots, k, cache, DIM=16, BUG=bug)
    want = torch.zeros(8, 16)
    want[torch.tensor([3, 5, 4])] = k
    return cache, want


@triton.jit
def grid_with_a_forgotten_axis(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(1)
    if BUG:
        offs = tl.arange(0, BLOCK)
    else:
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs)
    tl.store(o_ptr + row * n + offs, x + tl.program_id(0))  # BUG: races


@seeded("races", grid_with_a_forgotten_axis, also="order")
def _(bug):
    x, o = normal(3, 64), torch.zeros(3, 64)
    grid_with_a_forgotten_axis[(2, 3)](x, o, 64, BLOCK=32, BUG=bug)
    return o, x + torch.arange(2).repeat_interleave(32)
