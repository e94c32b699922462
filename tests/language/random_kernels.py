"""Kernels over tl.rand and its relatives; test_random.py launches them."""

import triton
import triton.language as tl


@triton.jit
def numbers(rand_ptr, randn_ptr, randint_ptr, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(rand_ptr + i, tl.rand(seed, i))
    tl.store(randn_ptr + i, tl.randn(seed, i))
    tl.store(randint_ptr + i, tl.randint(seed, i))


@triton.jit
def four_words(out_ptr, seed, offset, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, offset + i, ROUNDS)
    tl.store(out_ptr + 0 * BLOCK + i, a)
    tl.store(out_ptr + 1 * BLOCK + i, b)
    tl.store(out_ptr + 2 * BLOCK + i, c)
    tl.store(out_ptr + 3 * BLOCK + i, d)


@triton.jit
def uniform(words_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.uint_to_uniform_float(tl.load(words_ptr + i)))


@triton.jit
def four_of_each(rand_ptr, randn_ptr, seed, offset, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.rand4x(seed, offset + i)
    e, f, g, h = tl.randn4x(seed, offset + i)
    tl.store(rand_ptr + 0 * BLOCK + i, a)
    tl.store(rand_ptr + 1 * BLOCK + i, b)
    tl.store(rand_ptr + 2 * BLOCK + i, c)
    tl.store(rand_ptr + 3 * BLOCK + i, d)
    tl.store(randn_ptr + 0 * BLOCK + i, e)
    tl.store(randn_ptr + 1 * BLOCK + i, f)
    tl.store(randn_ptr + 2 * BLOCK + i, g)
    tl.store(randn_ptr + 3 * BLOCK + i, h)


@triton.jit
def wide_words(out_ptr, seed, BLOCK: tl.constexpr):
    """Philox on 64-bit words."""
    i = tl.arange(0, BLOCK).to(tl.uint64)
    zero = i * 0
    a, b, c, d = tl.philox(seed, i, zero + 7, zero, zero + 3)
    tl.store(out_ptr + 0 * BLOCK + tl.arange(0, BLOCK), a)
    tl.store(out_ptr + 1 * BLOCK + tl.arange(0, BLOCK), b)
    tl.store(out_ptr + 2 * BLOCK + tl.arange(0, BLOCK), c)
    tl.store(out_ptr + 3 * BLOCK + tl.arange(0, BLOCK), d)
