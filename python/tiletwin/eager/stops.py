"""Where a debugger, or the kernel's own text, stops or looks; and for which programs that can be.

Here:      breakpoints of pdb (bdb) and pydevd (debugpy, PyCharm) in a kernel and in what it calls; statements that only
           call Python, with the tests of `if` around them; the programs for which such a condition holds.
Not here:  why a kernel is eager (decide.py), running it (runtime/).
Idea:      a condition that depends on program ids, scalars and compile-time values only can be computed for each
           program by a few operations: the statements that define its names. Programs for which it is false cannot
           stop, and run compiled.
Invariant: a program that could stop is always among those that are found: what is not understood holds.
"""

from __future__ import annotations

import ast
import copy
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tiletwin import _C

PURE = frozenset({
    "program_id", "num_programs", "cdiv", "min", "max", "minimum", "maximum", "swizzle2d", "where", "to", "cast", "abs",
    "int", "bool", "float", "arange", "full", "zeros", "multiple_of", "max_contiguous", "len",
})  # fmt: skip
"""Functions that a statement may call that is computed to find out which programs stop: they touch no memory."""


class Stop(NamedTuple):
    """A place that programs reach only if all conditions hold."""

    function: Any
    """The JITFunction that the line is in."""
    line: int
    conditions: tuple[tuple[str, bool], ...]
    """Python expressions over the function's names there, and whether each is to be true or false."""

    @property
    def place(self) -> str:
        return f"{os.path.basename(self.function.file)}:{self.line}"


# ---- debuggers ----


def same_file(a: str, b: str) -> bool:
    return os.path.normcase(os.path.realpath(a)) == os.path.normcase(os.path.realpath(b))


def debugger_lines(file: str) -> Iterator[tuple[int, str | None]]:
    """Lines of a file with a breakpoint that is switched on, each with its condition."""
    bdb = sys.modules.get("bdb")
    if bdb is not None:
        for (name, line), points in list(bdb.Breakpoint.bplist.items()):
            if same_file(name, file):
                yield from ((line, point.cond) for point in points if point.enabled)
    pydevd = sys.modules.get("pydevd")
    debugger = pydevd.get_global_debugger() if pydevd is not None and hasattr(pydevd, "get_global_debugger") else None
    for name, points in list(getattr(debugger, "breakpoints", {}).items()):
        if same_file(name, file):
            for line, point in list(points.items()):
                condition = getattr(point, "condition", None)
                yield line, condition if condition and condition != "None" else None


def debugger_stops(functions: list[Any]) -> tuple[Stop, ...]:
    """Breakpoints in these JITFunctions."""
    found = []
    known: dict[str, list] = {}
    for function in functions:
        lines = known.setdefault(function.file, list(debugger_lines(function.file)))
        first, last = function.first_line, function.first_line + len(function.source_lines)
        found += [Stop(function, line, ((cond, True),) if cond else ()) for line, cond in lines if first <= line < last]
    return tuple(found)


def is_stepping() -> bool:
    """Whether pdb's `step` was the last command: it goes into whatever is called next."""
    bdb = sys.modules.get("bdb")
    owner = getattr(_C.user_trace(), "__self__", None)
    return bdb is not None and isinstance(owner, bdb.Bdb) and getattr(owner, "stopframe", False) is None


# ---- the kernel's own text ----


def text_stops(function: Any, is_python_only: Callable[[ast.stmt], bool]) -> tuple[Stop, ...]:
    """Statements of a JITFunction that only call Python."""
    found: list[Stop] = []

    def visit(statements: list[ast.stmt], conditions: tuple[tuple[str, bool], ...]) -> None:
        for statement in statements:
            if is_python_only(statement) and not isinstance(statement, (ast.Import, ast.ImportFrom)):
                found.append(Stop(function, statement.lineno, conditions))
            elif isinstance(statement, ast.If):
                test = ast.unparse(statement.test)
                visit(statement.body, (*conditions, (test, True)))
                visit(statement.orelse, (*conditions, (test, False)))
            elif isinstance(statement, (ast.For, ast.While, ast.With)):
                visit(statement.body, conditions)

    visit(function.ast.body, ())
    return tuple(found)


# ---- which programs ----


def names_in(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def is_computable(statement: ast.stmt) -> bool:
    """A plain assignment of something that touches no memory."""
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or statement.value is None:
        return False
    for node in ast.walk(statement.value):
        if isinstance(node, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(node, ast.Call) and not _calls_pure(node):
            return False
    return True


def definitions(body: list[ast.stmt], line: int, names: set[str], parameters: set[str]) -> list[ast.stmt] | None:
    """The statements of a function's body that give `names` their values at `line`; None: that depends on more."""
    needed = set(names)
    kept: list[ast.stmt] = []
    for statement in reversed([s for s in body if s.lineno < line]):
        bound = names_in(statement, ast.Store)
        if not bound & needed:
            continue
        if not is_computable(statement):
            return None
        kept.insert(0, statement)
        if not isinstance(statement, ast.AugAssign):
            needed -= bound
        needed |= names_in(statement, ast.Load) & (needed | _assigned(body) | parameters)
    return kept if needed <= parameters else None


def _assigned(body: list[ast.stmt]) -> set[str]:
    return set().union(*(names_in(statement, ast.Store) for statement in body))


def conjuncts(condition: str, wanted: bool) -> list[tuple[str, bool]]:
    """The parts of a condition that must all hold: those of `a and b`, of `not (a or b)`."""
    try:
        node = ast.parse(condition.strip(), mode="eval").body
    except SyntaxError:
        return []
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return conjuncts(ast.unparse(node.operand), not wanted)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And if wanted else ast.Or):
        return [part for value in node.values for part in conjuncts(ast.unparse(value), wanted)]
    return [(ast.unparse(node), wanted)]


class Selector:
    """Says of each program of a launch whether it can reach one of the stops.

    fn: the kernel; session: of the launch; stops: in the kernel or in what it calls.
    """

    def __init__(self, fn: Any, session: Any, stops: tuple[Stop, ...]) -> None:
        self.stops = stops
        self._session = session.fork(None)
        self._globals = fn.globals
        self._args, self._kwargs = fn.as_call(session.arguments())
        self._tests = [self._test_of(fn, stop) for stop in stops]
        self.always = any(test is None for test in self._tests)

    def _test_of(self, fn: Any, stop: Stop) -> tuple[Any, list[str], list[tuple[Any, bool]]] | None:
        """(function that gives the names' values, names, compiled parts); None: nothing rules a program out."""
        parameters = {p.name for p in fn.params}
        local = _assigned(fn.ast.body) | parameters
        chosen: list[tuple[Any, bool]] = []
        used: set[str] = set()
        for text, wanted in [part for condition in stop.conditions for part in conjuncts(*condition)]:
            node = ast.parse(text, mode="eval")
            names = names_in(node, ast.Load)
            calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
            if not all(map(_calls_pure, calls)):
                continue
            own = names & local
            if stop.function is not fn and (own or not any(_calls_pure(c) for c in calls)):
                continue  # names of another function
            if own and definitions(fn.ast.body, stop.line, own, parameters) is None:
                continue
            chosen.append((compile(node, "<condition>", "eval"), wanted))
            used |= own
        if not chosen:
            return None
        names = sorted(used)
        statements = definitions(fn.ast.body, stop.line, used, parameters) or []
        return probe_function(fn, statements, names), names, chosen

    def can_stop(self, ids: tuple[int, int, int]) -> bool:
        """Whether the program of these ids can reach a stop."""
        if self.always:
            return True
        self._session.enter(*ids)
        try:
            return any(self._holds(test) for test in self._tests)
        finally:
            self._session.leave()

    def _holds(self, test: Any) -> bool:
        function, names, parts = test
        try:
            values = dict(zip(names, function(*self._args, **self._kwargs)))
            return all(bool(eval(code, self._globals, values)) == wanted for code, wanted in parts)
        except Exception:  # the debugger, or the kernel, will meet it too
            return True


def _calls_pure(call: ast.Call) -> bool:
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    return name in PURE


def probe_function(fn: Any, statements: list[ast.stmt], names: list[str]) -> Callable[..., Any]:
    """A function with the kernel's parameters that runs these statements only and returns what the names are then."""
    from tiletwin.eager.rewriter import rewrite

    at = statements[-1] if statements else fn.ast.body[0]
    values = ast.Tuple(elts=[ast.Name(id=name, ctx=ast.Load()) for name in names], ctx=ast.Load())
    end = ast.Return(value=values)
    for node in ast.walk(end):
        if isinstance(node, (ast.expr, ast.stmt)):
            ast.copy_location(node, at)
    return rewrite(fn, body=[*copy.deepcopy(statements), end], file="<condition of a breakpoint>")
