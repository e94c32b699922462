"""From a rewritten ast to a code object that calls C functions as its constants.

Here:      compiling a function with free variables, putting helpers in place of the constants that stand for them.
Not here:  what is rewritten, and what the helpers do (rewriter.py).
Invariant: the code object names the user's file, function and lines, and no name that the user's function has not.
"""

from __future__ import annotations

import ast
import types
import warnings
from typing import Any

MARK = ".tiletwin."
"""Start of the string constants that stand for functions until the code object exists."""


def compile_function(
    node: ast.FunctionDef, original: types.CodeType, file: str, helpers: dict[str, Any]
) -> types.CodeType:
    """The code object of `node`, with helpers in place of their marks.

    Free variables stay free: the function is compiled inside one that has them. There it has another name, so that its
    own stays the global it is.
    """
    node.name = "." + node.name
    module = ast.parse(f"def outer({', '.join(original.co_freevars)}): pass")
    (outer,) = module.body
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [node]
    ast.copy_location(outer, node)
    ast.fix_missing_locations(module)
    outer_code = next(c for c in compile_marked(module, file).co_consts if isinstance(c, types.CodeType))
    code = next(c for c in outer_code.co_consts if isinstance(c, types.CodeType))
    return with_helpers(code, helpers).replace(co_name=original.co_name, co_qualname=original.co_qualname)


def compile_marked(module: ast.Module, file: str) -> types.CodeType:
    """The code object of a module whose text calls marks; Python would warn that they, strings, cannot be called."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(module, file, "exec", dont_inherit=True)


def with_helpers(code: types.CodeType, table: dict[str, Any]) -> types.CodeType:
    """`code` with each mark among its constants replaced by the helper it names, in nested code objects too."""

    def replaced(constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return with_helpers(constant, table)
        if isinstance(constant, str) and constant.startswith(MARK):
            return table[constant.removeprefix(MARK)]
        if isinstance(constant, tuple):  # folded: `x[None, :]`
            return tuple(map(replaced, constant))
        return constant

    return code.replace(co_consts=tuple(replaced(c) for c in code.co_consts))
