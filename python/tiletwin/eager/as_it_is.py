"""Jit functions whose text is not known: made by `exec` in another process, unpickled, written as bytecode.

Here:      the function that turns arguments into values of the language and calls the user's function itself.
Not here:  texts that are found (kernels/given_text.py), the rewrite of those (rewriter.py).
Invariant: what Python alone does differs from the language as in Triton's interpreter: `x = 5` stays a Python number,
           `and`, `or` and `not` look at values, a loop may change a variable's type.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tiletwin import _C


def as_it_is(fn: Any) -> Callable[..., Any]:
    """A function that runs `fn`, a JITFunction, under an eager builder: its own code, on values of the language."""
    signature: inspect.Signature = fn.signature
    constants = {p.name for p in fn.params if p.is_constexpr}

    @functools.wraps(fn.fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            bound.arguments[name] = _C.eager_constant(value) if name in constants else _C.eager_parameter(value)
        return fn.fn(*bound.args, **bound.kwargs)

    return run
