"""Which mode a launch takes.

Compiled, unless: TILETWIN_EAGER=1; the kernel (or a jit function it calls) stops in a debugger or calls a plain Python
function; a debugger with a breakpoint in one of them is active. A tracer without breakpoints, such as coverage, changes
nothing.
Also here: which statements and functions are plain Python, for launches that run some programs compiled.
Not here: running it (runtime/), TILETWIN_PROGRAM (runtime/).
"""

from __future__ import annotations

import ast
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

from tiletwin.runtime.source import outer_names, resolve

STOPPERS = frozenset({"breakpoint", "set_trace"})
COMPILE_TIME_MODULES = frozenset({"builtins", "math", "_operator"})
"""Modules written in C whose functions kernels call on compile-time values while they are compiled."""
ARRAY_PACKAGES = frozenset({"numpy", "torch"})
"""Packages whose functions written in C compute on their own arrays: they cannot take a kernel's values."""


def reason_for_eager(fn: Any) -> str | None:
    """Why a launch of `fn`, a JITFunction, must be eager, as part of a sentence; None: it is compiled."""
    if os.environ.get("TILETWIN_EAGER", "0") not in ("", "0"):
        return "TILETWIN_EAGER is set"
    static = fn.__dict__.get("_eager_reason", False)
    if static is False:
        static = fn._eager_reason = static_reason(fn)
    if static is not None:
        return static
    if sys.gettrace() is not None or "pydevd" in sys.modules:
        for function in reachable(fn):
            line = _breakpoint_in(function)
            if line:
                return f"a debugger has a breakpoint at {os.path.basename(function.file)}:{line}"
    return None


def reachable(fn: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """`fn` and the jit functions of the user's that it names, directly or not."""
    from tiletwin.runtime.jit import JITFunction

    seen = set() if seen is None else seen
    if id(fn) in seen or fn.__module__.startswith("tiletwin."):
        return
    seen.add(id(fn))
    yield fn
    scope = fn.globals
    for name in outer_names(fn.fn.__code__):
        value = scope.get(name)
        for callee in vars(value).values() if isinstance(value, type) else (value,):
            if isinstance(callee, JITFunction):
                yield from reachable(callee, seen)


def static_reason(fn: Any) -> str | None:
    """Why the kernel's text needs eager mode, whatever the environment says; None: it does not."""
    for function in reachable(fn):
        names = function.fn.__code__.co_names
        stopper = next((name for name in names if name in STOPPERS), None)
        if stopper:
            return f"{function.__name__} calls {stopper}()"
        plain = plain_call(function)
        if plain:
            return f"{function.__name__} calls the Python function {plain}()"
    return None


def plain_call(function: Any) -> str | None:
    """Name of the first plain Python function that `function`, a JITFunction, calls; None: it calls none."""
    scope = function.globals
    outside = [scope.get(name) for name in outer_names(function.fn.__code__)]
    if not any(is_plain(value) or isinstance(value, types.ModuleType) for value in outside):
        return None
    for node in (node for statement in function.ast.body for node in ast.walk(statement)):  # decorators ran already
        if isinstance(node, ast.Call) and is_plain(resolve(node.func, scope)):
            return ast.unparse(node.func)
    return None


def is_plain(value: Any) -> bool:
    """A Python function of the user's or of a library: not one of the language, which work while compiling."""
    if isinstance(value, types.BuiltinFunctionType):
        module = str(value.__module__ or "builtins")
        if module.split(".")[0] in ARRAY_PACKAGES:
            return False  # a mistake; the front end says what to call instead
        return module not in COMPILE_TIME_MODULES and not module.startswith("tiletwin")
    if not isinstance(value, types.FunctionType):
        return False
    module = value.__module__ or ""
    if module == "tiletwin.debug":
        return True
    return not module.startswith(("tiletwin.", "triton.")) and module not in ("tiletwin", "triton")


def is_python_only(statement: ast.stmt, scope: dict[str, Any]) -> bool:
    """A statement that only calls Python: breakpoint(), print(...), print_if(...), import pdb."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    function = statement.value.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name in STOPPERS or (name == "print" and isinstance(function, ast.Name)):
        return True
    return is_plain(resolve(function, scope))


def _breakpoint_in(function: Any) -> int | None:
    """Line of a breakpoint that pdb (bdb) or pydevd (debugpy, PyCharm) has inside the function."""
    first = function.first_line
    last = first + len(function.source_lines)
    bdb = sys.modules.get("bdb")
    if bdb is not None:
        canonical = os.path.normcase(os.path.abspath(function.file))
        for (file, line), points in bdb.Breakpoint.bplist.items():
            if (
                first <= line < last
                and any(p.enabled for p in points)
                and os.path.normcase(os.path.abspath(file)) == canonical
            ):
                return line
    pydevd = sys.modules.get("pydevd")
    debugger = pydevd.get_global_debugger() if pydevd is not None and hasattr(pydevd, "get_global_debugger") else None
    for file, points in getattr(debugger, "breakpoints", {}).items():
        if os.path.realpath(file) == os.path.realpath(function.file):
            for line in points:
                if first <= line < last:
                    return line
    return None
