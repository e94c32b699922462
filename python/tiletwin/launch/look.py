"""A look at the variables of a compiled program, in the user's debugger: a frame that stands at the line and has them.

Here:      the code object of such a frame; the extension runs it (python/src/ProbeCalls.cpp), so that no frame of the
           package lies between it and the line that launched.
Not here:  where the values come from, what the user reads about it (tiletwin.debug).
Invariant: file, function and line are the kernel's; its locals are the variables, and nothing runs in it but the stop.
"""

from __future__ import annotations

import ast
import sys

from tiletwin.eager.breaks import STOPS_AT_ONCE
from tiletwin.eager.code_objects import MARK, compile_marked, with_helpers


def frame_at(file: str, line: int, function: str, names: tuple, values: tuple, scope: dict) -> tuple:
    """(code, globals, locals) of a frame that stops in the debugger at file:line.

    scope: the globals that expressions at the prompt see, beside `names` with `values`.
    """
    stop = ast.Expr(ast.Call(func=ast.Constant(MARK + "stop"), args=[], keywords=[]))
    here: list[ast.stmt] = [stop, ast.Pass()]
    for at, node in zip((line if STOPS_AT_ONCE else line + 1, line), here):
        for part in ast.walk(node):
            part.lineno = part.end_lineno = at  # type: ignore[attr-defined]
            part.col_offset = part.end_col_offset = 0  # type: ignore[attr-defined]
    code = compile_marked(ast.Module(body=here, type_ignores=[]), file)
    code = with_helpers(code, {"stop": sys.breakpointhook}).replace(co_name=function, co_qualname=function)
    return code, dict(scope), dict(zip(names, values))
