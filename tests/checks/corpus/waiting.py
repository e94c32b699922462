"""Flags, counters and locks between programs that do not order what they should, and results that depend on who comes
first."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import normal, seeded

ORDERED = "the CPU keeps the order of stores that a GPU may change"


@triton.jit
def relaxed_flag(x_ptr, flag_ptr, o_ptr, DIM: tl.constexpr, BUG: tl.constexpr):
    dims = tl.arange(0, DIM)
    if tl.program_id(0) == 0:
        tl.store(o_ptr + dims, tl.load(x_ptr + dims) * 2)  # BUG: races
        if BUG:
            tl.atomic_xchg(flag_ptr, 1, sem="relaxed")
        else:
            tl.atomic_xchg(flag_ptr, 1, sem="release")
    else:
        if BUG:
            while tl.atomic_add(flag_ptr, 0, sem="relaxed") == 0:
                pass
        else:
            while tl.atomic_add(flag_ptr, 0, sem="acquire") == 0:
                pass
        doubled = tl.load(o_ptr + dims)  # BUG: races
        tl.store(o_ptr + DIM + dims, doubled + 1)


@seeded("races", relaxed_flag, hidden=ORDERED)
def _(bug):
    x, o = normal(32), torch.zeros(2, 32)
    relaxed_flag[(2,)](x, torch.zeros(1, dtype=torch.int32), o, DIM=32, BUG=bug)
    return o, torch.stack([x * 2, x * 2 + 1])


@triton.jit
def flag_by_plain_store(x_ptr, flag_ptr, o_ptr, DIM: tl.constexpr, BUG: tl.constexpr):
    dims = tl.arange(0, DIM)
    if tl.program_id(0) == 0:
        tl.store(o_ptr + dims, tl.load(x_ptr + dims) * 2)  # ALSO: races
        if BUG:
            tl.store(flag_ptr, 1)  # BUG: races
        else:
            tl.atomic_xchg(flag_ptr, 1)
    else:
        while tl.atomic_add(flag_ptr, 0) == 0:  # BUG: races
            pass
        tl.store(o_ptr + DIM + dims, tl.load(o_ptr + dims) + 1)  # ALSO: races


@seeded("races", flag_by_plain_store, hidden=ORDERED)
def _(bug):
    x, o = normal(32), torch.zeros(2, 32)
    flag_by_plain_store[(2,)](x, torch.zeros(1, dtype=torch.int32), o, DIM=32, BUG=bug)
    return o, torch.stack([x * 2, x * 2 + 1])


@triton.jit
def ticket_without_order(x_ptr, part_ptr, ticket_ptr, o_ptr, PARTS: tl.constexpr, BUG: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part_ptr + pid, tl.load(x_ptr + pid) * 2)  # BUG: races
    if BUG:
        ticket = tl.atomic_add(ticket_ptr, 1, sem="relaxed")
    else:
        ticket = tl.atomic_add(ticket_ptr, 1, sem="acq_rel")
    if ticket == PARTS - 1:
        parts = tl.load(part_ptr + tl.arange(0, PARTS))  # BUG: races
        tl.store(o_ptr, tl.sum(parts))


@seeded("races", ticket_without_order, hidden=ORDERED)
def _(bug):
    x, parts = torch.arange(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    o, ticket = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    ticket_without_order[(8,)](x, parts, ticket, o, PARTS=8, BUG=bug)
    return o, (2 * x.sum()).reshape(1).int()


@triton.jit
def lock_let_go_too_early(x_ptr, lock_ptr, o_ptr, DIM: tl.constexpr, BUG: tl.constexpr):
    dims = tl.arange(0, DIM)
    x = tl.load(x_ptr + tl.program_id(0) * DIM + dims)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    sofar = tl.load(o_ptr + dims)  # BUG: races
    if BUG:
        tl.atomic_xchg(lock_ptr, 0)
        tl.store(o_ptr + dims, sofar + x)  # BUG: races
    else:
        tl.store(o_ptr + dims, sofar + x)
        tl.atomic_xchg(lock_ptr, 0)


@seeded("races", lock_let_go_too_early, hidden="programs that run one after the other need no lock")
def _(bug):
    x, o = torch.arange(128, dtype=torch.int32).view(4, 32), torch.zeros(32, dtype=torch.int32)
    lock_let_go_too_early[(4,)](x, torch.zeros(1, dtype=torch.int32), o, DIM=32, BUG=bug)
    return o, x.sum(0).int()


@triton.jit
def lock_with_relaxed_release(x_ptr, lock_ptr, o_ptr, DIM: tl.constexpr, BUG: tl.constexpr):
    dims = tl.arange(0, DIM)
    x = tl.load(x_ptr + tl.program_id(0) * DIM + dims)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    sofar = tl.load(o_ptr + dims)  # BUG: races
    tl.store(o_ptr + dims, sofar + x)  # BUG: races
    if BUG:
        tl.atomic_xchg(lock_ptr, 0, sem="relaxed")
    else:
        tl.atomic_xchg(lock_ptr, 0, sem="release")


@seeded("races", lock_with_relaxed_release, hidden=ORDERED)
def _(bug):
    x, o = torch.arange(128, dtype=torch.int32).view(4, 32), torch.zeros(32, dtype=torch.int32)
    lock_with_relaxed_release[(4,)](x, torch.zeros(1, dtype=torch.int32), o, DIM=32, BUG=bug)
    return o, x.sum(0).int()


@triton.jit
def counter_of_one_block(hits_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    hits = tl.sum(tl.load(hits_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)))
    if BUG:
        tl.atomic_add(o_ptr, hits, scope="cta")  # BUG: races
    else:
        tl.atomic_add(o_ptr, hits, scope="gpu")


@seeded("races", counter_of_one_block, hidden="on the CPU every atomic is seen by all programs")
def _(bug):
    hits, o = torch.ones(256, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    counter_of_one_block[(4,)](hits, o, BLOCK=64, BUG=bug)
    return o, torch.full((1,), 256, dtype=torch.int32)


@triton.jit
def float_sum_by_atomics(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    part = tl.sum(tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)))
    if BUG:
        tl.atomic_add(o_ptr, part)  # BUG: order
    else:
        tl.atomic_add(o_ptr, tl.floor(part * 1048576.0 + 0.5).to(tl.int64))


@seeded("order", float_sum_by_atomics, hidden="every order's sum is within rounding of the right one")
def _(bug):
    x = normal(512) * 10.0 ** torch.arange(8).repeat_interleave(64)
    o = torch.zeros(1) if bug else torch.zeros(1, dtype=torch.int64)
    float_sum_by_atomics[(8,)](x, o, BLOCK=64, BUG=bug)
    return (o if bug else o.double() / 1048576).float(), x.double().sum().reshape(1).float()


@triton.jit
def half_sum_by_atomics(x_ptr, o_ptr, n, BUG: tl.constexpr):
    if BUG:
        tl.atomic_add(o_ptr, tl.load(x_ptr + tl.program_id(0)))  # BUG: order
    else:
        if tl.program_id(0) == 0:
            total = 0.0
            for i in range(n):
                total += tl.load(x_ptr + i)
            tl.store(o_ptr, total)


@seeded("order", half_sum_by_atomics)
def _(bug):
    x = torch.tensor([2048.0] + [1.0] * 31, dtype=torch.float16)
    o = torch.zeros(1, dtype=torch.float16)
    half_sum_by_atomics[(32,)](x, o, 32, BUG=bug)
    return o, x.double().sum().reshape(1).half()


@triton.jit
def compaction_by_counter(x_ptr, count_ptr, o_ptr, n, BUG: tl.constexpr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    if x > 0:
        if BUG:
            at = tl.atomic_add(count_ptr, 1)
        else:
            at = 0
            for i in range(pid):
                at += (tl.load(x_ptr + i) > 0).to(tl.int32)
        tl.store(o_ptr + at, x)  # BUG: order


@seeded("order", compaction_by_counter, hidden="programs that begin in order of their ids keep the order")
def _(bug):
    x = torch.tensor([3, -1, 4, 0, 5, -2, 6, 7], dtype=torch.int32)
    o = torch.zeros(8, dtype=torch.int32)
    compaction_by_counter[(8,)](x, torch.zeros(1, dtype=torch.int32), o, 8, BUG=bug)
    return o, torch.tensor([3, 4, 5, 6, 7, 0, 0, 0], dtype=torch.int32)


@triton.jit
def first_come_first_kept(x_ptr, o_ptr, limit, BUG: tl.constexpr):
    pid = tl.program_id(0)
    if tl.load(x_ptr + pid) > limit:
        if BUG:
            tl.atomic_cas(o_ptr, -1, pid)  # BUG: order
        else:
            tl.atomic_min(o_ptr, pid)


@seeded("order", first_come_first_kept, hidden="the first program that begins is the one with the lowest id")
def _(bug):
    x = torch.tensor([1, 9, 2, 8, 9, 3, 7, 1], dtype=torch.int32)
    o = torch.full((1,), -1 if bug else 1000, dtype=torch.int32)
    first_come_first_kept[(8,)](x, o, 6, BUG=bug)
    return o, torch.ones(1, dtype=torch.int32)


@triton.jit
def last_exchange_wins(x_ptr, o_ptr, BUG: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0))
    if BUG:
        tl.atomic_xchg(o_ptr, x)  # BUG: order
    else:
        tl.atomic_max(o_ptr, x)


@seeded("order", last_exchange_wins)
def _(bug):
    x, o = torch.tensor([3, 9, 4, 1], dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    last_exchange_wins[(4,)](x, o, BUG=bug)
    return o, x.max().reshape(1)
