"""Mistakes planted into the kernels of a text: each is one place, and the lines stay as they are.

Here:      which places there are, the text with one of them changed.
Not here:  what a judge makes of it (judge_public.py).
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!="}
_OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*"}
_CALLS = {"max": "min", "min": "max", "sum": "max", "maximum": "minimum", "exp": "exp2", "cumsum": "cumprod"}


@dataclass(frozen=True)
class Planted:
    """kind: "mask", "bound", "operator", "function", "constant" or "index". text: the whole file's."""

    kind: str
    line: int
    what: str
    text: str


def _is_kernel(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list)


def _reached(tree: ast.Module, entry: str) -> tuple[list[ast.FunctionDef], set[str]]:
    """The kernels that a definition uses, and the strings beside them, which choose branches."""
    known = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    names, strings = [entry], set[str]()
    for name in names:
        for node in ast.walk(known[name]):
            if isinstance(node, ast.Name) and node.id in known and node.id not in names:
                names.append(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_kernel(known[name]):
                strings.add(node.value)
    found = (known[name] for name in names)
    return [node for node in found if isinstance(node, ast.FunctionDef) and _is_kernel(node)], strings


def _is_taken(test: ast.expr, strings: set[str]) -> bool:
    """Whether a branch may be taken: one that compares with a string only if a caller has it."""
    said = {node.value for node in ast.walk(test) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return not said or bool(said & strings)


def _walked(nodes: list[ast.AST], strings: set[str] | None) -> Iterator[ast.AST]:
    for node in nodes:
        yield node
        if isinstance(node, ast.If) and strings is not None:
            taken = node.body if _is_taken(node.test, strings) else []
            yield from _walked([*taken, *node.orelse], strings)
        elif not (isinstance(node, ast.IfExp) and strings is not None and not _is_taken(node.test, strings)):
            yield from _walked(list(ast.iter_child_nodes(node)), strings)


def _places(kernel: ast.FunctionDef, strings: set[str] | None) -> Iterator[tuple[str, ast.expr, str]]:
    """(kind, what is replaced, by what)."""
    for node in _walked(list(kernel.body), strings):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            masks = [word for word in node.keywords if word.arg == "mask"]
            if name in ("tl.load", "tl.store") and masks:
                yield "mask", masks[0].value, "None"
            elif name == "tl.arange" and len(node.args) == 2:
                yield "index", node, f"({ast.unparse(node)} + 1)"
            elif name.startswith("tl.") and name[3:] in _CALLS:
                yield "function", node.func, f"tl.{_CALLS[name[3:]]}"
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            if not isinstance(node.comparators[0], ast.Constant) or not isinstance(node.comparators[0].value, str):
                yield "bound", node, f"({left} {_COMPARISONS[type(node.ops[0])]} {right})"
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            yield "operator", node, f"(({left}) {_OPERATORS[type(node.op)]} ({right}))"
        elif isinstance(node, ast.Constant) and type(node.value) is float and node.value and math.isfinite(node.value):
            yield "constant", node, repr(node.value * 3)


def _replaced(lines: list[str], node: ast.expr, new: str) -> str:
    """The text with a node's place changed; a node over several lines leaves empty ones."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    first, last = lines[node.lineno - 1].encode(), lines[node.end_lineno - 1].encode()
    whole = first[: node.col_offset].decode() + new.replace("\n", " ") + last[node.end_col_offset :].decode()
    gap = [""] * (node.end_lineno - node.lineno)
    return "\n".join([*lines[: node.lineno - 1], whole, *gap, *lines[node.end_lineno :]])


def planted(text: str, count: int, seed: int, entry: str = "") -> list[Planted]:
    """So many different mistakes in a text's kernels, of different kinds first. entry: only in kernels that it uses."""
    tree, lines, found = ast.parse(text), text.split("\n"), []
    kernels = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_kernel(node)]
    strings = None
    if entry:
        kernels, strings = _reached(tree, entry)
    for kernel in kernels:
        for kind, node, new in _places(kernel, strings):
            changed = _replaced(lines, node, new)
            try:
                ast.parse(changed)
            except SyntaxError:
                continue
            found.append(Planted(kind, node.lineno, f"{ast.unparse(node)[:60]} → {new[:60]}", changed))
    random.Random(seed).shuffle(found)
    picked: list[Planted] = []
    while found and len(picked) < count:
        kinds = [one.kind for one in picked]
        found.sort(key=lambda one: kinds.count(one.kind))
        picked.append(found.pop(0))
    return picked
