"""Kernels that load a tile of any shape, apply a function and store it; functions for tests of reductions and scans.

Not here:  functions for tests of sorting and shapes (arrangement_kernels.py).
"""

import triton
import triton.language as tl


@triton.jit
def load(x_ptr, SHAPE: tl.constexpr, COUNT: tl.constexpr):
    return tl.load(x_ptr + tl.arange(0, COUNT).reshape(SHAPE))


@triton.jit
def store(out_ptr, r):
    if len(r.shape) == 0:
        tl.store(out_ptr, r)
    else:
        tl.store(out_ptr + tl.arange(0, r.numel).reshape(r.shape), r)


@triton.jit
def one(x_ptr, out_ptr, FUNCTION: tl.constexpr, ARGUMENT: tl.constexpr, SHAPE: tl.constexpr, COUNT: tl.constexpr):
    store(out_ptr, FUNCTION(load(x_ptr, SHAPE, COUNT), ARGUMENT))


@triton.jit
def two_results(
    x_ptr, a_ptr, b_ptr, FUNCTION: tl.constexpr, ARGUMENT: tl.constexpr, SHAPE: tl.constexpr, COUNT: tl.constexpr
):
    a, b = FUNCTION(load(x_ptr, SHAPE, COUNT), ARGUMENT)
    store(a_ptr, a)
    store(b_ptr, b)


@triton.jit
def two_operands(
    x_ptr,
    y_ptr,
    out_ptr,
    FUNCTION: tl.constexpr,
    ARGUMENT: tl.constexpr,
    SHAPE: tl.constexpr,
    COUNT: tl.constexpr,
    OTHER: tl.constexpr,
    OTHER_COUNT: tl.constexpr,
):
    store(out_ptr, FUNCTION(load(x_ptr, SHAPE, COUNT), load(y_ptr, OTHER, OTHER_COUNT), ARGUMENT))


# Reductions. ARGUMENT is the axis.


@triton.jit
def sum(x, axis: tl.constexpr):
    return tl.sum(x, axis)


@triton.jit
def sum_kept(x, axis: tl.constexpr):
    return tl.sum(x, axis, keep_dims=True)


@triton.jit
def max(x, axis: tl.constexpr):
    return tl.max(x, axis)


@triton.jit
def min(x, axis: tl.constexpr):
    return tl.min(x, axis)


@triton.jit
def xor_sum(x, axis: tl.constexpr):
    return tl.xor_sum(x, axis)


@triton.jit
def reduce_or(x, axis: tl.constexpr):
    return tl.reduce_or(x, axis)


@triton.jit
def argmax(x, axis: tl.constexpr):
    return tl.argmax(x, axis)


@triton.jit
def argmin(x, axis: tl.constexpr):
    return tl.argmin(x, axis)


@triton.jit
def argmax_any(x, axis: tl.constexpr):
    return tl.argmax(x, axis, tie_break_left=False)


@triton.jit
def max_with_index(x, axis: tl.constexpr):
    return tl.max(x, axis, return_indices=True)


@triton.jit
def min_with_index(x, axis: tl.constexpr):
    return tl.min(x, axis, return_indices=True, keep_dims=True)


@triton.jit
def _and(a, b):
    return a & b


@triton.jit
def reduce_and(x, axis: tl.constexpr):
    return tl.reduce(x, axis, _and)


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def max_of_all(x, axis: tl.constexpr):
    return tl.reduce(x, axis, _nan_max)


@triton.jit
def _larger_magnitude(a, b):
    if tl.abs(a) >= tl.abs(b):
        c = a
    else:
        c = b
    return c


@triton.jit
def farthest_from_zero(x, axis: tl.constexpr):
    return tl.reduce(x, axis, _larger_magnitude)


@triton.jit
def _first(a, b):
    return a


@triton.jit
def first(x, axis: tl.constexpr):
    return tl.reduce(x, axis, _first)


@triton.jit
def _welford(mean1, m1, count1, mean2, m2, count2):
    count = count1 + count2
    delta = mean2 - mean1
    share = count2 / count
    return mean1 + delta * share, m1 + m2 + delta * delta * count1 * share, count


@triton.jit
def mean_and_spread(x, axis: tl.constexpr):
    zero = tl.zeros_like(x)
    mean, spread, _ = tl.reduce((x, zero, zero + 1), axis, _welford)
    return mean, spread


# Scans.


@triton.jit
def cumsum(x, axis: tl.constexpr):
    return tl.cumsum(x, axis)


@triton.jit
def cumsum_back(x, axis: tl.constexpr):
    return tl.cumsum(x, axis, reverse=True)


@triton.jit
def cumprod(x, axis: tl.constexpr):
    return tl.cumprod(x, axis)


@triton.jit
def cumprod_back(x, axis: tl.constexpr):
    return tl.cumprod(x, axis, reverse=True)


@triton.jit
def _larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def cummax(x, axis: tl.constexpr):
    return tl.associative_scan(x, axis, _larger)


@triton.jit
def cummax_back(x, axis: tl.constexpr):
    return tl.associative_scan(x, axis, _larger, reverse=True)


@triton.jit
def _last(a, b):
    return b


@triton.jit
def keep_last(x, axis: tl.constexpr):
    return tl.associative_scan(x, axis, _last)


@triton.jit
def _affine(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence(x, axis: tl.constexpr):
    return tl.associative_scan((x, x + 1), axis, _affine)


@triton.jit
def recurrence_back(x, axis: tl.constexpr):
    return tl.associative_scan((x, x + 1), axis, _affine, reverse=True)


@triton.jit
def _segmented(flag1, sum1, flag2, sum2):
    return flag1 | flag2, sum2 if flag2 != 0 else sum1 + sum2


@triton.jit
def segmented_sum(x, axis: tl.constexpr):
    starts = (x % 5 == 0).to(tl.int32)
    return tl.associative_scan((starts, x), axis, _segmented)
