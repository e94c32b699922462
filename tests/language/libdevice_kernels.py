"""Kernels that apply one function to masked 1-D blocks; test_libdevice.py launches them."""

import triton
import triton.language as tl


@triton.jit
def one(a_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, OP(tl.load(a_ptr + i, mask=i < n)), mask=i < n)


@triton.jit
def two(a_ptr, b_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(out_ptr + i, OP(tl.load(a_ptr + i, mask=m), tl.load(b_ptr + i, mask=m)), mask=m)


@triton.jit
def three(a_ptr, b_ptr, c_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a, b, c = tl.load(a_ptr + i, mask=m), tl.load(b_ptr + i, mask=m), tl.load(c_ptr + i, mask=m)
    tl.store(out_ptr + i, OP(a, b, c), mask=m)


@triton.jit
def four(a_ptr, b_ptr, c_ptr, d_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a, b, c = tl.load(a_ptr + i, mask=m), tl.load(b_ptr + i, mask=m), tl.load(c_ptr + i, mask=m)
    tl.store(out_ptr + i, OP(a, b, c, tl.load(d_ptr + i, mask=m)), mask=m)


KERNELS = {1: one, 2: two, 3: three, 4: four}


@triton.jit
def chain(x_ptr, out_ptr, OP: tl.constexpr, BLOCK: tl.constexpr):
    """A function between operations, with scalars and blocks."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    s = OP(tl.load(x_ptr))
    tl.store(out_ptr + i, OP(x * 0.5) + s)
