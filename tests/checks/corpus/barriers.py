"""Programs that read what they have stored through other lanes, and do not wait for their own threads in between.

The interpreter runs one line after the other, so that the numbers are right here; on a GPU the threads of a program are
at different lines.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import normal, seeded

IN_ORDER = "a program's lines run one after the other here"


@triton.jit
def neighbours_through_memory(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i) * 2)  # BUG: barriers
    if not BUG:
        tl.debug_barrier()
    left = tl.load(o_ptr + (i + BLOCK - 1) % BLOCK)  # BUG: barriers
    tl.store(o_ptr + BLOCK + i, left)


@seeded("barriers", neighbours_through_memory, hidden=IN_ORDER)
def _(bug):
    x, o = normal(256), torch.zeros(512)
    neighbours_through_memory[(1,)](x, o, BLOCK=256, BUG=bug)
    return o[256:], (x * 2).roll(1)


@triton.jit
def transposed_through_memory(x_ptr, scratch_ptr, o_ptr, N: tl.constexpr, BUG: tl.constexpr):
    pid = tl.program_id(0)
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tile = pid * N * N
    tl.store(scratch_ptr + tile + i * N + j, tl.load(x_ptr + tile + i * N + j))  # BUG: barriers
    if not BUG:
        tl.debug_barrier()
    tl.store(o_ptr + tile + i * N + j, tl.load(scratch_ptr + tile + j * N + i))  # BUG: barriers


@seeded("barriers", transposed_through_memory, hidden=IN_ORDER)
def _(bug):
    x = normal(3, 16, 16)
    scratch, o = torch.zeros_like(x), torch.zeros_like(x)
    transposed_through_memory[(3,)](x, scratch, o, N=16, BUG=bug)
    return o, x.transpose(1, 2)


@triton.jit
def waves_in_place(x_ptr, steps, BLOCK: tl.constexpr, BUG: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for _ in range(steps):
        left = tl.load(x_ptr + i)  # BUG: barriers
        if not BUG:
            tl.debug_barrier()
        tl.store(x_ptr + 1 + i, left + 1)  # BUG: barriers
        if not BUG:
            tl.debug_barrier()


@seeded("barriers", waves_in_place, hidden=IN_ORDER)
def _(bug):
    x = torch.zeros(129)
    waves_in_place[(1,)](x, 3, BLOCK=128, BUG=bug)
    return x, torch.arange(129.0).clamp(max=3)


@triton.jit
def counts_begin_at_zero(x_ptr, bins_ptr, BLOCK: tl.constexpr, BINS: tl.constexpr, BUG: tl.constexpr):
    tl.store(bins_ptr + tl.arange(0, BINS), 0)  # BUG: barriers
    if not BUG:
        tl.debug_barrier()
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.atomic_add(bins_ptr + x, 1)  # BUG: barriers


@seeded("barriers", counts_begin_at_zero, hidden=IN_ORDER)
def _(bug):
    x, bins = torch.arange(256, dtype=torch.int32) % 7, torch.full((8,), 99, dtype=torch.int32)
    counts_begin_at_zero[(1,)](x, bins, BLOCK=256, BINS=8, BUG=bug)
    return bins, torch.bincount(x, minlength=8).int()


@triton.jit
def sum_through_memory(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr, tl.sum(x))  # BUG: barriers
    if not BUG:
        tl.debug_barrier()
    total = tl.load(o_ptr + i * 0)  # BUG: barriers
    tl.store(x_ptr + i, x / total)


@seeded("barriers", sum_through_memory, hidden=IN_ORDER)
def _(bug):
    x = torch.arange(1.0, 257.0)
    want = x / x.sum()
    sum_through_memory[(1,)](x, torch.zeros(1), BLOCK=256, BUG=bug)
    return x, want
