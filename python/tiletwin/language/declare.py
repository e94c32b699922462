"""How a language builtin is declared.

Here:      the decorator. A declaration is a Python function with signature, hints and docstring and no body; its
           implementation is the row of the same name in the semantic layer's table (frontend/Builtins.h).
           With `python=True` the Python body is the implementation: helpers that only work at compile time.
Invariant: names are unique over all declaring modules, whatever module a declaration stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiletwin import _C


def builtin(function: Callable | None = None, *, python: bool = False) -> Any:
    """Declares `function` as a builtin of the language; see the module's text."""
    if function is None:
        return lambda f: builtin(f, python=python)
    return _C.builtin(function, python=python)
