"""Products whose programs are large enough for a loop over programs, that have one themselves, that must not have one.

Here:      the kernels. Not here: what is expected of them (test_tile_loops.py), products in general forms
           (copied_load_kernels.py).
"""

from __future__ import annotations

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def numbered(a, b, c, seen, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Programs in three dimensions, each of which says who it is and how many there are."""
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rows, columns = x * BM + tl.arange(0, BM), y * BN + tl.arange(0, BN)
    along = tl.arange(0, BK)
    left = a + z * M * K + rows[:, None] * K + along[None, :]
    right = b + along[:, None] * N + columns[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x_tile = tl.load(left, mask=along[None, :] < K - k, other=0.0)
        sums = tl.dot(x_tile, tl.load(right, mask=along[:, None] < K - k, other=0.0), sums)
        left += BK
        right += BK * N
    at = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
    tl.store(seen + at, x + 10 * y + 100 * z + 1000 * tl.num_programs(2))
    tl.store(c + z * M * N + rows[:, None] * N + columns[None, :], sums.to(c.dtype.element_ty))


@triton.jit
def refused(a, b, c, count, K, KIND: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """KIND: what keeps each program in a CTA of its own; "none": nothing does."""
    pid = tl.program_id(0)
    rows, columns, along = pid * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    left, right = a + rows[:, None] * K + along[None, :], b + along[:, None] * BN + columns[None, :]
    if KIND == "stored before":
        tl.store(count + pid, 1)
    last = tl.minimum(K, (pid + 1) * BK) if KIND == "uneven" else K
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, last, BK):
        x = tl.load(left, mask=along[None, :] < K - k, other=0.0)
        sums = tl.dot(x, tl.load(right, mask=along[:, None] < K - k, other=0.0), sums)
        left += BK
        right += BK * BN
    if KIND == "assertion":
        tl.device_assert(pid < 100)
    if KIND == "print":
        tl.device_print("pid", pid)
    if KIND == "asked":
        pid += tl.atomic_add(count + pid, 1)
    if KIND == "assembly":
        pid += tl.inline_asm_elementwise("mov.u32 $0, %ctaid.y;", "=r", [], tl.int32, True, 1)
    places = c + (pid * BM + tl.arange(0, BM))[:, None] * BN + columns[None, :]
    if KIND == "transposed":  # goes through shared memory
        places = c + (pid * BM + tl.arange(0, BM))[:, None] + columns[None, :] * BN
    if KIND == "added":
        tl.atomic_add(places, sums.to(c.dtype.element_ty))
    else:
        tl.store(places, sums.to(c.dtype.element_ty))


@triton.jit
def attention(q, k, v, out, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Its products alone, made new in each round, fill a multiprocessor."""
    head = tl.program_id(1).to(tl.int64) * T * D
    rows, columns, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + d[None, :])
    most, total, acc = tl.full((BM,), -1.0e30, tl.float32), tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    keys, values = k + head + columns[None, :] * D + d[:, None], v + head + columns[:, None] * D + d[None, :]
    for _ in range(0, T, BN):
        scores = tl.dot(queries, tl.load(keys))
        higher = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(most - higher)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(values), acc * shrink[:, None])
        most = higher
        keys += BN * D
        values += BN * D
    tl.store(out + head + rows[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def shares(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Equal shares of all steps of all tiles, in rounds whose number is not known before. Parts of tiles are added."""
    steps, across = tl.cdiv(K, BK), tl.cdiv(N, BN)
    everything = tl.cdiv(M, BM) * across * steps
    share = tl.cdiv(everything, PROGRAMS)
    now = tl.program_id(0) * share
    end = min(now + share, everything)
    while now < end:
        tile = now // steps
        stop = min((tile + 1) * steps, end)
        rows, columns = tile // across * BM + tl.arange(0, BM), tile % across * BN + tl.arange(0, BN)
        along = now % steps * BK + tl.arange(0, BK)
        left = a + (rows % M)[:, None] * K + along[None, :]
        right = b + along[:, None] * N + (columns % N)[None, :]
        sums = tl.zeros((BM, BN), tl.float32)
        for _ in range(now, stop):
            sums = tl.dot(tl.load(left), tl.load(right), sums)
            left += BK
            right += BK * N
        places = c + rows[:, None] * N + columns[None, :]
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        if stop - now == steps:
            tl.store(places, sums, mask=inside)
        else:
            tl.atomic_add(places, sums, mask=inside)
        now = stop


@triton.jit
def persistent(
    a,
    b,
    c,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    FLATTEN: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    """A loop over tiles that the kernel itself has."""
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, PROGRAMS, flatten=FLATTEN):
        rows, columns = tile // across * BM + tl.arange(0, BM), tile % across * BN + tl.arange(0, BN)
        along = tl.arange(0, BK)
        left = a + (rows % M)[:, None] * K + along[None, :]
        right = b + along[:, None] * N + (columns % N)[None, :]
        sums = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = tl.load(left, mask=along[None, :] < K - k, other=0.0)
            sums = tl.dot(x, tl.load(right, mask=along[:, None] < K - k, other=0.0), sums)
            left += BK
            right += BK * N
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(c + rows[:, None] * N + columns[None, :], sums.to(c.dtype.element_ty), mask=inside)


@triton.jit
def one_described(described, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One matrix by a descriptor, the other one by pointers that may wrap around: then one is copied, one is loaded."""
    row, column = tl.program_id(0), tl.program_id(1)
    rows, columns, along = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    right = b + along[:, None] * N + (columns % N)[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        y = tl.load(right, mask=along[:, None] < K - k, other=0.0)
        sums = tl.dot(described.load([row * BM, k]), y, sums)
        right += BK * N
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], sums.to(c.dtype.element_ty), mask=mask)


@triton.jit
def numbered_in_steps(a, b, c, N, K, STEPS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Which block a program has is computed in steps, each of which uses the one before twice. BK divides K."""
    block = tl.program_id(0)
    for _ in tl.static_range(STEPS):
        block = (block ^ (block >> 1)) & 1023
    rows, columns, along = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + along)[None, :])
        sums = tl.dot(x, tl.load(b + (k + along)[:, None] * N + columns[None, :]), sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums.to(c.dtype.element_ty))
