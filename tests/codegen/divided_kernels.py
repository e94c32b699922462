"""Kernels of which two CTAs may run a program together: products, what is computed from them, what stands beside.

Here:      the kernels. Not here: what is expected of them (test_divided_programs.py).
"""

from __future__ import annotations

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def multiply(
    a, b, c, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HINTS: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Pointers that move on, masks everywhere; with HINTS rows that wrap and are promised to follow each other."""
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    rows, columns, along = pid // across * BM + tl.arange(0, BM), pid % across * BN + tl.arange(0, BN), tl.arange(0, BK)
    read = rows
    if HINTS:
        read = tl.max_contiguous(tl.multiple_of(rows % M, BM), BM)
    left, right = a + read[:, None] * sam + along[None, :] * sak, b + along[:, None] * sbk + columns[None, :] * sbn
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(left, mask=(read[:, None] < M) & (along[None, :] < K - k), other=0.0)
        y = tl.load(right, mask=(along[:, None] < K - k) & (columns[None, :] < N), other=0.0)
        sums = tl.dot(x, y, sums, input_precision=PRECISION)
        left += BK * sak
        right += BK * sbk
    tl.store(c + rows[:, None] * N + columns[None, :], sums, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def by_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ADDS: tl.constexpr):
    """b is N by K. With ADDS the blocks are added to what is there."""
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([row, k]), b.load([column, k]).T, sums)
    if ADDS:
        c.atomic_add([row, column], sums)
    else:
        c.store([row, column], sums)


@triton.jit
def made_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    of_b = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    of_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(of_a.load([row, k]), of_b.load([k, column]), sums)
    of_c.store([row, column], sums)


@triton.jit
def attention(q, k, v, o, most, T, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    """Rows of scores are reduced, exponentials multiplied again; each row's maximum is stored, too."""
    rows, wide = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(q + rows[:, None] * D + wide[None, :])
    total, sums = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    largest = tl.full((BM,), float("-inf"), tl.float32)
    last = (tl.program_id(0) + 1) * BM if CAUSAL else T
    for first in range(0, last, BN):
        keys = first + tl.arange(0, BN)
        y = tl.load(k + keys[:, None] * D + wide[None, :])
        s = tl.dot(x, y.T)
        if CAUSAL:
            s = tl.where(rows[:, None] >= keys[None, :], s, float("-inf"))
        now = tl.maximum(largest, tl.max(s, 1))
        p, shrunk = tl.exp2(s - now[:, None]), tl.exp2(largest - now)
        total = total * shrunk + tl.sum(p, 1)
        sums = tl.dot(p.to(v.dtype.element_ty), tl.load(v + keys[:, None] * D + wide[None, :]), sums * shrunk[:, None])
        largest = now
    tl.store(o + rows[:, None] * D + wide[None, :], sums / total[:, None])
    tl.store(most + rows, largest)


@triton.jit
def beside(a, b, c, rest, count, N: tl.constexpr, KIND: tl.constexpr):
    """A product of 256 rows, and more that depends on it or does not."""
    rows, columns = tl.arange(0, 256), tl.arange(0, N)
    x = tl.load(a + rows[:, None] * N + columns[None, :])
    y = tl.load(b + columns[:, None] * N + columns[None, :])
    pid = tl.program_id(0)
    if KIND == "scanned":  # no half of which a half of the operand gives
        x = tl.cumsum(x.to(tl.float32), 0).to(x.dtype)
    if KIND == "written":
        tl.store(a + columns, tl.load(a + columns))
    if KIND == "volatile":
        x += tl.load(count, volatile=True).to(x.dtype)
    if KIND == "barrier":
        tl.debug_barrier()
    if KIND == "assembly":
        x += tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], tl.int32, True, 1).to(x.dtype) * 0
    if KIND == "counted":
        x += tl.atomic_add(count, 1).to(x.dtype)
    if KIND == "returns":
        if pid == 7:
            return
    z = tl.dot(x, y)
    if KIND == "repeated":
        i = 0
        while i < tl.program_id(0) + 2:
            z = tl.dot(x, y, z)
            i += 1
    if KIND == "either":
        if pid == 0:
            z = z * 2
        else:
            z = tl.dot(x, y, z)
    if KIND == "columns":
        tl.store(rest + columns, tl.sum(z, 0))
    if KIND == "printed":
        tl.device_print("z", z)
    if KIND == "asserted":
        tl.device_assert(z < 1e9)
    if KIND == "shaped":  # rows in two dimensions, turned and back
        z = tl.trans(tl.reshape(z, (16, 16, N)), (2, 0, 1))
        z = tl.reshape(tl.trans(z, (1, 2, 0)), (256, N)) + 1
    if KIND == "split":
        even, odd = tl.split(tl.reshape(z, (256, N // 2, 2)))
        z = tl.reshape(tl.join(odd, even), (256, N))
    if KIND == "gathered":
        z = tl.gather(z, tl.broadcast_to((N - 1 - columns)[None, :], (256, N)), 1)
    if KIND == "summed":
        z = tl.cumsum(z, 1)
    if KIND == "turned":
        tl.store(c + columns[:, None] * 256 + rows[None, :], tl.trans(z))
    elif KIND == "added":
        tl.atomic_add(c + rows[:, None] * N + columns[None, :], z)
    else:
        tl.store(c + rows[:, None] * N + columns[None, :], z)
    if KIND == "alone":  # does not depend on the product
        tl.store(rest + columns, tl.load(b + columns) + 1)
        tl.store(count + pid, tl.num_programs(0) * 10 + pid)
        tl.atomic_add(count + 4, 1)
    if KIND == "rows":
        tl.store(rest + rows, tl.sum(z, 1))
    if KIND == "overwritten":  # by the first CTA, in rows of the second one
        tl.store(c + 200 * N, 5.0)
        tl.atomic_add(c + 201 * N, 5.0)
    if KIND == "raised":  # what does not depend on the product is for the first CTA
        tl.atomic_add(rest + rows, tl.sum(z, 1))
        tl.atomic_max(rest + rows, rows.to(tl.float32))
    if KIND == "released":
        tl.atomic_xchg(count, 1, sem="release")


@triton.jit
def read_twice(a, b, c, d, K, BK: tl.constexpr):
    """a's rows are needed by halves, and as a whole for sums down its columns."""
    rows, columns, along = tl.arange(0, 256), tl.arange(0, 64), tl.arange(0, BK)
    z, sums = tl.zeros((256, 64), tl.float32), tl.zeros((BK,), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + k + along[None, :])
        y = tl.load(b + (k + along)[:, None] * 64 + columns[None, :])
        z = tl.dot(x, y, z)
        sums += tl.sum(tl.dot(tl.trans(x), x), 0)
    tl.store(c + rows[:, None] * 64 + columns[None, :], z)
    tl.store(d + along, sums)
