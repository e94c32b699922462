"""How a language builtin is declared.

Here:      the decorator, types of parameters. A declaration is a Python function with signature, hints and docstring
           and no body; its implementation is the row of the same name in the semantic layer's table
           (frontend/Builtins.h).
           With `python=True` the Python body is the implementation: helpers that only work at compile time.
Invariant: names are unique over all declaring modules, whatever module a declaration stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiletwin import _C
from tiletwin._C import constexpr, tensor

Operand = tensor | constexpr | bool | int | float
"""What arithmetic takes: values of a kernel, compile-time values, numbers of Python."""
Whole = tensor | constexpr | int
"""A whole number, known at run time or while the kernel is compiled."""
Mask = tensor | constexpr | bool | int | None
"""Of int1, broadcast; None: every element."""
Word = str | constexpr | None
"""One of the words that a parameter takes; None: its default."""


def builtin(function: Callable | None = None, *, python: bool = False) -> Any:
    """Declares `function` as a builtin of the language; see the module's text."""
    if function is None:
        return lambda f: builtin(f, python=python)
    return _C.builtin(function, python=python)


def library_function(name: str, count: int, call: Callable[..., Any], doc: str) -> Any:
    """A builtin of `count` arguments, arg0 and so on, that is a call of `call` while a kernel is compiled."""
    functions: dict[int, Callable] = {
        1: lambda arg0: call(arg0),
        2: lambda arg0, arg1: call(arg0, arg1),
        3: lambda arg0, arg1, arg2: call(arg0, arg1, arg2),
        4: lambda arg0, arg1, arg2, arg3: call(arg0, arg1, arg2, arg3),
    }
    function = functions[count]
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = doc, call.__module__
    return builtin(function, python=True)
