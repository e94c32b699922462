"""Kernels that the tests of launches share."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def add(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(o_ptr + offs, x + y, mask=mask)


@triton.jit
def copy(x_ptr, o_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.store(o_ptr + offs, tl.load(x_ptr + offs))


@triton.jit
def fill(o_ptr, value, N: tl.constexpr = 8):
    tl.store(o_ptr + tl.arange(0, N), value)


@triton.jit
def store_ids(o_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny = tl.num_programs(0), tl.num_programs(1)
    tl.store(o_ptr + x + nx * (y + ny * z), x + 100 * y + 10000 * z)


@triton.jit
def count_down(o_ptr, n):
    i = n
    total = 0
    while i > 0:
        total += i
        i -= 1
    tl.store(o_ptr, total)


@triton.jit
def spin(o_ptr, n):
    total = tl.zeros([1024], tl.float32)
    for i in range(n):
        total += tl.sin(total + i)
    tl.store(o_ptr + tl.arange(0, 1024), total)


@triton.jit
def numbered_print(o_ptr):
    tl.device_print("program", tl.program_id(0))
