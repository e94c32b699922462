"""Reads of memory that nobody has written: torch.empty where zeros were meant, a first kernel that fills only a part of
what a second one reads.

The arrays are made inside of `run`, because the checks follow what is allocated while they are on. Fresh memory is
often zero by chance, so that some of these mistakes hide.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from corpus.seeded import normal, seeded

CHANCE = "fresh memory holds what it likes, often zeros"


def fresh(*shape: int, bug: bool, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Memory as the mistake has it, without a value, or as zeros."""
    return torch.empty(shape, dtype=dtype) if bug else torch.zeros(shape, dtype=dtype)


@triton.jit
def atomic_sum_into_empty(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.atomic_add(o_ptr, tl.sum(x))  # BUG: uninitialized


@seeded("uninitialized", atomic_sum_into_empty, hidden=CHANCE)
def _(bug):
    x, o = torch.arange(500, dtype=torch.int32), fresh(1, bug=bug, dtype=torch.int32)
    atomic_sum_into_empty[(4,)](x, o, 500, BLOCK=128, BUG=bug)
    return o, x.sum().reshape(1).int()


@triton.jit
def split_k_into_empty(
    a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SPLIT: tl.constexpr, BUG: tl.constexpr
):
    part: tl.constexpr = K // SPLIT
    k = tl.program_id(0) * part + tl.arange(0, part)
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(a_ptr + rows[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + cols[None, :])
    c = tl.dot(a, b, out_dtype=tl.int32)
    tl.atomic_add(c_ptr + rows[:, None] * N + cols[None, :], c)  # BUG: uninitialized


@seeded("uninitialized", split_k_into_empty, hidden=CHANCE)
def _(bug):
    generator = torch.Generator().manual_seed(0)
    a = torch.randint(-8, 8, (16, 128), generator=generator, dtype=torch.int8)
    b = torch.randint(-8, 8, (128, 16), generator=generator, dtype=torch.int8)
    c = fresh(16, 16, bug=bug, dtype=torch.int32)
    split_k_into_empty[(4,)](a, b, c, M=16, N=16, K=128, SPLIT=4, BUG=bug)
    return c, a.int() @ b.int()


@triton.jit
def accumulate_into_empty(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    before = tl.load(o_ptr + offs, mask=mask, other=0.0)  # BUG: uninitialized
    tl.store(o_ptr + offs, before + x, mask=mask)


@seeded("uninitialized", accumulate_into_empty, hidden=CHANCE)
def _(bug):
    x, o = normal(200), fresh(200, bug=bug)
    accumulate_into_empty[(2,)](x, o, 200, BLOCK=128, BUG=bug)
    return o, x


@triton.jit
def write_rows(x_ptr, o_ptr, step, DIM: tl.constexpr):
    row = tl.program_id(0) * step
    dims = tl.arange(0, DIM)
    tl.store(o_ptr + row * DIM + dims, tl.load(x_ptr + row * DIM + dims) * 2)


@triton.jit
def rows_left_out(x_ptr, o_ptr, DIM: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    dims = tl.arange(0, DIM)
    x = tl.load(x_ptr + row * DIM + dims)  # BUG: uninitialized
    tl.store(o_ptr + row, tl.sum(x))


@seeded("uninitialized", rows_left_out)
def _(bug):
    x, doubled, o = normal(8, 16), torch.empty(8, 16), torch.zeros(8)
    step = 2 if bug else 1
    write_rows[(8 // step,)](x, doubled, step, DIM=16)
    rows_left_out[(8,)](doubled, o, DIM=16, BUG=bug)
    return o, (x * 2).sum(1)


@triton.jit
def partial_sums(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(x))


@triton.jit
def more_partials_than_programs(partial_ptr, o_ptr, count, MAX: tl.constexpr, BUG: tl.constexpr):
    at = tl.arange(0, MAX)
    if BUG:
        part = tl.load(partial_ptr + at)  # BUG: uninitialized
    else:
        part = tl.load(partial_ptr + at, mask=at < count, other=0)
    tl.store(o_ptr, tl.sum(part))


@seeded("uninitialized", more_partials_than_programs, hidden=CHANCE)
def _(bug):
    x, o = torch.arange(650, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    partial = torch.empty(8, dtype=torch.int32)
    partial_sums[(6,)](x, partial, 650, BLOCK=128)
    more_partials_than_programs[(1,)](partial, o, 6, MAX=8, BUG=bug)
    return o, x.sum().reshape(1).int()


@triton.jit
def running_mean_of_nothing(x_ptr, mean_ptr, momentum, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    channel = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + channel * n + offs, mask=offs < n, other=0.0)
    old = tl.load(mean_ptr + channel)  # BUG: uninitialized
    tl.store(mean_ptr + channel, old * (1 - momentum) + tl.sum(x) / n * momentum)


@seeded("uninitialized", running_mean_of_nothing, hidden=CHANCE)
def _(bug):
    x, mean = normal(4, 20), fresh(4, bug=bug)
    running_mean_of_nothing[(4,)](x, mean, 0.1, 20, BLOCK=32, BUG=bug)
    return mean, x.mean(1) * 0.1


@triton.jit
def scale_never_computed(x_ptr, scale_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    offs = row * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if not BUG:
        tl.store(scale_ptr + row, tl.max(tl.abs(x)) / 127)
        tl.debug_barrier()
    scale = tl.load(scale_ptr + row)  # BUG: uninitialized
    tl.store(o_ptr + offs, x / scale)


@seeded("uninitialized", scale_never_computed, also="nan")
def _(bug):
    x, o = normal(4, 32), torch.zeros(4, 32)
    scale_never_computed[(4,)](x, torch.empty(4), o, BLOCK=32, BUG=bug)
    return o, x / (x.abs().amax(1, keepdim=True) / 127)


@triton.jit
def numpy_empty_state(grad_ptr, moment_ptr, o_ptr, beta, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    moment = tl.load(moment_ptr + offs, mask=mask, other=0.0)  # BUG: uninitialized
    moment = moment * beta + tl.load(grad_ptr + offs, mask=mask, other=0.0) * (1 - beta)
    tl.store(moment_ptr + offs, moment, mask=mask)
    tl.store(o_ptr + offs, -moment, mask=mask)


@seeded("uninitialized", numpy_empty_state, hidden=CHANCE)
def _(bug):
    grad = np.linspace(-1, 1, 50, dtype=np.float32)
    moment, o = np.empty(50, np.float32) if bug else np.zeros(50, np.float32), np.zeros(50, np.float32)
    numpy_empty_state[(1,)](grad, moment, o, 0.5, 50, BLOCK=64, BUG=bug)
    return torch.from_numpy(o), torch.from_numpy(grad * -0.5)


@triton.jit
def last_column_of_a_padded_buffer(x_ptr, o_ptr, n, stride, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    if BUG:
        width = stride
    else:
        width = n
    x = tl.load(x_ptr + row * stride + offs, mask=offs < width, other=-float("inf"))  # BUG: uninitialized
    tl.store(o_ptr + row, tl.max(x))


@seeded("uninitialized", last_column_of_a_padded_buffer, hidden="the padding happens to hold no large number")
def _(bug):
    x, o = torch.empty(4, 32), torch.zeros(4)
    x[:, :30] = torch.arange(1.0, 121.0).view(4, 30)
    last_column_of_a_padded_buffer[(4,)](x, o, 30, 32, BLOCK=32, BUG=bug)
    return o, x[:, :30].amax(1)
