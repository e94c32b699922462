"""Which mode a launch takes.

Compiled, unless: TILETWIN_EAGER=1; the kernel (or a jit function it calls) stops in a debugger, calls a plain Python
function or has no text; a debugger with a breakpoint in one of them is active. A tracer without breakpoints, such as
coverage, changes nothing.
Also here: which statements and functions are plain Python, for launches that run some programs compiled.
Not here: running it (runtime/), TILETWIN_PROGRAM (runtime/).
"""

from __future__ import annotations

import ast
import dis
import functools
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

from tiletwin import _C, variables
from tiletwin.eager import breaks
from tiletwin.eager.stops import Stop, debugger_stops, text_stops
from tiletwin.kernels.source import resolve
from tiletwin.version import NAME, is_own_module

_IMPORT = dis.opmap["IMPORT_NAME"]
STOPPERS = frozenset({"breakpoint", "set_trace"})
COMPILE_TIME_MODULES = frozenset({"builtins", "math", "_operator"})
"""Modules written in C whose functions kernels call on compile-time values while they are compiled."""
ARRAY_PACKAGES = frozenset({"numpy", "torch"})
"""Packages whose functions written in C compute on their own arrays: they cannot take a kernel's values."""


def reason_for_eager(fn: Any) -> str | None:
    """Why a launch of `fn`, a JITFunction, must be eager, as part of a sentence; None: it is compiled."""
    if is_forced():
        return "TILETWIN_EAGER is set"
    static = fn.__dict__.get("_eager_reason", False)
    if static is False:
        static = fn._eager_reason = static_reason(fn)
    if static is not None:
        return static
    if variables.get(breaks.VARIABLE):
        for function in reachable(fn):
            for line in breaks.lines_in(function):
                return f"{breaks.VARIABLE} asks for {os.path.basename(function.file)}:{line}"
    if _C.user_trace() is not None or "pydevd" in sys.modules:
        for stop in debugger_stops(list(reachable(fn))):
            return f"a debugger has a breakpoint at {stop.place}"
    return None


def is_forced() -> bool:
    """Whether TILETWIN_EAGER asks for eager mode."""
    return variables.is_on("TILETWIN_EAGER")


def current_stops(functions: list[Any], with_text: bool) -> tuple[Stop, ...]:
    """Where these jit functions stop or look as things stand: breakpoints of a debugger, TILETWIN_BREAK, and
    with_text: their own statements that only call Python."""
    found = list(debugger_stops(functions))
    for function in functions:
        found += [Stop(function, line, ()) for line in breaks.lines_in(function)]
        if with_text:
            found += text_stops(function, functools.partial(is_python_only, scope=function.globals))
    return tuple(found)


def reachable(fn: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """`fn` and the jit functions of the user's that it names, directly or not."""
    from tiletwin.kernels.jit import JITFunction

    seen = set() if seen is None else seen
    if id(fn) in seen or is_own_module(fn.__module__):
        return
    seen.add(id(fn))
    yield fn
    scope = fn.globals
    for name in fn.outer_names:
        value = scope.get(name)
        for callee in vars(value).values() if isinstance(value, type) else (value,):
            if isinstance(callee, JITFunction):
                yield from reachable(callee, seen)


def static_reason(fn: Any) -> str | None:
    """Why the kernel's text needs eager mode, whatever the environment says; None: it does not."""
    for function in reachable(fn):
        if not function.has_text:
            return f"the text of {function.__name__} was not found, so Python runs the function as it is"
        names = function.fn.__code__.co_names
        if _IMPORT in function.fn.__code__.co_code[::2]:
            return f"{function.__name__} imports a module"
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
    if not _can_name_plain(function.fn.__code__, [scope.get(name) for name in function.outer_names]):
        return None
    for node in (node for statement in function.ast.body for node in ast.walk(statement)):  # decorators ran already
        if isinstance(node, ast.Call) and is_plain(resolve(node.func, scope)):
            return ast.unparse(node.func)
    return None


def _can_name_plain(code: types.CodeType, outside: list[Any]) -> bool:
    """Whether what code reads from outside, or the attributes that it names below modules among that, include a plain
    function. Only names are looked at, in any order: most kernels know `tl` alone, and need no walk over their text."""
    attributes, nested = set(code.co_names), [code]
    for inner in nested:
        attributes.update(inner.co_names)
        nested += [constant for constant in inner.co_consts if isinstance(constant, types.CodeType)]
    modules = []
    for value in outside:
        if is_plain(value):
            return True
        if isinstance(value, types.ModuleType):
            modules.append(value)
    for module in modules:
        members = vars(module)
        if "__getattr__" in members and not module.__name__.startswith(NAME):
            return True  # whatever it makes of a name
        for name in attributes & members.keys():
            value = members[name]
            if is_plain(value):
                return True
            if isinstance(value, types.ModuleType) and value not in modules:
                modules.append(value)
    return False


def is_plain(value: Any) -> bool:
    """A Python function of the user's or of a library: not one of the language, which work while compiling."""
    if isinstance(value, types.BuiltinFunctionType):
        module = str(value.__module__ or "builtins")
        if module.split(".")[0] in ARRAY_PACKAGES:
            return False  # a mistake; the front end says what to call instead
        return module not in COMPILE_TIME_MODULES and not module.startswith(NAME)
    if not isinstance(value, types.FunctionType):
        return False
    module = value.__module__ or ""
    return not is_own_module(module) and not module.startswith("triton.") and module not in (NAME, "triton")


def is_helper(value: Any) -> bool:
    """tiletwin.print_if or breakpoint_if, which compiled kernels keep as probes."""
    return value is _C.print_if or value is _C.breakpoint_if


def has_python_only(fn: Any) -> bool:
    """Whether `fn`, or a jit function that it calls, has statements that only call Python."""
    return any(
        is_python_only(node, function.globals)
        for function in reachable(fn)
        for statement in function.ast.body
        for node in ast.walk(statement)
        if isinstance(node, ast.stmt)
    )


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
    value = resolve(function, scope)
    return is_plain(value) or is_helper(value)
