"""Kernels in which numbers that may differ decide something, and kernels whose bounds take a rule of their own."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def flagged(x, limit, sums, flags, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    tl.store(sums + row, total)
    if total > tl.load(limit + row):
        tl.store(flags + row, 1)


@triton.jit
def either_way(x, limit, low, high, both, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    factor = 0.0
    if total > tl.load(limit + row):
        tl.store(high + row, 1)
        factor = 2.0
    else:
        tl.store(low + row, 1)
        factor = 3.0
    tl.store(both + row, factor)


@triton.jit
def halved_until(x, limit, values, rounds, trace, sums, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    tl.store(sums + row, total)
    value = total
    count = 0
    while value > tl.load(limit + row):
        tl.store(trace + row * 8 + count, value)
        value = value * 0.5
        count += 1
    tl.store(values + row, value)
    tl.store(rounds + row, count)


@triton.jit
def so_many(x, sums, marks, last, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    tl.store(sums + row, total)
    value = 0
    for i in range(0, tl.floor(total).to(tl.int32)):
        tl.store(marks + row * 16 + i, 1)
        value += 2
    tl.store(last + row, value)


@triton.jit
def looked_up(x, table, values, sums, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    tl.store(sums + row, total)
    tl.store(values + row, tl.load(table + tl.floor(total).to(tl.int32)))


@triton.jit
def put(x, places, sums, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    tl.store(sums + row, total)
    tl.store(places + row * 16 + tl.floor(total).to(tl.int32), 1)


@triton.jit
def put_and_read(x, places, sums, doubled, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    tl.store(sums + row, total)
    tl.store(places + row * 16 + tl.floor(total).to(tl.int32), 1)
    tl.store(doubled + row, 2 * tl.load(places + row * 16))


@triton.jit
def masked(x, values, sums, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * B + i)
    total = tl.sum(v, 0)
    tl.store(sums + row, total)
    tl.store(values + row * B + i, i, mask=v * total > 1.0)


@triton.jit
def summed_where(x, limit, bins, sums, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    tl.store(sums + row, total)
    if total > tl.load(limit + row):
        tl.atomic_add(bins + row, 1)


@triton.jit
def locked_sum(x, lock, total, B: tl.constexpr):
    value = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + value)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def scaled_product(a, a_scale, b, b_scale, c, A: tl.constexpr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
                   K: tl.constexpr, KA: tl.constexpr, KB: tl.constexpr):  # fmt: skip
    m, n = tl.arange(0, M), tl.arange(0, N)
    left = tl.load(a + m[:, None] * KA + tl.arange(0, KA)[None, :])
    right = tl.load(b + tl.arange(0, KB)[:, None] * N + n[None, :])
    g = tl.arange(0, K // 32)
    scale_of_left = tl.load(a_scale + m[:, None] * (K // 32) + g[None, :])
    scale_of_right = tl.load(b_scale + n[:, None] * (K // 32) + g[None, :])
    out = tl.dot_scaled(left, scale_of_left, A, right, scale_of_right, B)
    tl.store(c + m[:, None] * N + n[None, :], out)


@triton.jit
def smooth(x, slope):
    y = x * slope
    if x > 0.0:
        y = tl.exp(x) - 1.0
    return y


@triton.jit
def by_lane(x, o, sums, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * B + i)
    total = tl.sum(v, 0)
    tl.store(sums + tl.program_id(0), total)
    w = v * (total * 0.01)
    tl.store(o + tl.program_id(0) * B + i, tl.map_elementwise(smooth, w, w * 0.25 + 0.1))


@triton.jit
def pairs(a, b, c, d):
    return a + c, b * d, a * 0.5, tl.exp(b) + c


@triton.jit
def by_pairs(x, y, p, q, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.exp(tl.load(x + i))
    w = tl.load(y + i)
    first, second = tl.map_elementwise(pairs, v, w, pack=2)
    tl.store(p + i, first)
    tl.store(q + i, second)


@triton.jit
def leaves_early(x, limit, sums, later, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x + row * B + tl.arange(0, B)), 0)
    tl.store(sums + row, total)
    if total > tl.load(limit + row):
        return
    tl.store(later + row, 1)
