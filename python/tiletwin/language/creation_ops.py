"""Declarations: program ids, new blocks, conversions of element types. Implemented in frontend/."""

# Declarations have no body: what they return is the semantic layer's.
# pyright: reportReturnType=false, reportArgumentType=false
from __future__ import annotations

from collections.abc import Sequence

from tiletwin._C import constexpr, tensor
from tiletwin.dtypes import dtype
from tiletwin.language.declare import Operand, builtin

__all__ = ["arange", "cast", "full", "num_programs", "program_id", "to_tensor"]


@builtin
def to_tensor(x: Operand) -> tensor:
    """`x` as a tensor; a tensor is returned as it is.

    A compile-time number becomes a 0-d tensor: bool int1; int the first of int32, uint32, int64, uint64 that holds
    it; float float32, or float64 if it is not a normal float32. Errors: ValueError, an int of more than 64 bits.
    """


@builtin
def program_id(axis: int | constexpr) -> tensor:
    """Number of the running program along `axis` (compile-time 0, 1 or 2) of the grid: 0-d int32.

    Errors: ValueError, any other axis.
    """


@builtin
def num_programs(axis: int | constexpr) -> tensor:
    """Number of programs along `axis` (compile-time 0, 1 or 2) of the grid: 0-d int32.

    Errors: ValueError, any other axis.
    """


@builtin
def arange(start: int | constexpr, end: int | constexpr) -> tensor:
    """The integers start, ..., end - 1 as an int32 block of shape (end - start,).

    start, end: compile-time ints that fit int32, start < end, end - start a power of two.
    Errors: ValueError otherwise.
    """


@builtin
def full(shape: Sequence[int], value: Operand, dtype: dtype) -> tensor:
    """A block of that shape and element type with `value` in every element.

    shape: compile-time powers of two; () gives a 0-d tensor. value: a number, or a 0-d tensor, which is cast.
    Errors: ValueError, dtype is None for a number, or a value that is not 0-d.
    """


@builtin
def cast(input: tensor, dtype: dtype, fp_downcast_rounding: str | None = None, bitcast: bool = False) -> tensor:
    """`input` with every element converted to `dtype`. Also a method: `x.cast(dtype)`, `x.to(dtype)`.

    Integers wrap to narrower ones; floats truncate toward zero to integers; anything to int1 asks "is it not zero".
    A pointer converts to int64 and back, to a pointer of another type, and to int1.
    fp_downcast_rounding: "rtne" (default) or "rtz", for conversions to a narrower float only.
    bitcast: keep the bits instead; both types need equal widths.
    Errors: ValueError, a rounding mode where nothing is rounded; fp8 with an integer; unequal widths of a bitcast.
    """
