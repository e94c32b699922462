"""Declarations: assertions, printing, and facts told to the compiler.

The device_ functions and hints are implemented in frontend/; the static_ ones are the Python bodies below.
"""

# Declarations have no body: what they return is the semantic layer's.
# pyright: reportReturnType=false, reportArgumentType=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiletwin._C import constexpr, tensor
from tiletwin.dtypes import unwrap
from tiletwin.errors import CompileTimeAssertionFailure
from tiletwin.language.declare import Mask, Operand, builtin

__all__ = [
    "assume", "debug_barrier", "device_assert", "device_print", "expect_zero", "max_constancy", "max_contiguous",
    "multiple_of", "static_assert", "static_print",
]  # fmt: skip


@builtin(python=True)
def static_assert(cond: Operand, msg: str | constexpr = "") -> None:
    """Fails the compilation with CompileTimeAssertionFailure and `msg` unless the compile-time value cond is true."""
    cond, msg = unwrap(cond), unwrap(msg)
    if isinstance(cond, tensor):
        raise TypeError("tl.static_assert needs a condition known at compile time; use tl.device_assert for tensors")
    if not cond:
        raise CompileTimeAssertionFailure(f"static assertion failed{': ' if msg else ''}{msg}")


@builtin(python=True)
def static_print(*values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False) -> None:
    """Prints `values` while the kernel is being compiled; arguments as of Python's print."""
    shown = [unwrap(v) for v in values]
    print(*shown, sep=unwrap(sep), end=unwrap(end), file=unwrap(file), flush=unwrap(flush))


@builtin
def device_print(prefix: str, *args: Any, hex: bool = False) -> None:
    """Prints each element of each argument at run time, one line each, with program id, index and `prefix`.

    prefix: compile-time printable ASCII. hex: integers in hexadecimal.
    """


@builtin
def device_assert(cond: Operand, msg: str = "", mask: Mask = None) -> None:
    """Fails at run time with `msg`, program id and element where `cond` (int1 or integer) is zero and mask is not.

    Only compiled in with debug=True. A Python `assert` in a kernel is the same.
    """


@builtin
def debug_barrier() -> None:
    """All threads of a program wait for each other; nothing to do where a program runs on one thread."""


@builtin
def assume(cond: tensor) -> None:
    """Tells the compiler that the 0-d int1 `cond` holds. If it does not, what follows is undefined."""


@builtin
def multiple_of(input: tensor, values: int | constexpr | Sequence[int]) -> tensor:
    """`input`, with the promise that the first of each run of contiguous elements is a multiple of `values`.

    values: a compile-time int for each dimension.
    """


@builtin
def max_contiguous(input: tensor, values: int | constexpr | Sequence[int]) -> tensor:
    """`input`, with the promise that each `values` elements (one int a dimension) are consecutive numbers."""


@builtin
def max_constancy(input: tensor, values: int | constexpr | Sequence[int]) -> tensor:
    """`input`, with the promise that each `values` elements (one int a dimension) are equal."""


@builtin
def expect_zero(x: tensor, mask: tensor) -> tensor:
    """`x`, with the promise that it is zero where the int1 block `mask` is 0."""
