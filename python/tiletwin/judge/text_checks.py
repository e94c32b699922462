"""What a submission's text says before it runs: lines that reach for the judge, the environment or the machine.

Here:      patterns of Python's syntax, with their lines; where a kernel writes.
Not here:  what was seen while it ran (watching.py), what follows (evidence.py).
Invariant: a hint alone gives a verdict only where no kernel's code has a use for the line: functions of torch, NumPy,
           time or this judge that are replaced, and the environment that is read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_MODULES = frozenset(
    "torch numpy np time builtins random math tiletwin triton tl sys os F gc inspect statistics".split()
)
_LOOKS = {
    "gc": ("get_objects", "get_referrers"),
    "sys": ("_getframe", "settrace", "setprofile"),
    "inspect": ("stack", "currentframe", "getouterframes"),
    "ctypes": ("CDLL", "PyDLL", "cast", "memmove", "string_at", "from_address"),
}
"""Ways to what the caller holds."""


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _dotted(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, (ast.Attribute, ast.Name)) else ""


def _aliases(tree: ast.AST) -> dict[str, str]:
    """Names of imported modules in this text."""
    found = {name: name for name in _MODULES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.asname or a.name.partition(".")[0]: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {a.asname or a.name: f"{node.module or ''}.{a.name}" for a in node.names}
    return found


def _written(node: ast.AST) -> Iterator[ast.AST]:
    """What an assignment to an item, or a method that only sets items, belongs to."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield node.value
    elif isinstance(node, ast.Attribute) and node.attr in ("setdefault", "update"):
        yield node.value


def parsed(text: str) -> ast.Module:
    """The syntax of a text that nobody trusts; nothing of one that Python does not read or that is nested too deep."""
    try:
        tree = ast.parse(text)
        ast.unparse(tree)  # fails where what looks at the tree would fail
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
    return tree


def hints(text: str) -> Iterator[tuple[str, str, int]]:
    """(kind, what, line): kinds "patch", "environment", "harness", "foreign". Nothing for a text with wrong syntax."""
    tree = parsed(text)
    names = _aliases(tree)
    written = {id(place) for node in ast.walk(tree) for place in _written(node)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from _assigned(target, getattr(node, "value", None), names)
        elif isinstance(node, ast.Call):
            yield from _called(node, names)
        elif isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in written:
            root, _, rest = _dotted(node).partition(".")
            if ".".join(filter(None, (names.get(root, root), rest))) == "os.environ":
                yield "environment", f"reads {ast.unparse(node)}", node.lineno


def _assigned(target: ast.AST, value: ast.AST | None, names: dict[str, str]) -> Iterator[tuple[str, str, int]]:
    if not isinstance(target, ast.Attribute) or isinstance(value, ast.Constant):
        return
    module = names.get(_root(target.value), "").partition(".")[0]
    if module in _MODULES and _dotted(target):
        yield "patch", f"replaces {_dotted(target)}", target.lineno


def _called(node: ast.Call, names: dict[str, str]) -> Iterator[tuple[str, str, int]]:
    called = _dotted(node.func)
    root, _, last = called.rpartition(".")
    if called in ("os.getenv", "getenv"):
        yield "environment", f"reads the environment with {ast.unparse(node)[:80]}", node.lineno
    elif called == "setattr" and node.args and names.get(_root(node.args[0]), "").partition(".")[0] in _MODULES:
        yield "patch", f"replaces an attribute with {ast.unparse(node)[:80]}", node.lineno
    elif last in _LOOKS.get(names.get(root, root), ()):
        kind = "foreign" if names.get(root, root) == "ctypes" else "harness"
        yield kind, f"calls {called}", node.lineno


def only_write(text: str, kernel: str, argument: str = "") -> int:
    """The line of the only atomic operation of a kernel, or of its only store if it has none of these, into an argument
    where there are more; 0: there are more even so, or the text is no Python."""
    tree = parsed(text)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == kernel]
    calls = [node for one in found for node in ast.walk(one) if isinstance(node, ast.Call) and node.args]
    names = {argument}
    for node in (node for one in found for node in ast.walk(one)):
        if isinstance(node, ast.Assign) and names & _names(node.value):
            names |= _names(ast.Tuple(node.targets))
    written = [[node for node in calls if _dotted(node.func).startswith(words)] for words in ("tl.atomic_", "tl.store")]
    into = [[node for node in one if names & _names(node.args[0])] for one in written]
    lines = {node.lineno for node in next(filter(None, into + written), [])}
    return lines.pop() if len(lines) == 1 else 0


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
