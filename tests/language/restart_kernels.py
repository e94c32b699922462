"""Kernels that compute indices after they have written memory; test_restart.py launches them."""

import triton
import triton.language as tl


@triton.jit
def persistent_matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, tl.num_programs(0)):
        row, column = tile // tiles_n * BM, tile % tiles_n * BN
        rows = (row + tl.arange(0, BM)) % M
        columns = (column + tl.arange(0, BN)) % N
        inner = tl.arange(0, BK)
        a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]
        b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]
        sums = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BK, other=0.0)
            b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BK, other=0.0)
            sums = tl.dot(a, b, sums, input_precision="ieee")
            a_ptrs += BK
            b_ptrs += BK * N
        to_row, to_column = row + tl.arange(0, BM), column + tl.arange(0, BN)
        inside = (to_row[:, None] < M) & (to_column[None, :] < N)
        tl.store(c_ptr + to_row[:, None] * N + to_column[None, :], sums, mask=inside)


@triton.jit
def rotate_and_add(x_ptr, n, rounds, BLOCK: tl.constexpr):
    """In each round x[i] += x[(i + round) % n], block by block, in place."""
    i = tl.arange(0, BLOCK)
    for r in range(rounds):
        for start in range(0, n, BLOCK):
            at = start + i
            other = tl.load(x_ptr + (at + r) % n)
            x = tl.load(x_ptr + at, mask=at < n)
            tl.store(x_ptr + at, x + other, mask=at < n)


@triton.jit
def rows_and_columns(out_ptr, width, n, BLOCK: tl.constexpr):
    """out[i] = 1000 * (i // width) + i % width, one block a round."""
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, at // width * 1000 + at % width, mask=at < n)


@triton.jit
def hashes(out_ptr, wide_ptr, negative_ptr, seed, n, rounds, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for r in range(rounds):
        h = (at + seed) * 40503 + r * 2654435
        tl.store(out_ptr + r * n + at, h ^ (h >> 15), mask=at < n)
        tl.store(wide_ptr + r * n + at, h.to(tl.int64) * 3, mask=at < n)
        tl.store(negative_ptr + r * n + at, tl.where(h < 0, at, -1), mask=at < n)
        seed += 40503


@triton.jit
def select_by_hash(out_ptr, seed, rounds, BLOCK: tl.constexpr):
    """The mask of the store is a comparison of hashes."""
    at = tl.arange(0, BLOCK)
    for r in range(rounds):
        h = at * 40503 + seed
        tl.store(out_ptr + at, r + 1, mask=h < 0)
        seed += 123456789


@triton.jit
def last_blocks(x_ptr, out_ptr, n, start, BLOCK: tl.constexpr):
    """Writes, then reads and writes a block of which only the first n lanes are used."""
    tl.store(out_ptr, -1.0)
    at = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=tl.arange(0, BLOCK) < n, other=5.0)
    tl.store(out_ptr + 1 + tl.arange(0, BLOCK), x)
    tl.store(x_ptr + at, x + 1, mask=tl.arange(0, BLOCK) < n)


@triton.jit
def narrow_masks(out_ptr, start, limit, FACTOR: tl.constexpr, T: tl.constexpr, BLOCK: tl.constexpr):
    """Masks of comparisons of 8 and 16 bits, which wrap around many times in a block, after a store."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, -1)
    at = i.to(T) * FACTOR + start.to(T)
    tl.store(out_ptr + i, i, mask=at < limit.to(T))
    tl.store(out_ptr + i, -2, mask=at == limit.to(T))


@triton.jit
def wrapping_mask(out_ptr, start, limit, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, -1)
    tl.store(out_ptr + i, i, mask=i * FACTOR + start >= limit)
