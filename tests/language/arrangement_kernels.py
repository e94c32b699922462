"""Functions and kernels for tests of sorting and shapes; those of reductions and scans are in operation_kernels.py."""

import triton
import triton.language as tl

# Sorting.


@triton.jit
def sort(x, unused: tl.constexpr):
    return tl.sort(x)


@triton.jit
def sort_down(x, unused: tl.constexpr):
    return tl.sort(x, descending=True)


@triton.jit
def sort_twice(x, unused: tl.constexpr):
    """The first sort's result is used by more than the second sort."""
    up = tl.sort(x)
    return tl.sort(up, descending=True), up


@triton.jit
def topk(x, k: tl.constexpr):
    return tl.topk(x, k)


@triton.jit
def bottomk(x, k: tl.constexpr):
    return tl.topk(x, k, descending=False)


@triton.jit
def bitonic_merge(x, unused: tl.constexpr):
    return tl.bitonic_merge(x)


@triton.jit
def flip(x, axis: tl.constexpr):
    return tl.flip(x, axis)


@triton.jit
def flip_sum(x, axis: tl.constexpr):
    """A reversed tile as an operand of what follows."""
    return tl.cumsum(tl.flip(x, axis), axis) + tl.flip(x, axis)


@triton.jit
def flip_after_store(x_ptr, N: tl.constexpr):
    """Reads its input before it overwrites it."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.flip(x)
    tl.store(x_ptr + i, tl.zeros_like(x))
    tl.store(x_ptr + i, y + tl.load(x_ptr + i))


@triton.jit
def sort_after_store(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.sort(x)
    tl.store(x_ptr + i, tl.zeros_like(x))
    tl.store(x_ptr + i, tl.sort(y, descending=True) + tl.load(x_ptr + i) + x * 0)


@triton.jit
def sort_between_readers(x_ptr, before_ptr, after_ptr, up_ptr, down_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i) * 2
    before = x + 1
    up = tl.sort(x)
    tl.store(down_ptr + i, tl.sort(x, descending=True))
    tl.store(after_ptr + i, x - up)
    tl.store(before_ptr + i, before)
    tl.store(up_ptr + i, up)


@triton.jit
def sort_masked(x_ptr, out_ptr, count, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i, mask=i < count, other=6)))


@triton.jit
def sorts_in_a_loop(x_ptr, out_ptr, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    for r in range(rounds):
        x = tl.sort(x * 31 % 101, descending=False) + r
    tl.store(out_ptr + i, x)


# Shapes.


@triton.jit
def gather(x, index, axis: tl.constexpr):
    return tl.gather(x, index, axis)


@triton.jit
def cat(x, y, axis: tl.constexpr):
    return tl.cat(x, y, dim=axis)


@triton.jit
def cat_in_any_order(x, y, unused: tl.constexpr):
    return tl.cat(x, y, can_reorder=True)


@triton.jit
def join(x, y, unused: tl.constexpr):
    return tl.join(x, y)


@triton.jit
def interleave(x, y, unused: tl.constexpr):
    return tl.interleave(x, y)


@triton.jit
def split(x, unused: tl.constexpr):
    return tl.split(x)


@triton.jit
def permute(x, order: tl.constexpr):
    return tl.permute(x, order)


@triton.jit
def trans(x, unused: tl.constexpr):
    return tl.trans(x)


@triton.jit
def reshape(x, shape: tl.constexpr):
    return tl.reshape(x, shape)


@triton.jit
def view(x, shape: tl.constexpr):
    return tl.view(x, shape)


@triton.jit
def ravel(x, unused: tl.constexpr):
    return tl.ravel(x)


@triton.jit
def expand_dims(x, axis: tl.constexpr):
    return tl.expand_dims(x, axis)


@triton.jit
def squeeze(x, axis: tl.constexpr):
    return tl.squeeze(x, axis)


@triton.jit
def unsqueeze(x, axis: tl.constexpr):
    return tl.unsqueeze(x, axis)


@triton.jit
def broadcast_to(x, shape: tl.constexpr):
    return tl.broadcast_to(x, shape)


@triton.jit
def histogram(x, bins: tl.constexpr):
    return tl.histogram(x, bins)


@triton.jit
def histogram_of_even(x, y, bins: tl.constexpr):
    return tl.histogram(x, bins, mask=y % 2 == 0)
