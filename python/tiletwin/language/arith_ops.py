"""Declarations: elementwise arithmetic, selection, and escapes to other code. Implemented in frontend/."""

# Declarations have no body: what they return is the semantic layer's.
# pyright: reportReturnType=false, reportArgumentType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from tiletwin._C import constexpr, tensor
from tiletwin.dtypes import dtype
from tiletwin.language.declare import Operand, builtin

__all__ = [
    "PropagateNan", "add", "clamp", "inline_asm_elementwise", "map_elementwise", "maximum", "minimum", "mul", "sub",
    "where",
]  # fmt: skip
"""What `triton.language` has of this module."""


class PropagateNan(Enum):
    """What maximum, minimum and clamp do with a NaN operand: drop it if the other is a number, or return NaN."""

    NONE = 0
    ALL = 0xFFFF


Nan = PropagateNan | constexpr


@builtin
def add(x: Operand, y: Operand, sanitize_overflow: bool | constexpr = True) -> tensor:
    """x + y by the language's promotion; pointers take integer offsets.

    sanitize_overflow: with debug=True, integer overflow below 64 bits fails an assertion. False: it wraps silently.
    """


@builtin
def sub(x: Operand, y: Operand, sanitize_overflow: bool | constexpr = True) -> tensor:
    """x - y; see `add`."""


@builtin
def mul(x: Operand, y: Operand, sanitize_overflow: bool | constexpr = True) -> tensor:
    """x * y; see `add`. Pointers are an error."""


@builtin
def minimum(x: Operand, y: Operand, propagate_nan: Nan = PropagateNan.NONE) -> tensor:
    """The smaller of x and y in each element, in the promoted type and shape.

    propagate_nan: NONE, a number wins against NaN; ALL, NaN wins. Floats only.
    """


@builtin
def maximum(x: Operand, y: Operand, propagate_nan: Nan = PropagateNan.NONE) -> tensor:
    """The larger of x and y in each element, in the promoted type and shape.

    propagate_nan: NONE, a number wins against NaN; ALL, NaN wins. Floats only.
    """


@builtin
def clamp(x: Operand, min: Operand, max: Operand, propagate_nan: Nan = PropagateNan.NONE) -> tensor:
    """x limited to [min, max] in each element; the three are promoted together. Undefined if min > max.

    propagate_nan: ALL, a NaN in x stays; NONE, it becomes a bound. Errors: TypeError, integers.
    """


@builtin
def where(condition: Operand, x: Operand, y: Operand) -> tensor:
    """x where condition is not zero, y elsewhere; all three are broadcast, x and y promoted as by +.

    Both x and y are always computed: to guard an access, mask it.
    """


@builtin
def logical_and(x: Operand, other: Operand) -> tensor:
    """Both operands as int1, and-ed; both are computed. What `and` means for tensors in a kernel."""


@builtin
def logical_or(x: Operand, other: Operand) -> tensor:
    """Both operands as int1, or-ed; both are computed. What `or` means for tensors in a kernel."""


@builtin
def map_elementwise(
    scalar_fn: Callable[..., Any], *args: tensor, pack: int | constexpr = 1
) -> tensor | tuple[tensor, ...]:
    """Calls the jit function `scalar_fn` on the elements of `args`, which are broadcast to one shape.

    scalar_fn takes `pack` scalars of each argument, argument by argument, and returns as many of each result, so it
    may branch per element. Returns a block, or a tuple of blocks, of the common shape.
    """


@builtin
def inline_asm_elementwise(
    asm: str,
    constraints: str,
    args: Sequence[Operand],
    dtype: dtype | Sequence[dtype],
    is_pure: bool,
    pack: int,
) -> tensor | tuple[tensor, ...]:
    """Runs PTX text on `pack` elements at a time.

    asm: the text; $0, $1, ... are results, then operands. constraints: LLVM's, such as "=r,r,r".
    args: tensors, broadcast to one shape. dtype: of the result, or one for each of several results.
    is_pure: may be removed if unused. Only 32-bit registers are packed when elements are narrower.
    """


@builtin
def extern_elementwise(lib_name: str, lib_path: str, args: list, arg_type_symbol_dict: dict, is_pure: bool) -> tensor:
    """Calls an external function on each element.

    arg_type_symbol_dict: {(dtype of each argument, ...): (symbol, result dtype)}; the row that equals the
    arguments' element types is taken. args: broadcast to one shape; numbers become tensors first.
    Errors: KeyError, no row for these types; ValueError, wrong number of arguments.
    """


@builtin
def builtin_max(*args: Operand, propagate_nan: Nan | None = None) -> tensor | constexpr:
    """What `max(a, b, ...)` means in a kernel: `maximum` of them; compile-time numbers give a compile-time number."""


@builtin
def builtin_min(*args: Operand, propagate_nan: Nan | None = None) -> tensor | constexpr:
    """What `min(a, b, ...)` means in a kernel: `minimum` of them; compile-time numbers give a compile-time number."""
