"""Kernels that call one function of the language's library; test_library.py launches them."""

import triton
import triton.language as tl


@triton.jit
def load_2d(x_ptr, M: tl.constexpr, N: tl.constexpr):
    return tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def reduce_2d(x_ptr, out_ptr, FUNCTION: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    r = FUNCTION(load_2d(x_ptr, M, N), AXIS)
    if AXIS is None:
        tl.store(out_ptr, r)
    else:
        tl.store(out_ptr + tl.arange(0, r.shape[0]), r)


@triton.jit
def map_2d(x_ptr, out_ptr, FUNCTION: tl.constexpr, ARGUMENT: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    r = FUNCTION(load_2d(x_ptr, M, N), ARGUMENT)
    columns: tl.constexpr = r.shape[1]
    tl.store(out_ptr + tl.arange(0, M)[:, None] * columns + tl.arange(0, columns)[None, :], r)


@triton.jit
def total(x, axis: tl.constexpr):
    return tl.sum(x, axis)


@triton.jit
def largest(x, axis: tl.constexpr):
    return tl.max(x, axis)


@triton.jit
def smallest(x, axis: tl.constexpr):
    return tl.min(x, axis)


@triton.jit
def largest_at(x, axis: tl.constexpr):
    return tl.argmax(x, axis)


@triton.jit
def smallest_at(x, axis: tl.constexpr):
    return tl.argmin(x, axis)


@triton.jit
def exclusive_or(x, axis: tl.constexpr):
    return tl.xor_sum(x, axis)


@triton.jit
def bitwise_or(x, axis: tl.constexpr):
    return tl.reduce_or(x, axis)


@triton.jit
def running_sum(x, axis: tl.constexpr):
    return tl.cumsum(x, axis)


@triton.jit
def running_sum_back(x, axis: tl.constexpr):
    return tl.cumsum(x, axis, reverse=True)


@triton.jit
def running_product(x, axis: tl.constexpr):
    return tl.cumprod(x, axis)


@triton.jit
def flipped(x, axis: tl.constexpr):
    return tl.flip(x, axis)


@triton.jit
def sorted_up(x, unused: tl.constexpr):
    return tl.sort(x)


@triton.jit
def sorted_down(x, unused: tl.constexpr):
    return tl.sort(x, descending=True)


@triton.jit
def best(x, k: tl.constexpr):
    return tl.topk(x, k)


@triton.jit
def least(x, k: tl.constexpr):
    return tl.topk(x, k, descending=False)


@triton.jit
def normalized(x, axis: tl.constexpr):
    return tl.softmax(x, axis)


@triton.jit
def swizzled(i_ptr, j_ptr, rows, columns, group, N: tl.constexpr):
    p = tl.arange(0, N)
    valid = p < rows * columns
    i, j = tl.swizzle2d(p // columns, p % columns, rows, columns, group)
    tl.store(i_ptr + p, i, mask=valid)
    tl.store(j_ptr + p, j, mask=valid)


@triton.jit
def small_functions(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + tl.arange(0, 2 * N), tl.interleave(x, -x))
    tl.store(out_ptr + 2 * N + i, tl.cdiv(x, 3))
    tl.store(out_ptr + 3 * N + i, tl.unsqueeze(tl.squeeze(x[:, None], 1), -1).ravel())
    tl.store(out_ptr + 4 * N + i, tl.zeros_like(x) + tl.zeros([N], tl.int32))
    a, b = tl.split(tl.interleave(x, x + 1).reshape(N, 2))
    tl.store(out_ptr + 5 * N + i, b - a)
