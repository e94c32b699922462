"""Which module of a Python package names which other one, wherever in the file it does.

Here:      the graph, from the source text alone; its circles; which of its edges go against an order of folders.
Not here:  the order of python/tiletwin (test_imports.py).
Invariant: an import inside a function, one for type checkers, and a module's name in a string count like any other.
"""

import ast
import itertools
import pathlib
from collections.abc import Iterable, Iterator

Graph = dict[str, set[str]]


def modules(root: pathlib.Path) -> dict[str, pathlib.Path]:
    """Module name -> file, of a package's folder. Extensions count by their stubs (.pyi)."""
    found = {}
    for path in sorted(itertools.chain(root.rglob("*.py"), root.rglob("*.pyi"))):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _names(tree: ast.Module, package: str) -> Iterator[str]:
    """Dotted names that a module of `package` may have imported, longest first where a name may be an attribute."""
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            name = node.value.partition(":")[0]
            if "." in name:
                yield f"{name.removesuffix('.')}."  # nothing imports an attribute by a text


def graph(root: pathlib.Path) -> Graph:
    """Module -> modules of the same package that it names."""
    known = modules(root)
    edges: Graph = {}
    for name, path in known.items():
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        found = set()
        for target in _names(ast.parse(path.read_text()), package):
            if target not in known:
                target = target.rpartition(".")[0]  # an attribute of a module
            if target in known:
                found.add(target)
        edges[name] = found - {name}
    return edges


def circles(edges: Graph) -> list[frozenset[str]]:
    """Sets of two or more modules that reach each other."""
    reach = {}
    for start in edges:
        seen, todo = set(), [start]
        while todo:
            new = edges.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        reach[start] = seen
    found = {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in edges}
    return sorted((circle for circle in found if len(circle) > 1), key=sorted)


def place(module: str, order: Iterable[str]) -> str:
    """The longest entry of `order` (modules or folders, without the package's name) that a module belongs to."""
    name = module.partition(".")[2]
    fits = [entry for entry in order if name == entry or name.startswith(entry + ".")]
    return max(fits, key=len, default="")


def against(edges: Graph, order: list[str]) -> set[tuple[str, str]]:
    """Edges from a lower folder to a higher one."""
    rank = {module: order.index(place(module, order)) for module in edges}
    return {(a, b) for a, targets in edges.items() for b in targets if rank[b] > rank[a]}


def within_folders(edges: Graph, order: list[str]) -> Graph:
    """The graph without the edges that leave a folder."""
    return {a: {b for b in targets if place(a, order) == place(b, order)} for a, targets in edges.items()}
