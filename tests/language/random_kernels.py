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
