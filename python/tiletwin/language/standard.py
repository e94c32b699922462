"""Functions of the language that are written in the language: reductions, scans, sorting, small shapes.

Here:      jit functions. Types of their results: docs/semantics.md, rules 37 to 44.
Not here:  operations the front end makes itself (core.py).
Invariant: names of combine functions end up in the IR; compile-time decisions are made by constexpr functions, so that
           each call traces one straight path.
"""

# Kernel code: operators and defaults mean what the language says, not what Python would do.
# pyright: reportReturnType=false, reportArgumentType=false, reportOperatorIssue=false, reportAssignmentType=false
from __future__ import annotations

from tiletwin._C import tensor
from tiletwin.kernels.callables import constexpr_function
from tiletwin.kernels.jit import jit
from tiletwin.language import core, math

__all__ = [
    "argmax", "argmin", "bitonic_merge", "cdiv", "cumprod", "cumsum", "flip", "interleave", "max", "min", "ravel",
    "reduce_or", "sigmoid", "softmax", "sort", "squeeze", "sum", "swizzle2d", "topk", "unsqueeze", "xor_sum", "zeros",
    "zeros_like",
]  # fmt: skip

# Compile-time helpers.


@constexpr_function
def _log2(n):
    """Exponent of a power of two."""
    return n.bit_length() - 1


@constexpr_function
def _is_power_of_two(n):
    return n > 0 and n & (n - 1) == 0


@constexpr_function
def _axis_of(rank, axis):
    """`axis` counted from the front; the last one for None."""
    if axis is None:
        return rank - 1
    return axis + rank if axis < 0 else axis


@constexpr_function
def _is_axis(rank, axis):
    return -rank <= axis < rank


@constexpr_function
def _other_axes(rank, axis):
    """All axes but one."""
    axis = axis + rank if axis < 0 else axis
    return tuple(i for i in range(rank) if i != axis)


@constexpr_function
def _with_size(shape, axis, sizes):
    """`shape` with the dimension `axis` replaced by the dimensions `sizes`."""
    before, after = shape[:axis], shape[axis + 1 :]
    return tuple(int(s) for s in (*before, *sizes, *after))


@constexpr_function
def _with_inserted(shape, axis):
    """`shape` with a dimension of size 1 at `axis` of the result."""
    return tuple(int(s) for s in (*shape[:axis], 1, *shape[axis:]))


@constexpr_function
def _doubled(shape):
    """(..., n, 2) merged to (..., 2 * n)."""
    return tuple(int(s) for s in (*shape[:-2], 2 * shape[-2]))


@constexpr_function
def _twos(count):
    """Shape of a hypercube of 2**count elements; one element is a block of one."""
    return (2,) * count or (1,)


@constexpr_function
def _bit_shape(rank, bit):
    """Shape of a hypercube that is 1 wide but for the bit-th dimension from the end."""
    return tuple(2 if i == rank - 1 - bit else 1 for i in range(rank))


@constexpr_function
def _sum_type(element, dtype):
    """Type in which sums are made: `dtype` if given; integers of less than 32 bits widen to 32."""
    if dtype is not None:
        return dtype
    if element.is_int() and element.int_bitwidth < 32:
        return core.int32 if element.is_int_signed() else core.uint32
    return element


@constexpr_function
def _scan_type(element):
    """Type in which running sums and products of a type are made: a bfloat16 would be rounded once an element."""
    return core.float32 if element == core.bfloat16 else element


@constexpr_function
def _extremum_type(element):
    """Type in which max and min are taken: at least 32 bits."""
    if element.primitive_bitwidth >= 32:
        return element
    return core.float32 if element.is_floating() else core.int32


@constexpr_function
def _bits_type(element):
    return core.get_int_dtype(element.primitive_bitwidth, signed=True)


@constexpr_function
def _warn_keep_dims():
    import warnings

    warnings.warn("tl.softmax: keep_dims is deprecated and has no effect; the shape is always kept", stacklevel=2)


# Small arithmetic.


@jit
def cdiv(x, div):
    """x divided by div, rounded up, for integers with x >= 0 and div > 0: (x + (div - 1)) // div."""
    return (x + (div - 1)) // div


@jit
def sigmoid(x):
    """1 / (1 + exp(-x)) in each element; float32 or float64."""
    return 1 / (1 + math.exp(-x))


@jit
def softmax(x, dim=None, *, keep_dims=None, ieee_rounding=False):
    """exp(x - max) / sum(exp(x - max)) along `dim`, by default the first (not the last) dimension.

    keep_dims: deprecated, no effect. ieee_rounding: the division is correctly rounded.
    """
    if keep_dims is not None:
        _warn_keep_dims()
    axis: core.constexpr = 0 if dim is None else dim
    z = x - max(x, axis, keep_dims=True)
    num = math.exp(z)
    den = sum(num, axis, keep_dims=True)
    return math.fdiv(num, den, ieee_rounding)


@jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Renumbers a row-major size_i x size_j grid so that groups of size_g rows are walked column by column.

    (i, j): a position; returns the position that takes its place, as a pair. In a 4 x 4 grid with size_g = 2 the
    positions in row-major order become (0,0) (1,0) (0,1) (1,1) (0,2) (1,2) ...; the last group may have fewer rows.
    """
    number = i * size_j + j
    group_size = size_g * size_j
    group = number // group_size
    first_row = group * size_g
    rows = core.minimum(size_i - first_row, size_g)
    inside = number % group_size
    return first_row + inside % rows, inside // rows


# Shapes.


@jit
def zeros(shape, dtype):
    """A block of zeros of that compile-time shape and element type."""
    return core.full(shape, 0, dtype)


@jit
def zeros_like(input):
    """A block of zeros of the shape and element type of `input`."""
    return zeros(input.shape, input.dtype)


@jit
def ravel(x, can_reorder=False):
    """The elements of `x` in row-major order as a 1-D block; in any order if can_reorder."""
    return core.reshape(x, [x.numel], can_reorder=can_reorder)


@jit
def squeeze(x, dim: core.constexpr):
    """`x` without the dimension `dim`, whose size must be 1."""
    rank: core.constexpr = len(x.shape)
    core.static_assert(_is_axis(rank, dim), "squeeze: dim is outside the rank of the block")
    axis: core.constexpr = _axis_of(rank, dim)
    core.static_assert(x.shape[axis] == 1, "squeeze: the size of dim must be 1")
    return x.reshape(_with_size(x.shape, axis, ()))


@jit
def unsqueeze(x, dim: core.constexpr):
    """`x` with a new dimension of size 1 that stands at `dim` of the result."""
    rank: core.constexpr = len(x.shape) + 1
    core.static_assert(_is_axis(rank, dim), "unsqueeze: dim is outside the rank of the result")
    return x.reshape(_with_inserted(x.shape, _axis_of(rank, dim)))


@jit
def interleave(a, b):
    """a[..., 0], b[..., 0], a[..., 1], b[..., 1], ... along the last dimension; two scalars give a block of two."""
    c = core.join(a, b)
    if len(c.shape) == 1:
        return c
    else:
        return core.reshape(c, _doubled(c.shape))


# Largest and smallest.


@jit
def _positions(input, axis: core.constexpr):
    """int32 position along `axis` of each element, broadcast to the shape of `input`."""
    rank: core.constexpr = len(input.shape)
    index = core.arange(0, input.shape[_axis_of(rank, axis)])
    if rank > 1:
        index = core.broadcast_to(core.expand_dims(index, _other_axes(rank, axis)), input.shape)
    return index


@jit
def _pick(first, value1, index1, value2, index2):
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _argmax_combine_tie_break_left(value1, index1, value2, index2):
    tie = value1 == value2 and index1 < index2
    return _pick(value1 > value2 or tie, value1, index1, value2, index2)


@jit
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):
    return _pick(value1 > value2, value1, index1, value2, index2)


@jit
def _argmin_combine_tie_break_left(value1, index1, value2, index2):
    tie = value1 == value2 and index1 < index2
    return _pick(value1 < value2 or tie, value1, index1, value2, index2)


@jit
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):
    return _pick(value1 < value2, value1, index1, value2, index2)


@jit
def _elementwise_max(a, b):
    return core.maximum(a, b)


@jit
def _elementwise_min(a, b):
    return core.minimum(a, b)


@jit
def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    """Largest element along `axis` (all elements for None); NaN loses against numbers.

    Element types below 32 bits widen to int32 or float32. return_indices: the pair (value in the element type,
    int32 position along axis), which needs an axis; among equal elements the first, unless
    return_indices_tie_break_left=False leaves that open. keep_dims: the axis stays with size 1.
    """
    if return_indices:
        core.static_assert(axis is not None, "max: return_indices needs an axis")
        pair = (input, _positions(input, axis))
        if return_indices_tie_break_left:
            return core.reduce(pair, axis, _argmax_combine_tie_break_left, keep_dims=keep_dims)
        else:
            return core.reduce(pair, axis, _argmax_combine_tie_break_fast, keep_dims=keep_dims)
    else:
        return core.reduce(input.to(_extremum_type(input.dtype)), axis, _elementwise_max, keep_dims=keep_dims)


@jit
def argmax(input, axis, tie_break_left=True, keep_dims=False):
    """int32 position along `axis` of the largest element; see `max` for ties."""
    core.static_assert(axis is not None, "argmax: needs an axis")
    _, index = max(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


@jit
def min(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    """Smallest element along `axis` (all elements for None); otherwise as `max`."""
    if return_indices:
        core.static_assert(axis is not None, "min: return_indices needs an axis")
        pair = (input, _positions(input, axis))
        if return_indices_tie_break_left:
            return core.reduce(pair, axis, _argmin_combine_tie_break_left, keep_dims=keep_dims)
        else:
            return core.reduce(pair, axis, _argmin_combine_tie_break_fast, keep_dims=keep_dims)
    else:
        return core.reduce(input.to(_extremum_type(input.dtype)), axis, _elementwise_min, keep_dims=keep_dims)


@jit
def argmin(input, axis, tie_break_left=True, keep_dims=False):
    """int32 position along `axis` of the smallest element; see `max` for ties."""
    core.static_assert(axis is not None, "argmin: needs an axis")
    _, index = min(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


# Sums and their like.


@jit
def _sum_combine(a, b):
    return a + b


@jit
def _prod_combine(a, b):
    return a * b


@jit
def _xor_combine(a, b):
    return a ^ b


@jit
def _or_combine(a, b):
    return a | b


@jit
def sum(input, axis=None, keep_dims=False, dtype: core.constexpr = None):
    """Sum along `axis` (all elements for None).

    The sum is made in `dtype`; without it integers below 32 bits become int32 or uint32, other types stay (float16
    is summed in float16). The order is not specified. keep_dims: the axis stays with size 1.
    """
    return core.reduce(input.to(_sum_type(input.dtype, dtype)), axis, _sum_combine, keep_dims=keep_dims)


@jit
def xor_sum(input, axis=None, keep_dims=False):
    """Exclusive or along `axis` (all elements for None) of integers; the type stays."""
    core.static_assert(input.dtype.is_int(), "xor_sum: needs integers")
    return core.reduce(input, axis, _xor_combine, keep_dims=keep_dims)


@jit
def reduce_or(input, axis, keep_dims=False):
    """Or along `axis` (all elements for None) of integers; the type stays."""
    core.static_assert(input.dtype.is_int(), "reduce_or: needs integers")
    return core.reduce(input, axis, _or_combine, keep_dims=keep_dims)


@jit
def cumsum(input, axis=0, reverse=False, dtype: core.constexpr = None):
    """Running sums along `axis`, each including its element; reverse: from the end. Types as in `sum`; those of
    bfloat16 are made in float32, and each is rounded once."""
    of: core.constexpr = _sum_type(input.dtype, dtype)
    return core.associative_scan(input.to(of).to(_scan_type(of)), axis, _sum_combine, reverse).to(of)


@jit
def cumprod(input, axis=0, reverse=False, dtype: core.constexpr = None):
    """Running products along `axis`, each including its element; reverse: from the end. Types as in `cumsum`."""
    of: core.constexpr = _sum_type(input.dtype, dtype)
    return core.associative_scan(input.to(of).to(_scan_type(of)), axis, _prod_combine, reverse).to(of)


# Sorting: bitonic networks over a block seen as a hypercube, whose dimensions are the bits of an element's position.
# `order` is 0 for ascending, 1 for descending, 2 for runs that alternate.


@jit
def _indicator(rank: core.constexpr, bit: core.constexpr):
    """0 or 1: the bit-th bit (from the least) of the position, shaped to broadcast with the hypercube."""
    return core.reshape(core.arange(0, 2), _bit_shape(rank, bit))


@jit
def _other_half(x, axis: core.constexpr):
    """`x` with the two halves of a dimension of size 2 exchanged: both together, with each one taken out again."""
    bits = x.to(_bits_type(x.dtype), bitcast=True)
    return (bits ^ xor_sum(bits, axis, True)).to(x.dtype, bitcast=True)


@jit
def _compare_and_swap(x, flip, bit: core.constexpr):
    """Orders each pair of elements whose positions differ in one bit: larger to the right where flip is 0."""
    rank: core.constexpr = len(x.shape)
    y = _other_half(x, rank - 1 - bit)
    right = _indicator(rank, bit)
    return core.where((x > y) != (flip ^ right).to(core.int1), y, x)


@jit
def _bitonic_merge_hypercube(x, stage: core.constexpr, order: core.constexpr):
    """Sorts runs of 2**stage elements that are bitonic already."""
    if order == 2:
        flip = _indicator(len(x.shape), stage)
    else:
        flip = order
    for i in core.static_range(stage):
        x = _compare_and_swap(x, flip, stage - 1 - i)
    return x


@constexpr_function
def _order(descending, last):
    """Direction of a merge: alternating until the last one."""
    return int(bool(descending)) if last else 2


@jit
def sort_impl(x, k: core.constexpr = None, dim: core.constexpr = None, descending: core.constexpr = core.CONSTEXPR_0):
    """The k first (all, if None) elements of the sorted last dimension; what `sort` and `topk` share.

    k: a power of two, at most the size of the dimension. dim: None or the last dimension.
    """
    rank: core.constexpr = len(x.shape)
    core.static_assert(_axis_of(rank, dim) == rank - 1, "sort: only the last dimension can be sorted")
    size: core.constexpr = x.shape[rank - 1]
    count: core.constexpr = size if k is None else k
    core.static_assert(_is_power_of_two(count), "topk: k must be a power of two")
    core.static_assert(count <= size, "topk: k must be at most the size of the last dimension")
    log_n: core.constexpr = _log2(size)
    log_k: core.constexpr = _log2(count)
    if log_k == 0:
        return max(x, axis=rank - 1, keep_dims=True) if descending else min(x, axis=rank - 1, keep_dims=True)
    else:
        h = core.reshape(x, _twos(_log2(x.numel)))
        for stage in core.static_range(1, log_k + 1):
            h = _bitonic_merge_hypercube(h, stage, _order(descending, stage == log_n))
        for stage in core.static_range(log_k + 1, log_n + 1):
            # Two neighbouring runs of k, sorted in opposite directions: the better of each pair are the best k.
            h = max(h, len(h.shape) - 1 - log_k) if descending else min(h, len(h.shape) - 1 - log_k)
            h = _bitonic_merge_hypercube(h, log_k, _order(descending, stage == log_n))
        return core.reshape(h, _with_size(x.shape, rank - 1, [count]))


@jit
def sort(x, dim: core.constexpr = None, descending: core.constexpr = core.CONSTEXPR_0):
    """`x` sorted along its last dimension, ascending unless `descending`; `dim` may only name that dimension.

    Where NaN ends up is not specified.
    """
    return sort_impl(x, dim=dim, descending=descending)


@jit
def topk(x, k: core.constexpr, dim: core.constexpr = None, descending: core.constexpr = True):
    """The k largest elements of the last dimension, the largest first; or the k smallest, unless `descending`.

    k: a power of two, at most the size of the dimension. Types below 32 bits widen as in `max`, unless k is all.
    """
    return sort_impl(x, k=k, dim=dim, descending=descending)


@jit
def bitonic_merge(x, dim: core.constexpr = None, descending: core.constexpr = core.CONSTEXPR_0):
    """Sorts the last dimension of `x`, which must be bitonic: rise then fall, or a rotation of that."""
    rank: core.constexpr = len(x.shape)
    core.static_assert(_axis_of(rank, dim) == rank - 1, "bitonic_merge: only the last dimension can be merged")
    h = core.reshape(x, _twos(_log2(x.numel)))
    h = _bitonic_merge_hypercube(h, _log2(x.shape[rank - 1]), _order(descending, True))
    return core.reshape(h, x.shape)


@jit
def flip(x, dim=None):
    """`x` with the order of elements along `dim` (default: the last dimension) reversed."""
    rank: core.constexpr = len(x.shape)
    axis: core.constexpr = _axis_of(rank, dim)
    core.static_assert(_is_axis(rank, axis), "flip: dim is outside the rank of the block")
    steps: core.constexpr = _log2(x.shape[axis])
    y = core.reshape(x.to(_bits_type(x.dtype), bitcast=True), _with_size(x.shape, axis, _twos(steps)))
    for i in core.static_range(steps):
        y = y ^ xor_sum(y, axis + i, True)
    return core.reshape(y, x.shape).to(x.dtype, bitcast=True)


# Functions that are methods of tensors too.
for _function in (
    argmax, argmin, cdiv, cumprod, cumsum, flip, max, min, ravel, reduce_or, sigmoid, softmax, sort, sum, xor_sum,
):  # fmt: skip
    setattr(tensor, _function.__name__, _function)
del _function
