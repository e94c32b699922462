"""Mistakes that people make in kernels and in launches, one each.

Here:      the kernels, and CASES: what to call, for each.
Not here:  the whole messages (mistake_messages.txt), reading them (test_mistakes.py).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import torch
import triton
import triton.language as tl

SIZES = [16, 32]
CONFIG = {"block": 16}


@triton.jit
def dot_of_wrong_shapes(o_ptr):
    a = tl.zeros((16, 32), tl.float16)
    b = tl.zeros((16, 32), tl.float16)
    tl.store(o_ptr, tl.sum(tl.dot(a, b)))


@triton.jit
def dot_of_two_types(o_ptr):
    a = tl.zeros((16, 16), tl.float16)
    b = tl.zeros((16, 16), tl.float32)
    tl.store(o_ptr, tl.sum(tl.dot(a, b)))


@triton.jit
def block_of_odd_size(o_ptr, B: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, B), 0)


@triton.jit
def block_size_not_constexpr(o_ptr, B):
    tl.store(o_ptr + tl.arange(0, B), 0)


@triton.jit
def block_size_assigned(o_ptr, B: tl.constexpr):
    half = B // 2
    tl.store(o_ptr + tl.arange(0, half), 0)


@triton.jit
def shape_from_argument(o_ptr, n):
    tl.store(o_ptr + tl.arange(0, 16), tl.zeros((n,), tl.float32))


@triton.jit
def pointers_added(x_ptr, o_ptr):
    tl.store(o_ptr + x_ptr, 0)


@triton.jit
def pointer_without_load(x_ptr, o_ptr):
    tl.store(o_ptr, x_ptr * 2)


@triton.jit
def store_to_a_value(x_ptr, o_ptr):
    tl.store(tl.load(x_ptr), 1)


@triton.jit
def scalar_pointer_for_a_block(x_ptr, o_ptr):
    tl.store(o_ptr, tl.load(x_ptr + tl.arange(0, 8)))


@triton.jit
def mask_for_a_scalar(x_ptr, o_ptr):
    tl.store(o_ptr, tl.load(x_ptr, mask=tl.arange(0, 8) < 4))


@triton.jit
def blocks_of_two_sizes(o_ptr):
    tl.store(o_ptr + tl.arange(0, 8), tl.arange(0, 8) + tl.arange(0, 4))


@triton.jit
def forgotten_axis(o_ptr):
    rows, columns = tl.arange(0, 8), tl.arange(0, 4)
    tl.store(o_ptr + rows[:, None] * 4 + columns, rows[:, None] + columns[:, None])


@triton.jit
def two_types_returned(x):
    if x > 0:
        return x
    return tl.exp(x.to(tl.float32))


@triton.jit
def calls_two_types_returned(o_ptr, n):
    tl.store(o_ptr, two_types_returned(n))


@triton.jit
def calls_numpy(x_ptr, o_ptr):
    tl.store(o_ptr, np.exp(tl.load(x_ptr)))


@triton.jit
def calls_torch(x_ptr, o_ptr):
    tl.store(o_ptr, torch.exp(tl.load(x_ptr)))


@triton.jit
def misspelled(o_ptr):
    tl.store(o_ptr + tl.arrange(0, 8), 0)


@triton.jit
def misspelled_method(x_ptr, o_ptr):
    tl.store(o_ptr, tl.load(x_ptr + tl.arange(0, 8)).summ(0))


@triton.jit
def misspelled_name(x_ptr, o_ptr, n_elements):
    tl.store(o_ptr, n_elemnts)  # noqa: F821


@triton.jit
def misspelled_keyword(x_ptr, o_ptr):
    tl.store(o_ptr, tl.load(x_ptr, masks=True))


@triton.jit
def wrong_dtype_name(o_ptr):
    tl.store(o_ptr, tl.zeros((8,), tl.float8))


@triton.jit
def dtype_as_text(o_ptr):
    tl.store(o_ptr + tl.arange(0, 8), tl.zeros((8,), "float32"))


@triton.jit
def torch_dtype(o_ptr, n):
    tl.store(o_ptr, n.to(torch.float32))


@triton.jit
def block_as_condition(x_ptr, o_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    if x > 0:
        tl.store(o_ptr, 1)


@triton.jit
def compile_time_condition(o_ptr, n):
    tl.static_assert(n > 0)


@triton.jit
def python_number_of_a_tensor(x_ptr, o_ptr):
    tl.store(o_ptr, int(tl.load(x_ptr)))


@triton.jit
def element_of_a_tensor(x_ptr, o_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(o_ptr, x[0])


@triton.jit
def part_of_a_tensor(x_ptr, o_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(o_ptr + tl.arange(0, 4), x[:4])


@triton.jit
def pointer_indexed(x_ptr, o_ptr, n):
    tl.store(o_ptr, x_ptr[n])


@triton.jit
def element_assigned(x_ptr, o_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    x[0] = 1
    tl.store(o_ptr + tl.arange(0, 8), x)


@triton.jit
def global_list(o_ptr):
    tl.store(o_ptr + tl.arange(0, SIZES[0]), 0)


@triton.jit
def global_dictionary(o_ptr):
    tl.store(o_ptr + tl.arange(0, CONFIG["block"]), 0)


@triton.jit
def list_grows(o_ptr, n):
    parts = []
    for i in tl.static_range(3):
        parts.append(n + i)
    tl.store(o_ptr, parts[0])


@triton.jit
def with_statement(o_ptr):
    with torch.no_grad():
        tl.store(o_ptr, 1)


@triton.jit
def loop_over_a_tensor(x_ptr, o_ptr):
    for x in tl.load(x_ptr + tl.arange(0, 8)):
        tl.store(o_ptr, x)


@triton.jit
def accumulator_of_one_type(x_ptr, o_ptr, n):
    total = 0
    for i in range(n):
        total += tl.load(x_ptr + i)
    tl.store(o_ptr, total)


@triton.jit
def accumulator_is_a_scalar(x_ptr, o_ptr, n):
    total = 0.0
    for i in range(n):
        total += tl.load(x_ptr + i * 8 + tl.arange(0, 8))
    tl.store(o_ptr, tl.sum(total))


@triton.jit
def defined_in_a_loop(x_ptr, o_ptr, n):
    for i in range(n):
        last = tl.load(x_ptr + i)
    tl.store(o_ptr, last)


@triton.jit
def two_arguments(a, b, scale: tl.constexpr = 1):
    return (a + b) * scale


@triton.jit
def too_few_in_a_call(o_ptr, n):
    tl.store(o_ptr, two_arguments(n))


@triton.jit
def unknown_in_a_call(o_ptr, n):
    tl.store(o_ptr, two_arguments(n, n, factor=2))


@triton.jit
def too_many_for_a_builtin(o_ptr):
    tl.store(o_ptr + tl.arange(0, 8, 1), 0)


@triton.jit
def float_shift(x_ptr, o_ptr):
    tl.store(o_ptr, tl.load(x_ptr) << 2)


@triton.jit
def half_in_exp(x_ptr, o_ptr):
    tl.store(o_ptr, tl.exp(tl.load(x_ptr).to(tl.float16)))


@triton.jit
def calls_math(x_ptr, o_ptr):
    tl.store(o_ptr, math.exp(tl.load(x_ptr)))


@triton.jit
def axis_out_of_range(o_ptr):
    tl.store(o_ptr, tl.sum(tl.arange(0, 8), 1))


@triton.jit
def reshaped_to_another_size(o_ptr):
    tl.store(o_ptr, tl.sum(tl.arange(0, 8).reshape(4, 4)))


@triton.jit
def fine(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def launched(kernel, *arguments, **keywords) -> Callable[[], object]:
    """A launch of one program on fresh arrays: one for each parameter whose name ends with _ptr, then the arguments."""

    def call() -> object:
        pointers = [np.zeros(64, np.float32) for name in kernel.arg_names if name.endswith("_ptr")]
        return kernel[(1,)](*pointers, *arguments, **keywords)

    return call


X = np.zeros(64, np.float32)
CASES: dict[str, Callable[[], object]] = {
    **{
        name: launched(kernel)
        for name, kernel in list(globals().items())
        if isinstance(kernel, triton.JITFunction) and all(parameter.endswith("_ptr") for parameter in kernel.arg_names)
    },
    "block_of_odd_size": launched(block_of_odd_size, B=12),
    "block_size_not_constexpr": launched(block_size_not_constexpr, 16),
    "block_size_assigned": launched(block_size_assigned, B=16),
    **{
        kernel.__name__: launched(kernel, 5)
        for kernel in (
            *(shape_from_argument, calls_two_types_returned, torch_dtype, compile_time_condition, pointer_indexed),
            *(list_grows, accumulator_of_one_type, accumulator_is_a_scalar, defined_in_a_loop, too_few_in_a_call),
            *(unknown_in_a_call, misspelled_name),
        )
    },
    "called_without_a_grid": functools.partial(fine, X, X, 8, B=8),
    "grid_of_a_float": lambda: fine[(64 / 8,)](X, X, 64, B=8),
    "grid_of_four": lambda: fine[(1, 1, 1, 1)](X, X, 64, B=8),
    "grid_that_is_negative": lambda: fine[(-1,)](X, X, 64, B=8),
    "launch_without_an_argument": lambda: fine[(1,)](X, X, B=8),
    "launch_with_too_many": lambda: fine[(1,)](X, X, 8, 8, 3),
    "launch_with_an_unknown_keyword": lambda: fine[(1,)](X, X, 8, BLOCK=8),
    "launch_without_the_constant": lambda: fine[(1,)](X, X, 8),
    "launch_with_a_list": lambda: fine[(1,)]([1.0, 2.0], X, 2, B=8),
    "launch_with_text": lambda: fine[(1,)](X, X, "8", B=8),
    "launch_with_an_object_array": lambda: fine[(1,)](np.array([{}]), X, 1, B=8),
    "launch_with_a_tensor_as_constant": lambda: fine[(1,)](X, X, 8, B=torch.tensor(8)),
}
