"""Stores to large buffers bypass the cache: every element still arrives, whatever the alignment, type and mask."""

import numpy as np
import pytest
import triton
import triton.language as tl

# Above the size from which stores stream (32 MiB), in bytes.
LARGE = 40 << 20


@triton.jit
def add_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, (x + 1).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def add_one_twice(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) + 1)
    tl.store(out_ptr + offs, tl.load(out_ptr + offs) + 1)  # reads what has just been streamed


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16", "float64", "uint8"])
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_every_element_arrives(dtype, shift):
    size = LARGE // np.dtype(dtype).itemsize
    out = np.full(size, 7, dtype)
    x = (np.arange(100_003) % 100).astype(dtype)
    n = x.size
    add_one[(triton.cdiv(n, 1024),)](x, out[shift:], n, BLOCK=1024)
    np.testing.assert_array_equal(out[shift : shift + n], x + np.dtype(dtype).type(1))
    assert (out[:shift] == 7).all() and (out[shift + n :] == 7).all()


@pytest.mark.parametrize("block", [256, 2048])
def test_a_program_reads_what_it_streamed(block):
    n = LARGE // 4 // block * block
    x = np.arange(n, dtype=np.float32) % 1000
    out = np.zeros_like(x)
    add_one_twice[(n // block,)](x, out, n, BLOCK=block)
    np.testing.assert_array_equal(out, x + 2)


def test_in_place():
    x = np.arange(LARGE // 4, dtype=np.int32)
    add_one[(triton.cdiv(x.size, 4096),)](x, x, x.size, BLOCK=4096)
    np.testing.assert_array_equal(x, np.arange(x.size) + 1)
