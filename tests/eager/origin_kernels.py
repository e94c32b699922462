"""Kernels whose access leaves the memory of `x_ptr` and lands in the neighbour `y_ptr`, by every way a pointer can go.

Here:      one kernel for each way, registered by `leaves` (an error in both modes) or `unknown` (no mode can tell whose
           memory was meant: the access is allowed).
Not here:  how they are launched and compared (test_pointer_origins.py).
Invariant: arguments are (x_ptr, y_ptr, out_ptr, n): 16 floats each, y right behind x, and n = 16.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

LEAVES: dict[str, Any] = {}
UNKNOWN: dict[str, Any] = {}


def leaves(fn: Any) -> Any:
    return LEAVES.setdefault(fn.__name__, fn)


def unknown(fn: Any) -> Any:
    return UNKNOWN.setdefault(fn.__name__, fn)


@leaves
@triton.jit
def scalar_load(x_ptr, y_ptr, out_ptr, n):
    tl.store(out_ptr, tl.load(x_ptr + n))


@leaves
@triton.jit
def scalar_store(x_ptr, y_ptr, out_ptr, n):
    tl.store(x_ptr + n + 3, 1.0)


@leaves
@triton.jit
def before_the_start(x_ptr, y_ptr, out_ptr, n):
    tl.store(y_ptr - 1, 1.0)


@leaves
@triton.jit
def block_load(x_ptr, y_ptr, out_ptr, n):
    offs = tl.arange(0, 16)
    tl.store(out_ptr + offs, tl.load(x_ptr + 4 + offs))


@leaves
@triton.jit
def block_store(x_ptr, y_ptr, out_ptr, n):
    offs = tl.arange(0, 32)
    tl.store(x_ptr + offs, offs.to(tl.float32), mask=offs < n + 2)


@leaves
@triton.jit
def all_lanes_elsewhere(x_ptr, y_ptr, out_ptr, n):
    offs = tl.arange(0, 16)
    tl.store(x_ptr + n + offs, 0.0)


@leaves
@triton.jit
def two_dimensions(x_ptr, y_ptr, out_ptr, n):
    rows, cols = tl.arange(0, 8)[:, None], tl.arange(0, 4)[None, :]
    tl.store(x_ptr + rows * 4 + cols, 1.0)


@leaves
@triton.jit
def broadcast_pointers(x_ptr, y_ptr, out_ptr, n):
    rows = x_ptr + tl.arange(0, 8)[:, None] * 4
    tl.store(tl.broadcast_to(rows, (8, 4)) + tl.arange(0, 4)[None, :], 1.0)


@leaves
@triton.jit
def gathered(x_ptr, y_ptr, out_ptr, n):
    offs = tl.arange(0, 16)
    index = (offs * 7) % 16 + offs // 15
    tl.store(out_ptr + offs, tl.load(x_ptr + index + (offs == 15) * 8))


@leaves
@triton.jit
def reshaped(x_ptr, y_ptr, out_ptr, n):
    pointers = x_ptr + tl.arange(0, 32)
    tl.store(tl.reshape(pointers, (4, 8)), 1.0)


@leaves
@triton.jit
def transposed(x_ptr, y_ptr, out_ptr, n):
    pointers = x_ptr + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(tl.trans(pointers), 1.0)


@leaves
@triton.jit
def chosen_by_mask(x_ptr, y_ptr, out_ptr, n):
    offs = tl.arange(0, 32)
    pointers = tl.where(offs % 3 == 0, x_ptr + offs, x_ptr + offs // 2)
    tl.store(pointers, 1.0)


@leaves
@triton.jit
def chosen_by_scalar(x_ptr, y_ptr, out_ptr, n):
    pointer = tl.where(n > 3, x_ptr + n, x_ptr)
    tl.store(pointer, 1.0)


@leaves
@triton.jit
def branch(x_ptr, y_ptr, out_ptr, n):
    if n > 3:
        pointer = x_ptr + n
    else:
        pointer = x_ptr
    tl.store(pointer, 1.0)


@leaves
@triton.jit
def loop_over_steps(x_ptr, y_ptr, out_ptr, n):
    pointers = x_ptr + tl.arange(0, 8)
    for _ in range(3):
        tl.store(pointers, 1.0)
        pointers += 8


@leaves
@triton.jit
def loop_over_scalars(x_ptr, y_ptr, out_ptr, n):
    pointer = x_ptr
    for _ in range(n + 1):
        tl.store(pointer, 1.0)
        pointer += 1


@leaves
@triton.jit
def while_loop(x_ptr, y_ptr, out_ptr, n):
    pointer, left = x_ptr, n + 1
    while left > 0:
        tl.store(pointer, 1.0)
        pointer += 1
        left -= 1


@leaves
@triton.jit
def unrolled(x_ptr, y_ptr, out_ptr, n):
    pointers = x_ptr + tl.arange(0, 4)
    for _ in tl.static_range(5):
        tl.store(pointers, 1.0)
        pointers += 4


@triton.jit
def row_of(base, row):
    return base + row * 8 + tl.arange(0, 8)


@triton.jit(noinline=True)
def row_of_apart(base, row):
    return base + row * 8 + tl.arange(0, 8)


@triton.jit
def early(base, n):
    if n > 3:
        return base + n
    return base


@leaves
@triton.jit
def function_call(x_ptr, y_ptr, out_ptr, n):
    tl.store(row_of(x_ptr, 2), 1.0)


@leaves
@triton.jit
def function_apart(x_ptr, y_ptr, out_ptr, n):
    tl.store(row_of_apart(x_ptr, 2), 1.0)


@leaves
@triton.jit
def early_return(x_ptr, y_ptr, out_ptr, n):
    tl.store(early(x_ptr, n), 1.0)


@leaves
@triton.jit
def other_element_type(x_ptr, y_ptr, out_ptr, n):
    words = x_ptr.to(tl.pointer_type(tl.int16))
    tl.store(words + 32 + tl.arange(0, 4), 1)


@leaves
@triton.jit
def block_pointer(x_ptr, y_ptr, out_ptr, n):
    block = tl.make_block_ptr(x_ptr, (n,), (1,), (8,), (8,), (0,))
    block = tl.advance(block, (4,))
    tl.store(block, tl.full((8,), 1.0, tl.float32))


@leaves
@triton.jit
def descriptor(x_ptr, y_ptr, out_ptr, n):
    desc = tl.make_tensor_descriptor(x_ptr, [2 * n], [1], [16])
    desc.store([8], tl.full((16,), 1.0, tl.float32))


@leaves
@triton.jit
def atomic(x_ptr, y_ptr, out_ptr, n):
    tl.atomic_add(x_ptr + tl.arange(0, 32), 1.0)


@leaves
@triton.jit
def scalar_atomic(x_ptr, y_ptr, out_ptr, n):
    tl.atomic_xchg(x_ptr + n, 1.0)


@leaves
@triton.jit
def in_a_tuple(x_ptr, y_ptr, out_ptr, n):
    both = (x_ptr, y_ptr)
    tl.store(both[0] + n, 1.0)


@leaves
@triton.jit
def with_hints(x_ptr, y_ptr, out_ptr, n):
    offs = tl.max_contiguous(tl.multiple_of(8 + tl.arange(0, 16), 8), 8)
    pointers = tl.multiple_of(x_ptr + offs, 8)
    tl.store(pointers, 1.0)


@leaves
@triton.jit
def joined(x_ptr, y_ptr, out_ptr, n):
    low = x_ptr + tl.arange(0, 8)
    tl.store(tl.join(low, low + 12), 1.0)


@leaves
@triton.jit
def split(x_ptr, y_ptr, out_ptr, n):
    low = x_ptr + tl.arange(0, 8)
    _, high = tl.split(tl.join(low, low + 12))
    tl.store(high, 1.0)


@leaves
@triton.jit
def one_of_a_block(x_ptr, y_ptr, out_ptr, n):
    pointers = x_ptr + n + tl.arange(0, 1)
    tl.store(tl.reshape(pointers, ()), 1.0)


@unknown
@triton.jit
def through_a_number(x_ptr, y_ptr, out_ptr, n):
    address = x_ptr.to(tl.int64, bitcast=True) + 4 * n
    tl.store(address.to(tl.pointer_type(tl.float32), bitcast=True), 1.0)


@unknown
@triton.jit
def one_of_two(x_ptr, y_ptr, out_ptr, n):
    tl.store(tl.where(n > 3, x_ptr, y_ptr) + n, 1.0)


@unknown
@triton.jit
def lanes_of_two(x_ptr, y_ptr, out_ptr, n):
    offs = tl.arange(0, 16)
    tl.store(tl.where(offs < 8, x_ptr + n - offs, y_ptr + offs), 1.0)


@unknown
@triton.jit
def loaded(x_ptr, y_ptr, out_ptr, n):
    table = out_ptr.to(tl.pointer_type(tl.pointer_type(tl.float32)))
    tl.store(table, x_ptr)
    tl.store(tl.load(table) + n, 1.0)
