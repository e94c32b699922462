"""TILETWIN_BREAK=kernel.py:8: kernels stop in the debugger at a line, without a change of their text.

Here:      which lines are asked for, the calls that are put into a rewritten body, a note on lines that no kernel has.
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

from tiletwin import variables

VARIABLE = "TILETWIN_BREAK"
STOPS_AT_ONCE = sys.version_info >= (3, 13)
"""pdb.set_trace() stops in the line that calls it; before, at the next one."""


def places() -> list[tuple[str, int]]:
    """File and line of each place in TILETWIN_BREAK, "kernel.py:8", several joined by ";". Errors: ValueError."""
    found = []
    for item in filter(None, (part.strip() for part in variables.get(VARIABLE).split(";"))):
        file, colon, line = item.rpartition(":")
        if not colon or not file or not line.isdigit():
            raise ValueError(f"{VARIABLE}={item}: expected file:line as in kernel.py:8, several joined by ;")
        found.append((file, int(line)))
    return found


def lines_in(fn: Any) -> tuple[int, ...]:
    """The lines of `fn`, a JITFunction, at which TILETWIN_BREAK wants it to stop."""
    if not variables.get(VARIABLE):
        return ()
    last = fn.first_line + len(fn.source_lines)
    asked = places()
    here = [(file, line) for file, line in asked if fn.first_line <= line < last and is_file(file, fn.file)]
    if not _looked_for:
        atexit.register(say_what_was_missed)
    _looked_for.update(asked)
    _found.update(here)
    return tuple(line for _, line in here)


_looked_for: set[tuple[str, int]] = set()
_found: set[tuple[str, int]] = set()


def say_what_was_missed() -> None:
    """At exit: the places that lie in no kernel that was launched."""
    for file, line in sorted(_looked_for - _found):
        print(f"tiletwin: no kernel that was launched has a line {file}:{line} ({VARIABLE})", file=sys.stderr)


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
