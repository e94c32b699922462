"""TILETWIN_BREAK=kernel.py:8: kernels stop in the debugger at a place, without a change of their text.

Here:      which lines are asked for, the calls that are put into a rewritten body, a note on places in no kernel.
Not here:  the debugger: it is what sys.breakpointhook() starts (pdb, or pytest's, or PYTHONBREAKPOINT's).
Invariant: the debugger stops before the line is run, in the kernel's own frame.
"""

from __future__ import annotations

import ast
import atexit
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tiletwin import origins, variables

VARIABLE = "TILETWIN_BREAK"
STOPS_AT_ONCE = sys.version_info >= (3, 13)
"""pdb.set_trace() stops in the line that calls it; before, at the next one."""


GENERATED = "output_code.py"
"""What logs of torch.compile call the file of generated kernels, whose name is made of its text."""


def places() -> list[tuple[str, str]]:
    """File, and line or name of a kernel, of each place in TILETWIN_BREAK: "kernel.py:8" or "kernel.py:add_kernel",
    several joined by ";". The file of a name may be empty. Errors: ValueError."""
    found = []
    for item in filter(None, (part.strip() for part in variables.get(VARIABLE).split(";"))):
        file, _, where = item.rpartition(":")
        if not where.isidentifier() and not (file and where.isdigit()):
            raise ValueError(
                f"{VARIABLE}={item}: expected file:line as in kernel.py:8, or the name of a kernel, several joined by ;"
            )
        found.append((file, where))
    return found


def lines_in(fn: Any) -> tuple[int, ...]:
    """The lines of `fn`, a JITFunction, at which TILETWIN_BREAK wants it to stop."""
    if not variables.get(VARIABLE):
        return ()
    asked = places()
    here = {place: line for place in asked if (line := _line_in(fn, *place)) is not None}
    if not _looked_for:
        atexit.register(say_what_was_missed)
    _looked_for.update(asked)
    _found.update(here)
    return tuple(dict.fromkeys(here.values()))


def _line_in(fn: Any, file: str, where: str) -> int | None:
    """The line of `fn` at which it stops for a place; None: it does not. A kernel that was generated for a line of a
    script stops in its first one."""
    generated = origins.of(fn.__name__)
    if where.isidentifier():
        is_here = not file or is_file(file, fn.file) or (file == GENERATED and bool(generated))
        return fn.ast.body[0].lineno if where == fn.__name__ and is_here else None
    line = int(where)
    if fn.first_line <= line < fn.first_line + len(fn.source_lines) and is_file(file, fn.file):
        return line
    if any(line == origin.line and is_file(file, origin.file) for origin in generated):
        return fn.ast.body[0].lineno
    return None


_looked_for: set[tuple[str, str]] = set()
_found: set[tuple[str, str]] = set()


def say_what_was_missed() -> None:
    """At exit: the places that lie in no kernel that was launched."""
    for file, where in sorted(_looked_for - _found):
        what = f"a line {file}:{where}" if where.isdigit() else f"the name {where}" + (file and f" in {file}")
        print(f"tiletwin: no kernel that was launched has {what} ({VARIABLE})", file=sys.stderr)


def is_file(asked: str, path: str) -> bool:
    """Whether a file that the user names, by its last parts or in full, is `path`."""
    if os.path.isabs(asked) or os.path.exists(asked):
        return os.path.realpath(asked) == os.path.realpath(path)
    parts = os.path.normpath(asked).split(os.sep)
    return os.path.normpath(path).split(os.sep)[-len(parts) :] == parts


def insert(function: ast.FunctionDef, lines: tuple[int, ...], call: Callable[..., ast.Call]) -> None:
    """Puts a stop in front of the first statement at or behind each line. call: Rewriter.call."""
    for line in lines:
        candidates = [(block[i].lineno, n, block, i) for n, (block, i) in enumerate(statements(function))]
        behind = [c for c in candidates if c[0] >= line]
        if not behind:
            continue
        at, _, block, index = min(behind, key=lambda c: c[:2])
        place = ast.copy_location(ast.Pass(), block[index])
        if not STOPS_AT_ONCE:
            place.lineno = place.end_lineno = at - 1
        holds = ast.copy_location(ast.Constant(value=True), place)
        block.insert(index, ast.copy_location(ast.Expr(value=call("breakpoint_if", holds, at=place)), place))


def statements(node: ast.AST) -> Iterator[tuple[list[ast.stmt], int]]:
    """Each statement below `node` as (block, position), outer ones first, in order of the text."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if not isinstance(block, list):
            continue
        for index, statement in enumerate(block):
            if isinstance(statement, ast.stmt):
                yield block, index
                yield from statements(statement)
