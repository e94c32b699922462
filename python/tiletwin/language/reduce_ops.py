"""Declarations: matrix products, reductions, scans, counting. Implemented in frontend/."""

# Declarations have no body: what they return is the semantic layer's.
# pyright: reportReturnType=false, reportArgumentType=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiletwin._C import constexpr, tensor
from tiletwin.dtypes import dtype, float32
from tiletwin.language.declare import builtin

__all__ = ["associative_scan", "dot", "dot_scaled", "histogram", "reduce"]


@builtin
def dot(
    input: tensor,
    other: tensor,
    acc: tensor | None = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: dtype | None = None,
) -> tensor:
    """The matrix product input @ other, plus acc: (..., M, K) x (..., K, N) -> (..., M, N).

    Element types: both int8, float16, bfloat16, float32 or float64, or any two of fp8.
    The sum has int32 for int8, float64 for float64, float32 for float32 and bfloat16, and for float16 and fp8
    out_dtype: float32 (default) or float16. acc has that type.
    input_precision: "tf32" (default), "tf32x3", "ieee", "bf16x3" or "bf16x6": how float32 operands are rounded.
    allow_tf32: old spelling of "tf32" or "ieee"; only one of the two may be given.
    max_num_imprecise_acc: fp8 only; how many products are summed before they go to the full accumulator; <= K.
    K has a minimum: 32 bytes. Errors: ValueError naming both shapes or types.
    """


@builtin
def dot_scaled(
    lhs: tensor,
    lhs_scale: tensor | None,
    lhs_format: str,
    rhs: tensor,
    rhs_scale: tensor | None,
    rhs_format: str,
    acc: tensor | None = None,
    fast_math: bool = False,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    out_dtype: dtype = float32,
) -> tensor:
    """The matrix product of microscaled operands: (lhs * lhs_scale) @ (rhs * rhs_scale) + acc, as float32.

    lhs_format, rhs_format: "e2m1" (two values in a uint8, the low half first), "e4m3", "e5m2", "bf16", "fp16".
    lhs_scale: uint8 exponents of shape (M, K / 32); rhs_scale: (N, K / 32); None: no scale.
    lhs_k_pack, rhs_k_pack: e2m1 pairs lie along K (True) or along M, N.
    """


@builtin
def reduce(
    input: tensor | tuple[tensor, ...],
    axis: int | constexpr | None,
    combine_fn: Callable[..., Any],
    keep_dims: bool | constexpr = False,
) -> tensor | tuple[tensor, ...]:
    """Combines the elements along `axis` pairwise by the jit function `combine_fn` until one is left.

    input: a block, or a tuple of blocks of one shape, combined together: combine_fn takes one element of each of
    the left, then of the right operand, and returns as many. It must be associative and commutative; the order is
    not specified. axis=None: over all elements. keep_dims: the axis stays, with size 1.
    Returns a block without that axis (0-d if none is left), or a tuple of them.
    """


@builtin
def associative_scan(
    input: tensor | tuple[tensor, ...],
    axis: int | constexpr,
    combine_fn: Callable[..., Any],
    reverse: bool | constexpr = False,
) -> tensor | tuple[tensor, ...]:
    """Inclusive prefix combination along `axis` by the associative jit function `combine_fn`; see `reduce`.

    reverse: starts at the end. The result has the shape of input.
    """


@builtin
def histogram(input: tensor, num_bins: int | constexpr, mask: tensor | None = None) -> tensor:
    """How often each of 0, ..., num_bins - 1 occurs in a 1-D block of 32-bit integers: int32 of shape (num_bins,).

    mask: int1 of the same shape; elements with 0 do not count. Values outside the bins are not counted.
    """
