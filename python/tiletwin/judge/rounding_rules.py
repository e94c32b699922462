"""What one torch operation adds to the bounds of its operands.

Here:      four classes of operations, and the rule of each.
Not here:  where bounds are kept (rounding.py).
Rules:     - what moves or chooses numbers adds nothing; what it makes of operands that are off is tried;
           - sums and products: |A| |B| with operands as far off as they may be, and one error for each term;
           - arithmetic of elements: each operand is moved alone as far as it may be off, up and down, and the changes
             add up; division has two units in the last place more (PTX ISA, div.full.f32);
           - what moves or chooses: operands are moved together, in several directions, and the largest change counts;
             twice that where all up and all down need not be the worst directions;
           - functions of elements: as arithmetic, with operands moved a few units of float32 further, since kernels
             compute them in it;
           - everything else: the same, with operands moved a few units further, as a backward stable algorithm does,
             and four times.
           Results are rounded to the type of the data at the end: four units for functions of a GPU, two in half
           precision, and four of everything else.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import torch

from tiletwin.judge.rounding_moves import (
    Operation,
    Rounding,
    distance,
    is_float,
    moved,
    moved_alone,
    of_undecided,
    zeros,
)

_CHOOSES = frozenset(
    """
    cat stack clone copy_ _to_copy gather index index_select where maximum minimum max min amax amin relu relu_ abs abs_
    neg neg_ sort topk constant_pad_nd flip roll repeat tril triu masked_fill masked_fill_ embedding scatter scatter_
    floor ceil round trunc sign clamp clamp_ clamp_min clamp_max fill_ zero_ zeros_like ones_like full_like
    index_put_ index_copy slice_scatter select_scatter threshold_backward max_pool2d_with_indices argmax argmin
    unique nonzero empty empty_like empty_strided new_empty new_empty_strided new_zeros new_ones new_full zeros ones
    full scalar_tensor arange rand randn normal_ uniform_ bernoulli_ randint randperm isnan isinf eq ne lt le gt ge
    logical_not logical_and logical_or bitwise_and bitwise_or bitwise_not hardtanh any all searchsorted bucketize
    leaky_relu slice_backward select_backward _unsafe_view repeat_interleave diagonal_backward as_strided_scatter
    lift_fresh detach unfold_backward linspace eye one_hot reflection_pad2d replication_pad2d isfinite
    max_pool2d_with_indices_backward hardtanh_backward fmin fmax
    """.split()
)
"""These compute nothing that is rounded."""
_MONOTONE = _CHOOSES - frozenset(
    """
    eq ne logical_not bitwise_not threshold_backward hardtanh_backward max_pool2d_with_indices_backward scatter scatter_
    index_put_ unfold_backward searchsorted bucketize copy_ uniform_ normal_ bernoulli_
    """.split()
)
"""Each result grows, or falls, with each operand: moving all of them up, or all down, is the worst there is."""
_SUMS = frozenset(
    """
    sum mean mm bmm mv dot addmm addmv baddbmm addbmm convolution cumsum convolution_backward _cdist_forward
    index_add index_add_ scatter_add scatter_add_ embedding_dense_backward avg_pool2d _adaptive_avg_pool2d trace
    avg_pool2d_backward _adaptive_avg_pool2d_backward avg_pool3d upsample_bilinear2d addr outer _trilinear
    scatter_reduce nansum linalg_vecdot mkldnn_convolution _convolution im2col col2im max_unpool2d
    """.split()
)
"""Linear in each operand, with coefficients that are 1 or positive: sums of products."""
_PRODUCTS = frozenset(
    "mm bmm mv dot addmm addmv baddbmm addbmm convolution convolution_backward mkldnn_convolution _convolution".split()
)
"""Of these a GPU may read operands in tf32."""
_ELEMENTWISE = frozenset("add add_ sub sub_ rsub mul mul_ div div_ addcmul addcdiv lerp square reciprocal".split())
"""One rounding at most for each of their operations."""
_WHOLE = frozenset("add add_ sub sub_ rsub mul mul_".split())
"""Exact for whole numbers."""
_ADDS = frozenset("add add_ sub sub_ rsub".split())
CHAINED = _ADDS | frozenset("addcmul addcmul_ addcdiv addcdiv_ lerp lerp_".split())
"""Many of these one behind the other are a sum, or a recurrence, that others compute as a tree."""
_DIVIDES = frozenset("div div_ reciprocal addcdiv".split())
_FUNCTIONS = frozenset(
    """
    pow pow_ exp exp_ exp2 expm1 log log_ log2 log10 log1p sqrt sqrt_ rsqrt rsqrt_ tanh tanh_ sigmoid sigmoid_ silu
    silu_ gelu erf erf_ erfc special_erfc softplus mish elu elu_ selu celu log_sigmoid_forward hardswish hardswish_
    hardsigmoid sin cos atan atan2 sinh cosh asinh acosh atanh
    """.split()
)
"""Of one or two elements, and smooth: the ends of an interval are the worst that is in it."""
_CANCELS = frozenset(
    """
    gelu gelu_backward softplus softplus_backward mish mish_backward elu elu_backward log_sigmoid_forward
    log_sigmoid_backward special_erfc erfc log1p expm1 selu celu silu_backward sigmoid_backward tanh_backward
    """.split()
)
"""Often written as 1 + f(x) or f(x) - 1: then they are off by units of 1 and of the operand, not of the result."""
_UNORDERED = frozenset("sort topk".split())
"""Which of equal numbers comes first torch does not say."""
_MULTIPLIES = frozenset("prod cumprod".split())
_CENTRED = frozenset("native_layer_norm native_group_norm native_batch_norm _native_batch_norm_legit".split())
"""Differences from a mean, which is rounded before: moving operands moves the mean along, so it does not show that."""
_SQUARES = _CENTRED | {f"{name}_backward" for name in _CENTRED} | {"var", "var_mean", "std", "std_mean"}
"""These square their first operand, or differences of its numbers, which may overflow whatever comes of it."""
_PERIODIC = frozenset("sin cos frac".split())
"""Operands may be off by more than a period: then the directions that are tried say nothing."""
FUNCTION_UNITS = 4.0
"""Units of a function of a GPU (PTX ISA, .approx), in float32."""
HALF_FUNCTION_UNITS = 2.0
"""Of one in half precision, in that (PTX ISA, ex2.approx.ftz.bf16: 2^-7)."""
SCALED = 256.0
"""By which a sum may be larger if a factor is applied behind it and not before it."""


def bounds_of(op: Operation, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Of each output. inputs: the tensors of args and kwargs."""
    floats = [value for value in inputs if value.is_floating_point() and value.numel()]
    found = _of_operation(op, floats)
    if op.name in _UNORDERED and len(op.outputs) == 2 and not op.kwargs.get("stable"):
        found[1] = found[1] + _of_ties(op)
    undecided = [v for v in inputs if not v.is_floating_point() and v.numel() and bool(op.mode.bound(v).any())]
    if undecided:
        found = [a + b for a, b in zip(found, of_undecided(op, undecided))]
    return found


def _of_operation(op: Operation, floats: list[torch.Tensor]) -> list[torch.Tensor]:
    """Of each output, if what is no float is exact. floats: operands."""
    mode, name, outputs, numbers = op.mode, op.name, op.outputs, op.mode.numbers
    are_off = any(bool(mode.bound(value).any()) for value in floats)
    if name in _CHOOSES:
        factor = 1.0 if name in _MONOTONE else 2.0
        return [factor * bound for bound in moved(op, 0.0)] if are_off else op.nothing()
    if name in _SUMS:
        found = _summed(op, floats)
    elif name in _ELEMENTWISE:
        found = moved_alone(op) if are_off else op.nothing()
    elif name in _FUNCTIONS:
        found = moved_alone(op, FUNCTION_UNITS * numbers.sums)
    else:
        terms = max((value.numel() for value in floats), default=1) / max(min(v.numel() for v in outputs), 1)
        steps = FUNCTION_UNITS * numbers.unit + 2.0 * terms**0.5 * numbers.sums
        found = [4.0 * bound for bound in moved(op, steps)]
    if name in _SQUARES and max((float(_largest(v)) ** 2 * v.numel() for v in floats), default=0.0) >= numbers.largest:
        found = [torch.full_like(bound, torch.inf) for bound in found]
    if name in _CENTRED:
        found[0] = found[0] + _of_centring(op)
    if name == "mul" and floats and (mode.contractions.are_here() or _are_pairs(floats, outputs[0])):
        # A product of matrices, which a GPU may read as these.
        found[0] = found[0] + numbers.operands * outputs[0].abs().nan_to_num(posinf=0.0)
    if name in _ADDS and are_off:
        found[0] = found[0] + 2 * numbers.sums * _largest_part(mode, floats, outputs[0])
    if name in CHAINED:
        # Each level of a tree in place of the chain rounds; of the first two the bound has room.
        levels = max(math.log2(max(mode.depth, 1)) - 2.0, 0.0)
        found[0] = found[0] + levels / 2 * numbers.sums * outputs[0].abs().nan_to_num(posinf=0.0)
    if name in _PERIODIC:
        found = [_over_periods(op, found[0])]
    if name in _MULTIPLIES:
        found[0] = found[0] + _of_parts(op)
    if name in _CANCELS:
        size = FUNCTION_UNITS * numbers.sums * (1.0 + max((float(_largest(v)) for v in floats), default=0.0))
        found = [bound + size for bound in found]
    units = numbers.unit * (1.0 if name in _SUMS or name in _ELEMENTWISE else FUNCTION_UNITS)
    if name in _FUNCTIONS:
        units = max(HALF_FUNCTION_UNITS * numbers.unit, FUNCTION_UNITS * numbers.sums)
    units += 4 * numbers.sums if name in _DIVIDES else 0.0

    least: Any = numbers.least
    if name in _WHOLE and is_float(outputs[0]):
        whole = _are_whole(op)
        least = torch.where(whole, 0.0, least)
        units = torch.where(whole, 0.0, units)

    def rounded(bound: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        size = value.abs().nan_to_num(posinf=0.0, neginf=0.0) if value.is_floating_point() else None
        return bound if size is None else bound + units * size + least

    return [rounded(bound, value) for bound, value in zip(found, outputs)]


def _largest_part(mode: Rounding, floats: list[torch.Tensor], result: torch.Tensor) -> torch.Tensor:
    """Of an addition, the largest operand that was computed: in another order of a chain of additions, as a scan has,
    parts of the sum, and their products with gates, are rounded that are larger than what they come to."""
    parts = (torch.where(mode.bound(v) > 0, v.abs().nan_to_num(posinf=0.0), 0.0) for v in floats)
    return functools.reduce(torch.maximum, parts).expand(result.shape)


def _are_pairs(operands: list[torch.Tensor], result: torch.Tensor) -> bool:
    """Whether a multiplication makes all pairs of two sets of numbers. Elements count that lie in memory each for
    itself: einsum expands its operands before it multiplies them."""
    own = (math.prod(n for n, stride in zip(value.shape, value.stride()) if stride) for value in operands)
    return result.numel() > max(own)


def _of_centring(op: Operation) -> torch.Tensor | float:
    """Of a normalised tensor: two units of each mean, in deviations; the largest result stands for the weights."""
    name, unit, value = op.name, op.mode.numbers.unit, op.args[0]
    result, mean, rstd = op.outputs[:3]
    if mean.numel() == 0:
        return 0.0  # given means are not rounded here
    size = (2 * unit * mean.abs() * rstd).nan_to_num(nan=0.0, posinf=0.0)
    if "layer" not in name:
        size = size if "group" in name else size.view(1, -1)
        size = size.repeat_interleave(value.shape[1] // max(size.shape[1], 1), 1)
        size = size.view(*size.shape, *[1] * (value.dim() - 2))
    largest = _largest(result) if result.numel() else 0.0
    return size.expand(value.shape) * (1.0 + largest)


def _are_whole(op: Operation) -> torch.Tensor:
    """Where whole numbers make one that the type has: nothing is rounded, in whatever order."""
    result = op.outputs[0]
    found = result.abs() <= 1 / op.mode.numbers.unit
    for value in op.args:
        if isinstance(value, torch.Tensor):
            found = found & (value == value.round()) if value.is_floating_point() else found
        elif isinstance(value, float):
            found = found & value.is_integer()
    return found & (result == result.round())


def _of_ties(op: Operation) -> torch.Tensor:
    """Infinity where an index may be that of an equal number."""
    value, (numbers, indices) = op.args[0], op.outputs
    position = 2 if op.name == "topk" else 1
    dim = op.kwargs.get("dim", op.args[position] if len(op.args) > position else -1)
    if not value.dim() or not value.numel():
        return zeros(indices)
    ordered, chosen = value.movedim(dim, -1).sort(-1).values.contiguous(), numbers.movedim(dim, -1).contiguous()
    found = torch.searchsorted(ordered, chosen, right=True) - torch.searchsorted(ordered, chosen)
    return torch.where(found > 1, float("inf"), 0.0).double().movedim(-1, dim)


def _of_parts(op: Operation) -> torch.Tensor:
    """Infinity where a part of a product may overflow or underflow, whatever the whole is: it may begin anywhere."""

    def at_most_1(value: torch.Tensor) -> torch.Tensor:
        return torch.where(value == 0, 1.0, value.abs().clamp(max=1.0)) if is_float(value) else value

    large = op.again(lambda v: v.abs().clamp(min=1.0) if is_float(v) else v)[0]
    small = op.again(at_most_1)[0]
    numbers = op.mode.numbers
    # A zero stays one, wherever a part of finite numbers underflows.
    may_be_lost = (large >= numbers.largest) | ((small < numbers.tiny) & (op.outputs[0] != 0))
    return torch.where(may_be_lost, float("inf"), 0.0)


def _over_periods(op: Operation, bound: torch.Tensor) -> torch.Tensor:
    """The bound, and the range of the function where an operand is off by a part of a period."""
    value, off = op.args[0], op.mode.bound(op.args[0])
    if op.name == "frac":
        return torch.where(torch.trunc(value - off) == torch.trunc(value + off), bound, 2.0)
    return torch.where(off > 0.5, 2.0, bound)


def _largest(value: torch.Tensor) -> torch.Tensor:
    return value.abs().nan_to_num(nan=0.0, posinf=0.0).max()


def _summed(op: Operation, floats: list[torch.Tensor]) -> list[torch.Tensor]:
    """op(|A| + a, |B| + b) - op(|A|, |B|) is what operands that are off by a and b do; op(|A|, |B|) times the errors of
    all terms is what rounding does."""
    mode, name, args, outputs, numbers = op.mode, op.name, op.args, op.outputs, op.mode.numbers
    if name == "cumsum":
        terms = args[0].shape[args[1]] if args[0].dim() else 1
    else:
        largest = max((value.numel() for value in floats), default=1)
        terms = _terms(name, args, largest, max(min(value.numel() for value in outputs), 1))
    each = terms * numbers.sums + (numbers.operands if name in _PRODUCTS else 0.0)
    plain = op.again(lambda v: v.abs() if is_float(v) else v)
    off = op.again(lambda v: v.abs() + mode.bound(v) if is_float(v) else v)
    found = []
    for a, b, value in zip(plain, off, outputs):
        if not value.is_floating_point():
            found.append(zeros(value))
            continue
        size = a.abs()
        # Else a part of the sum may overflow, whatever the whole is, or the whole before a factor makes it smaller.
        fits = SCALED * size < numbers.largest
        found.append(torch.where(fits, each * size, float("inf")) + distance(b, a))
    return found


def _terms(name: str, args: tuple, largest: int, smallest_output: int) -> int:
    """Terms of one element of the result."""
    if name in ("mm", "bmm", "mv", "dot"):
        return int(args[0].shape[-1]) if args[0].dim() else 1
    if name in ("addmm", "addmv", "baddbmm", "addbmm"):
        return int(args[1].shape[-1]) + 1
    if name in ("convolution", "_convolution", "mkldnn_convolution"):
        return int(args[1].numel() // max(args[1].shape[0], 1)) + 1
    return max(largest // smallest_output, 2)
