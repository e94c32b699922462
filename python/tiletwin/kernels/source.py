"""Source text and ast of a function, quickly and with the file's own line and column numbers.

Here:      lines from linecache (files, notebooks, doctests), the block of one function, its `ast.FunctionDef`; the
           names it reads from outside, and what a dotted name stands for.
Not here:  texts given to `exec` (given_text.py); what is done with it (jit.py, the front end, eager mode).
Invariant: `node.lineno` and `node.col_offset` of every node are those of the file.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import textwrap
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from tiletwin.kernels.given_text import named_lines

_LOAD_GLOBAL, _EXTENDED_ARG = dis.opmap["LOAD_GLOBAL"], dis.opmap["EXTENDED_ARG"]


class TextNotFound(OSError):
    """There is no text of a function: no file, no cell, nothing that was given to `exec`."""


class FunctionSource(NamedTuple):
    """Source of one function."""

    file: str
    first_line: int
    """Line of the `def` or of its first decorator."""
    lines: list[str]
    """The function's lines, from `first_line` on, as they stand in the file."""
    node: ast.FunctionDef


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _block(lines: list[str], start: int) -> list[str]:
    """Lines of the function that begins at index `start`, found by indentation."""
    indent = _indent(lines[start])
    seen_def = False
    end = start
    for i in range(start, len(lines)):
        stripped = lines[i].strip()
        if seen_def and stripped and not stripped.startswith("#") and _indent(lines[i]) <= indent:
            # A `def` whose parameter list spans lines closes with `):` at its own indentation.
            if not stripped.startswith(")"):
                break
        if not seen_def and stripped.startswith(("def ", "async def ")):
            seen_def = True
        if stripped:
            end = i
    return lines[start : end + 1]


def _parse(lines: list[str], first_line: int, file: str) -> ast.FunctionDef:
    """Parses a block so that positions come out as in the file."""
    text = "".join(lines)
    if lines[0][:1].isspace():
        tree = ast.parse("\n" * (first_line - 2) + "if 1:\n" + text, file)
        node = tree.body[0].body[0]  # type: ignore[attr-defined]
    else:
        node = ast.parse("\n" * (first_line - 1) + text, file).body[0]
    if not isinstance(node, ast.FunctionDef):
        raise SyntaxError(f"line {first_line} of {file} does not begin a function")
    return node


def function_source(fn: FunctionType, given: str | None = None) -> FunctionSource:
    """Finds and parses the source of a plain Python function.

    A function that a decorator made with `functools.wraps` stands for the one it wraps.
    given: the text that its code was compiled from, where that lies in no file.
    Errors: TextNotFound, there is none (a code object from another process, typed at the `>>>` prompt); OSError, the
    file was changed meanwhile; TypeError, not a function written with `def`.
    """
    fn = inspect.unwrap(fn)
    code = getattr(fn, "__code__", None)
    if code is None:
        raise TypeError(f"a kernel must be a Python function, not a {type(fn).__name__}")
    if code.co_name == "<lambda>":
        raise TypeError("a kernel must be written with def, not as a lambda")
    file, first_line = code.co_filename, code.co_firstlineno
    if given is not None:
        file, lines = named_lines(file, given)
    else:
        lines = linecache.getlines(file, fn.__globals__)
    if not 0 < first_line <= len(lines):
        linecache.checkcache(file)
        lines = linecache.getlines(file, fn.__globals__)
    if not 0 < first_line <= len(lines):
        raise TextNotFound(
            f"the source of {fn.__qualname__} was not found ({file}, line {first_line}); "
            "a kernel needs its source text: put it into a file or a notebook cell"
        )
    block = _block(lines, first_line - 1)
    try:
        node = _parse(block, first_line, file)
    except SyntaxError:  # text at a lower indentation than its function: strings, continued lines
        block = inspect.getblock(lines[first_line - 1 :])
        node = _parse(block, first_line, file)
    if node.name != code.co_name:
        linecache.checkcache(file)
        raise OSError(
            f"the source of {fn.__qualname__} was not found: {file} was changed after it was loaded "
            f"(line {first_line} now defines {node.name})"
        )
    return FunctionSource(file, first_line, block, node)


def source_of_text(text: str, file: str, first_line: int) -> FunctionSource:
    """The source that `text`, one `def` with or without decorators, would be if it stood at that line of the file.

    Errors: SyntaxError, the text is something else.
    """
    lines = textwrap.dedent(text).splitlines(True)
    return FunctionSource(file, first_line, lines, _parse(lines, first_line, file))


def outer_names(code: CodeType) -> list[str]:
    """Names that code, and what is nested in it, reads from globals or enclosing functions, in order of first use.

    Names of attributes are not among them.
    """
    names = dict.fromkeys(code.co_freevars)
    argument = 0
    text = code.co_code  # computed at each access
    for i in range(0, len(text), 2):
        operation, argument = text[i], argument | text[i + 1]
        if operation == _EXTENDED_ARG:
            argument <<= 8
            continue
        if operation == _LOAD_GLOBAL:
            names[code.co_names[argument >> 1]] = None
        argument = 0
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(dict.fromkeys(outer_names(constant)))
    return list(names)


def resolve(node: ast.expr, scope: dict[str, Any]) -> Any:
    """The object that a name, or a dotted name through modules, stands for in `scope`; None for anything else."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        base = resolve(node.value, scope)
        return getattr(base, node.attr, None) if isinstance(base, ModuleType) else None
    return None
