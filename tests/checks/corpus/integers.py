"""Integers that do not fit: products and sums past 32 bits, offsets past 2^31, narrow types, divisions by zero, shifts
by too much."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import inside, seeded


@triton.jit
def offset_past_31_bits(x_ptr, o_ptr, stride, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    if BUG:
        start = row * stride  # BUG: overflow
    else:
        start = row.to(tl.int64) * stride
    offs = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=(offs >= 0) & (offs < n), other=0)
    tl.store(o_ptr + row, tl.sum(x))


@seeded("overflow", offset_past_31_bits)
def _(bug):
    x, o = torch.ones(64, dtype=torch.int32), torch.full((5,), -1, dtype=torch.int32)
    offset_past_31_bits[(5,)](x, o, 1 << 30, 64, BLOCK=32, BUG=bug)
    return o, torch.tensor([32, 0, 0, 0, 0], dtype=torch.int32)


@triton.jit
def square_sum_of_integers(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if not BUG:
        x = x.to(tl.int64)
    square = x * x  # BUG: overflow
    tl.store(o_ptr, tl.sum(square))


@seeded("overflow", square_sum_of_integers)
def _(bug):
    x, o = torch.arange(50000, 50032, dtype=torch.int32), torch.zeros(1, dtype=torch.int64)
    square_sum_of_integers[(1,)](x, o, BLOCK=32, BUG=bug)
    return o, (x.long() ** 2).sum().reshape(1)


@triton.jit
def sum_past_31_bits(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if not BUG:
        x = x.to(tl.int64)
    total = tl.sum(x)  # BUG: overflow
    tl.store(o_ptr, total)


@seeded("overflow", sum_past_31_bits)
def _(bug):
    x, o = torch.full((64,), 100_000_000, dtype=torch.int32), torch.zeros(1, dtype=torch.int64)
    sum_past_31_bits[(1,)](x, o, BLOCK=64, BUG=bug)
    return o, torch.full((1,), 6_400_000_000)


@triton.jit
def gray_of_bytes(r_ptr, g_ptr, b_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    r = tl.load(r_ptr + offs, mask=mask, other=0)
    g = tl.load(g_ptr + offs, mask=mask, other=0)
    b = tl.load(b_ptr + offs, mask=mask, other=0)
    if not BUG:
        r, g, b = r.to(tl.int32), g.to(tl.int32), b.to(tl.int32)
    total = r + g + b  # BUG: overflow
    tl.store(o_ptr + offs, (total // 3).to(tl.uint8), mask=mask)


@seeded("overflow", gray_of_bytes)
def _(bug):
    r, g, b = (torch.arange(60, dtype=torch.int32).mul(k).remainder(256).to(torch.uint8) for k in (3, 4, 5))
    o = torch.zeros(60, dtype=torch.uint8)
    gray_of_bytes[(1,)](r, g, b, o, 60, BLOCK=64, BUG=bug)
    return o, ((r.int() + g.int() + b.int()) // 3).to(torch.uint8)


@triton.jit
def quantise_without_clamp(x_ptr, o_ptr, scale, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0) / scale
    if not BUG:
        x = tl.clamp(x, -128.0, 127.0)
    q = x.to(tl.int8)  # BUG: overflow
    tl.store(o_ptr + offs, q, mask=offs < n)


@seeded("overflow", quantise_without_clamp)
def _(bug):
    x, o = torch.linspace(-2, 2, 50), torch.zeros(50, dtype=torch.int8)
    quantise_without_clamp[(1,)](x, o, 1 / 100, 50, BLOCK=64, BUG=bug)
    return o, (x / (1 / 100)).clamp(-128, 127).to(torch.int8)


@triton.jit
def store_into_int8(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    if not BUG:
        x = tl.minimum(x, 127)
    tl.store(o_ptr + offs, x, mask=offs < n)  # BUG: overflow


@seeded("overflow", store_into_int8)
def _(bug):
    x, o = torch.arange(100, 150, dtype=torch.int32), torch.zeros(50, dtype=torch.int8)
    store_into_int8[(1,)](x, o, 50, BLOCK=64, BUG=bug)
    return o, x.clamp(max=127).to(torch.int8)


@triton.jit
def index_cut_to_32_bits(index_ptr, x_ptr, o_ptr, n, BUG: tl.constexpr):
    pid = tl.program_id(0)
    index = tl.load(index_ptr + pid)
    if BUG:
        at = index.to(tl.int32)  # BUG: overflow
    else:
        at = index
    x = tl.load(x_ptr + at, mask=(at >= 0) & (at < n), other=-1)
    tl.store(o_ptr + pid, x)


@seeded("overflow", index_cut_to_32_bits)
def _(bug):
    index, x = torch.tensor([3, (1 << 32) + 1, 0]), torch.arange(10, 14, dtype=torch.int32)
    o = torch.zeros(3, dtype=torch.int32)
    index_cut_to_32_bits[(3,)](index, x, o, 4, BUG=bug)
    return o, torch.tensor([13, -1, 10], dtype=torch.int32)


@triton.jit
def average_of_nothing(total_ptr, count_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    total = tl.load(total_ptr + offs, mask=mask, other=0)
    count = tl.load(count_ptr + offs, mask=mask, other=1)
    if not BUG:
        count = tl.maximum(count, 1)
    mean = total // count  # BUG: overflow
    tl.store(o_ptr + offs, mean, mask=mask)


@seeded("overflow", average_of_nothing)
def _(bug):
    total, count = torch.tensor([10, 9, 8], dtype=torch.int32), torch.tensor([5, 0, 2], dtype=torch.int32)
    o = torch.zeros(3, dtype=torch.int32)
    average_of_nothing[(1,)](total, count, o, 3, BLOCK=4, BUG=bug)
    return o, torch.tensor([2, 9, 4], dtype=torch.int32)


@triton.jit
def remainder_of_zero_groups(x_ptr, o_ptr, groups, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    if not BUG:
        groups = tl.maximum(groups, 1)
    bucket = x % groups  # BUG: overflow
    tl.store(o_ptr + offs, bucket, mask=offs < n)


@seeded("overflow", remainder_of_zero_groups)
def _(bug):
    x, o = torch.arange(20, dtype=torch.int32), torch.full((20,), -5, dtype=torch.int32)
    remainder_of_zero_groups[(1,)](x, o, 0, 20, BLOCK=32, BUG=bug)
    return o, torch.zeros(20, dtype=torch.int32)


@triton.jit
def shift_by_the_width(bit_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    bit = tl.load(bit_ptr + offs, mask=offs < n, other=0)
    one = tl.full((BLOCK,), 1, tl.int32)
    if not BUG:
        one = one.to(tl.int64)
        bit = bit.to(tl.int64)
    word = one << bit  # BUG: overflow
    tl.store(o_ptr + offs, word, mask=offs < n)


@seeded("overflow", shift_by_the_width)
def _(bug):
    bit, o = torch.arange(0, 44, 4, dtype=torch.int32), torch.zeros(11, dtype=torch.int64)
    shift_by_the_width[(1,)](bit, o, 11, BLOCK=16, BUG=bug)
    return o, torch.ones(11, dtype=torch.int64) << bit


@triton.jit
def time_stamp_as_int32(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0) * 1000.0
    if BUG:
        ms = x.to(tl.int32)  # BUG: overflow
    else:
        ms = x.to(tl.int64)
    tl.store(o_ptr + offs, ms, mask=offs < n)


@seeded("overflow", time_stamp_as_int32)
def _(bug):
    x, o = torch.tensor([1.5, 3_000_000.0], dtype=torch.float64), torch.zeros(2, dtype=torch.int64)
    time_stamp_as_int32[(1,)](x, o, 2, BLOCK=2, BUG=bug)
    return o, (x * 1000).long()


@triton.jit
def count_in_16_bits(x_ptr, o_ptr, rounds, BLOCK: tl.constexpr, BUG: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if BUG:
        total = tl.zeros((BLOCK,), tl.int16)
    else:
        total = tl.zeros((BLOCK,), tl.int32)
    for _ in range(rounds):
        total += x  # BUG: overflow
    tl.store(o_ptr + tl.arange(0, BLOCK), total)


@seeded("overflow", count_in_16_bits)
def _(bug):
    x, o = torch.full((16,), 3000, dtype=torch.int16), torch.zeros(16, dtype=torch.int32)
    count_in_16_bits[(1,)](x, o, 12, BLOCK=16, BUG=bug)
    return o, torch.full((16,), 36000, dtype=torch.int32)


@triton.jit
def minus_of_the_smallest(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    if not BUG:
        x = tl.maximum(x, -2147483647)
    mirrored = -x  # BUG: overflow
    tl.store(o_ptr + offs, mirrored, mask=offs < n)


@seeded("overflow", minus_of_the_smallest)
def _(bug):
    x, o = torch.tensor([5, -(2**31), -7], dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
    minus_of_the_smallest[(1,)](x, o, 3, BLOCK=4, BUG=bug)
    return o, torch.tensor([-5, 2**31 - 1, 7], dtype=torch.int32)


@triton.jit
def batch_offset_wraps(x_ptr, o_ptr, stride_b, stride_h, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    batch, head = tl.program_id(0), tl.program_id(1)
    if BUG:
        base = batch * stride_b + head * stride_h  # BUG: overflow
    else:
        base = batch.to(tl.int64) * stride_b + head.to(tl.int64) * stride_h
    offs = base + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=(offs >= 0) & (offs < n), other=0.0)
    tl.store(o_ptr + batch * 2 + head, tl.sum(x))


@seeded("overflow", batch_offset_wraps)
def _(bug):
    x, o = inside(torch.ones(64), after=64), torch.full((4, 2), -1.0)
    batch_offset_wraps[(4, 2)](x, o, 1 << 30, 1 << 30, 64, BLOCK=64, BUG=bug)
    want = torch.zeros(4, 2)
    want[0, 0] = 64
    return o, want
