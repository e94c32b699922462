"""Products of matrices whose tiles are loaded through tiles of pointers, in the forms in which people write them.

Here:      the kernels. Not here: what is expected of them (test_copied_loads.py).
"""

from __future__ import annotations

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def grouped(
    a,
    b,
    c,
    M,
    N,
    K,
    sam,
    sak,
    sbk,
    sbn,
    scm,
    scn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    G: tl.constexpr,
):
    """Rows and columns modulo the extents, programs in groups, a tail along K."""
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    first = pid // (G * across) * G
    size = min(tl.cdiv(M, BM) - first, G)
    row, column = first + pid % (G * across) % size, pid % (G * across) // size
    rows = (row * BM + tl.arange(0, BM)) % M
    columns = (column * BN + tl.arange(0, BN)) % N
    along = tl.arange(0, BK)
    left = a + (rows[:, None] * sam + along[None, :] * sak)
    right = b + (along[:, None] * sbk + columns[None, :] * sbn)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(left, mask=along[None, :] < K - k * BK, other=0.0)
        y = tl.load(right, mask=along[:, None] < K - k * BK, other=0.0)
        sums = tl.dot(x, y, sums)
        left += BK * sak
        right += BK * sbk
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    places = c + scm * rows[:, None] + scn * columns[None, :]
    tl.store(places, sums.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def masked(a, b, c, sizes, strides, BLOCK: tl.constexpr):
    """Masks on rows, columns and K; addresses from the loop's own number."""
    M, N, K = sizes
    sam, sak, sbk, sbn, scm, scn = strides
    BM: tl.constexpr = BLOCK[0]
    BN: tl.constexpr = BLOCK[1]
    BK: tl.constexpr = BLOCK[2]
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        along = k + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * sam + along[None, :] * sak, (rows[:, None] < M) & (along[None, :] < K), 0.0)
        y = tl.load(
            b + along[:, None] * sbk + columns[None, :] * sbn, (along[:, None] < K) & (N > columns[None, :]), 0.0
        )
        sums += tl.dot(x, y)
    tl.store(
        c + rows[:, None] * scm + columns[None, :] * scn,
        sums.to(c.dtype.element_ty),
        (rows[:, None] < M) & (columns[None, :] < N),
    )


@triton.jit
def blocks(a, b, c, sizes, strides, BLOCK: tl.constexpr):
    """Block pointers that the loop moves."""
    M, N, K = sizes
    sam, sak, sbk, sbn, scm, scn = strides
    BM: tl.constexpr = BLOCK[0]
    BN: tl.constexpr = BLOCK[1]
    BK: tl.constexpr = BLOCK[2]
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    left = tl.make_block_ptr(a, (M, K), (sam, sak), (row, 0), (BM, BK), (1, 0))
    right = tl.make_block_ptr(b, (K, N), (sbk, sbn), (0, column), (BK, BN), (1, 0))
    sums = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(left, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(right, boundary_check=(0, 1), padding_option="zero")
        sums = tl.dot(x, y, sums)
        left = tl.advance(left, (0, BK))
        right = tl.advance(right, (BK, 0))
    result = tl.make_block_ptr(c, (M, N), (scm, scn), (row, column), (BM, BN), (1, 0))
    tl.store(result, sums.to(c.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def wide(a, b, c, sizes, strides, BLOCK: tl.constexpr):
    """Offsets of 64 bits, no mask along rows and columns, K counted down by what is left."""
    K = sizes[2]
    sam, sak, sbk, sbn, scm, scn = strides
    BM: tl.constexpr = BLOCK[0]
    BN: tl.constexpr = BLOCK[1]
    BK: tl.constexpr = BLOCK[2]
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    along = tl.arange(0, BK)
    left, right = a + rows[:, None] * sam + along[None, :] * sak, b + along[:, None] * sbk + columns[None, :] * sbn
    sums = tl.zeros((BM, BN), tl.float32)
    rest = K
    for _ in range(tl.cdiv(K, BK)):
        sums = tl.dot(
            tl.load(left, mask=along[None, :] < rest, other=0.0),
            tl.load(right, mask=rest > along[:, None], other=0.0),
            sums,
        )
        left += BK * sak
        right += BK * sbk
        rest -= BK
    tl.store(c + rows[:, None] * scm + columns[None, :] * scn, sums.to(c.dtype.element_ty))


@triton.jit
def batched(a, b, c, M, N, K, sab, sam, sbb, sbk, scb, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A third dimension by the program's number."""
    batch = tl.program_id(2)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    along = tl.arange(0, BK)
    left = a + batch.to(tl.int64) * sab + rows[:, None] * sam + along[None, :]
    right = b + batch * sbb + along[:, None] * sbk + columns[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(left, mask=(rows[:, None] < M) & (along[None, :] < K - k), other=0.0)
        y = tl.load(right, mask=(along[:, None] < K - k) & (columns[None, :] < N), other=0.0)
        sums = tl.dot(x, y, sums)
        left += BK
        right += BK * sbk
    places = c + batch * scb + rows[:, None] * scm + columns[None, :]
    tl.store(places, sums.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def fixed(a, b, c, M, BM: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BK: tl.constexpr):
    """All strides and bounds but one are numbers of the source."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    along, columns = tl.arange(0, BK), tl.arange(0, N)
    sums = tl.zeros((BM, N), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + along)[None, :], mask=rows[:, None] < M, other=0.0)
        y = tl.load(b + (k + along)[:, None] * N + columns[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums.to(c.dtype.element_ty), mask=rows[:, None] < M)


@triton.jit
def product_of(a, b, c, M, N, K, sam, sbk, scm, KIND: tl.constexpr, B: tl.constexpr):
    """Loads that are no copies of blocks, each for its reason; "none", "added" and "stored" have no reason."""
    rows = tl.program_id(0) * B + tl.arange(0, B)
    columns, along = tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        y = tl.load(b + (k + along)[:, None] * sbk + columns[None, :], mask=(k + along)[:, None] < K, other=0.0)
        at = a + rows[:, None] * sam + (k + along)[None, :]
        if KIND == "other":
            x = tl.load(at, mask=(k + along)[None, :] < K, other=1.0)
        elif KIND == "volatile":
            x = tl.load(at, volatile=True)
        elif KIND == "written":
            x = tl.load(at, mask=(k + along)[None, :] < K, other=0.0)
            tl.store(a + rows[:, None] * sam + (k + along)[None, :], x, mask=(k + along)[None, :] < K)
        elif KIND == "odd":
            x = tl.load(at, mask=((k + along) % 2 == 0)[None, :], other=0.0)
        elif KIND == "table":
            x = tl.load(a + tl.load(c + rows).to(tl.int32)[:, None] * sam + (k + along)[None, :])
        elif KIND == "diagonal":
            x = tl.load(a + rows[:, None] * sam + (k + along)[None, :] * (sam + 1))
        elif KIND == "either":
            x = tl.load(at, mask=(rows[:, None] < M) | ((k + along)[None, :] < K), other=0.0)
        else:
            x = tl.load(at, mask=(k + along)[None, :] < K, other=0.0)
        sums = tl.dot(x, y, sums)
        if KIND == "stored":
            tl.store(c + rows[:, None] * scm + columns[None, :], sums.to(c.dtype.element_ty))
    if KIND == "barrier":
        tl.debug_barrier()
    if KIND == "added":
        tl.atomic_add(c + rows[:, None] * scm + columns[None, :], sums.to(c.dtype.element_ty))
    elif KIND == "asked":
        sums += tl.atomic_add(c + rows[:, None] * scm + columns[None, :], 1.0)
        tl.store(c + rows[:, None] * scm + columns[None, :], sums)
    elif KIND == "waited":
        tl.store(c + rows[:, None] * scm + columns[None, :], sums)
        while tl.atomic_cas(c, 1.0, 2.0) == 1.0:
            pass
    else:
        tl.store(c + rows[:, None] * scm + columns[None, :], sums.to(c.dtype.element_ty))


@triton.jit
def backwards(a, b, c, K, WIDTH: tl.constexpr, B: tl.constexpr):
    """Blocks of the right half's columns, from the last row on: a number of the source is rows and columns at once."""
    rows, columns, along = tl.arange(0, B), WIDTH // 2 + tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for i in range(tl.cdiv(K, B) - 1, -1, -1):
        x = tl.load(a + rows[:, None] * K + (i * B + along)[None, :])
        sums = tl.dot(x, tl.load(b + (i * B + along)[:, None] * WIDTH + columns[None, :]), sums)
    tl.store(c + rows[:, None] * B + tl.arange(0, B)[None, :], sums)


@triton.jit
def beside(a, b, d, c, K, B: tl.constexpr):
    """A tile that no product reads as it is: what comes of it is a product's operand, and is stored."""
    rows, columns, along = tl.arange(0, B), tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        x = tl.load(a + rows[:, None] * K + (k + along)[None, :])
        y = tl.load(b + (k + along)[:, None] * B + columns[None, :])
        z = tl.dot(x, y) + tl.load(d + (k + rows)[:, None] * B + columns[None, :]).to(tl.float32)
        tl.store(c + (k + rows)[:, None] * B + columns[None, :], z)
        sums = tl.dot(z.to(a.dtype.element_ty), y, sums)
    tl.store(c + (K + rows)[:, None] * B + columns[None, :], sums)


@triton.jit
def scaled(a, b, d, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A third tile becomes an operand behind the loads."""
    rows, columns, along = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        y = tl.load(b + (k + along)[:, None] * BN + columns[None, :])
        sums = tl.dot(tl.load(a + rows[:, None] * K + (k + along)[None, :]), y, sums)
        z = tl.load(d + rows[:, None] * K + (k + along)[None, :])
        sums = tl.dot((z.to(tl.float32) * 3.0).to(z.dtype), y, sums)
    tl.store(c + rows[:, None] * BN + columns[None, :], sums)


@triton.jit
def persistent(a, b, c, sizes, PROGRAMS: tl.constexpr, KEPT: tl.constexpr, BLOCK: tl.constexpr):
    """Programs that make several blocks; rows beyond the last are kept inside, not masked."""
    M, N, K = sizes
    across = tl.cdiv(N, BLOCK)
    for block in range(tl.program_id(0), tl.cdiv(M, BLOCK) * across, PROGRAMS):
        rows = block // across * BLOCK + tl.arange(0, BLOCK)
        columns = block % across * BLOCK + tl.arange(0, BLOCK)
        if KEPT == "where":
            down, right = tl.where(rows < M, rows, 0), tl.where(columns < N, columns, 0)
        else:
            down, right = tl.minimum(rows, M - 1), tl.minimum(N - 1, columns)
        sums = tl.zeros((BLOCK, BLOCK), tl.float32)
        for k in range(tl.cdiv(K, BLOCK)):
            along = k * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(a + down[:, None] * K + along[None, :], mask=along[None, :] < K, other=0.0)
            y = tl.load(b + along[:, None] * N + right[None, :], mask=along[:, None] < K, other=0.0)
            sums = tl.dot(x, y, sums)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(c + rows[:, None] * N + columns[None, :], sums.to(c.dtype.element_ty), mask=inside)


@triton.jit
def halves(a, b, c, K, middle, stride, ON: tl.constexpr, B: tl.constexpr):
    """Two loops over K: the second one goes on where the first one ended, and its products count twice and once."""
    rows, along = tl.arange(0, B), tl.arange(0, B)
    left, right = a + rows[:, None] * K + along[None, :], b + along[:, None] * B + rows[None, :]
    at = 0
    sums = tl.zeros((B, B), tl.float32)
    for _ in range(0, middle, ON):
        sums = tl.dot(tl.load(left), tl.load(right), sums)
        left += B
        right += B * stride
        at += 1
    for _ in range(middle, K, B):
        inside = along + at * B < K
        x = tl.load(left, mask=inside[None, :], other=0.0)
        sums = tl.dot(x + x, tl.load(right, mask=inside[:, None], other=0.0), sums)
        sums = tl.dot(x, tl.load(right, mask=inside[:, None], other=0.0), sums)
        left += B
        right += B * stride
        at += 1
    tl.store(c + rows[:, None] * B + along[None, :], sums)


@triton.jit
def attention(q, k, v, out, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Blocks below the diagonal without a mask, then those on it."""
    head = tl.program_id(1).to(tl.int64) * T * D
    first = tl.program_id(0) * BM
    rows, columns, d = first + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + d[None, :])
    total, acc = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    keys, values = k + head + columns[None, :] * D + d[:, None], v + head + columns[:, None] * D + d[None, :]
    for _ in range(0, first, BN):
        p = tl.exp2(tl.dot(queries, tl.load(keys)))
        total += tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(values), acc)
        keys += BN * D
        values += BN * D
    for start in range(first, first + BM, BN):
        p = tl.exp2(tl.where(rows[:, None] >= start + columns[None, :], tl.dot(queries, tl.load(keys)), -1.0e30))
        total += tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(values), acc)
        keys += BN * D
        values += BN * D
    tl.store(out + head + rows[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def any_form(
    a, b, c, sizes, strides, start, ROWS: tl.constexpr, MOVED: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr
):
    """A product in one of many forms: how rows and columns stay inside, what moves along K, how wide offsets are."""
    M, N, K = sizes
    sab, sam, sak, sbb, sbk, sbn = strides
    BM: tl.constexpr = BLOCK[0]
    BN: tl.constexpr = BLOCK[1]
    BK: tl.constexpr = BLOCK[2]
    batch = tl.program_id(2)
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    down, right, along = rows, columns, tl.arange(0, BK)
    if ROWS == "modulo":
        down, right = rows % M, columns % N
    elif ROWS == "where":
        down, right = tl.where(M > rows, rows, 0), tl.where(columns <= N - 1, columns, 0)
    elif ROWS == "minimum":
        down, right = tl.minimum(rows, M - 1), tl.minimum(N - 1, columns)
    if WIDE:
        down, right, along, batch = down.to(tl.int64), right.to(tl.int64), along.to(tl.int64), batch.to(tl.int64)
    left = a + batch * sab + down[:, None] * sam + (start + along)[None, :] * sak
    below = b + batch * sbb + (along + start)[:, None] * sbk + right[None, :] * sbn
    sums = tl.zeros((BM, BN), tl.float32)
    at = start
    for k in range(start, K, BK):
        x_mask, y_mask = along[None, :] < K - k, K - at > along[:, None]
        if ROWS == "mask":
            x_mask, y_mask = x_mask & (rows[:, None] < M), (columns[None, :] < N) & y_mask
        if MOVED == "pointers":
            x, y = tl.load(left, x_mask, 0.0), tl.load(below, mask=y_mask, other=0.0)
            left += BK * sak
            below += BK * sbk
        elif MOVED == "number":
            x = tl.load(left + (k - start) * sak, x_mask, 0.0)
            y = tl.load(below + (k - start) * sbk, y_mask, 0.0)
        else:
            x = tl.load(left + (at - start) * sak, mask=x_mask, other=0.0)
            y = tl.load(below + (at - start) * sbk, mask=y_mask, other=0.0)
        at += BK
        sums = tl.dot(x, y, sums)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + (tl.program_id(2) * M + rows[:, None]) * N + columns[None, :], sums, mask=inside)


@triton.jit
def groups_of_rows(table, a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows from table[g] to table[g + 1] times matrix g of b: the mask's bound and the first row come from memory."""
    group = tl.program_id(0)
    first = tl.load(table + group)
    height = tl.load(table + group + 1) - first
    columns, along = tl.arange(0, BN), tl.arange(0, BK)
    for tile in range(0, height, BM):
        rows = tile + tl.arange(0, BM)
        left = a + (first + rows)[:, None] * K + along[None, :]
        right = b + group.to(tl.int64) * K * N + along[:, None] * N + columns[None, :]
        sums = tl.zeros((BM, BN), tl.float32)
        for _ in range(0, K, BK):
            sums = tl.dot(tl.load(left, mask=(rows < height)[:, None], other=0.0), tl.load(right), sums)
            left += BK
            right += BK * N
        tl.store(c + (first + rows)[:, None] * N + columns[None, :], sums, mask=(rows < height)[:, None])
