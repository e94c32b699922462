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
    if KIND == "assembly":
        pid += tl.inline_asm_elementwise("mov.u32 $0, %ctaid.y;", "=r", [], tl.int32, True, 1)
    places = c + (pid * BM + tl.arange(0, BM))[:, None] * BN + columns[None, :]
    if KIND == "transposed":  # goes through shared memory
        places = c + (pid * BM + tl.arange(0, BM))[:, None] + columns[None, :] * BN
    tl.store(places, sums.to(c.dtype.element_ty))


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
