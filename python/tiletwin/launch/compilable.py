"""What a GPU's compiler would refuse of a kernel that only Python has run.

Here:      one compilation behind the first such launch of a kernel, and what becomes of its error.
Not here:  which programs Python runs (eager_launch.py), limits of GPUs (devices.py).
Invariant: a kernel is looked at once in a process. Statements that only call Python (print, breakpoint()) are no part
           of what is compiled: they are there to debug.
"""

from __future__ import annotations

import ast
import linecache
import sys
from typing import Any

from tiletwin.eager.decide import reachable
from tiletwin.errors import CompilationError
from tiletwin.kernels.jit import JITFunction


def look(fn: JITFunction, without_python: JITFunction, arguments: dict[str, Any], options: dict[str, Any]) -> None:
    """Compiles `without_python`, which is `fn` as a compiler is to see it, for a launch with these arguments. What is
    refused is a finding of the check `device` where that is asked for, and else said once on stderr.

    Errors: CheckError, TILETWIN_CHECK has the word raise.
    """
    if fn.__dict__.get("_compilable_known"):
        return
    fn.__dict__["_compilable_known"] = True
    try:
        _refuse_imports(fn, without_python)
        args, kwargs = without_python.as_call(arguments)
        without_python._launcher.prepare(*args, **kwargs, **options)
    except CompilationError as error:
        _tell(fn, error)


def _refuse_imports(fn: JITFunction, without_python: JITFunction) -> None:
    """Modules that a kernel imports for more than debugging. Errors: CompilationError."""
    kept = {function.__name__: function for function in reachable(without_python)}
    for function in reachable(fn):
        left = kept.get(function.__name__, function)
        used = {node.id for statement in left.ast.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
        for node in ast.walk(function.ast):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            if used & names:
                message = "a kernel cannot import: import it at the top of the file"
                line = linecache.getline(function.file, node.lineno).rstrip("\n")
                raise CompilationError(message, function.file, node.lineno, node.col_offset, line)


def _tell(fn: JITFunction, error: CompilationError) -> None:
    from tiletwin import checks

    why = (error.error_message or "").strip() or type(error).__name__
    advice = (
        "write it in the language, pass what it needs as an argument or tl.constexpr, or compute it before the launch"
    )
    if not checks.wanted().device:
        print(
            f"tiletwin: {fn.__name__} ran in Python, where all of Python works; a GPU's compiler refuses it:\n{error}",
            file=sys.stderr,
        )
        return
    place = (error.file, error.line or 0, (error.column or 0) + 1, None, None)
    message = f"ran in Python; a GPU's compiler refuses it: {why}"
    parts = ("compile", place, message, advice, None, 0, (), (), 0, None, False)
    checks.submit([checks.from_parts(fn.__name__, parts)])
