"""Who includes and imports whom, folder by folder: read from the sources, and drawn.

Here:      the graphs (C++ files, their folders, modules of Python, their folders), circles in them, the picture.
Not here:  who may (tests/lint/test_layers.py, the order in pyproject.toml), shapes and files (svg.py).
Invariant: imports inside of functions count, as import-linter counts them.
"""

from __future__ import annotations

import functools
import graphlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).parent))
from svg import FAINT, INK, Drawing

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ir", "runtime", "frontend", "interp", "codegen", "diff", "sim", "python")
"""Of C++."""
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
WIDTH, HEIGHT, GAP, LINE = 128, 34, 22, 15
Graph = dict[str, set[str]]


@functools.cache
def includes() -> Graph:
    """File of C++ -> files of ours that it includes."""
    listed = subprocess.run(["git", "ls-files", "*.h", "*.cpp", "*.inc"], cwd=ROOT, capture_output=True, text=True)
    files = {name for name in listed.stdout.split() if name.split("/")[0] in FOLDERS and (ROOT / name).exists()}
    found: Graph = {}
    for name in files:
        told = INCLUDE.findall((ROOT / name).read_text())
        beside = {str(PurePosixPath(name).parent / other) for other in told}
        found[name] = files & {*told, *beside}
    return found


@functools.cache
def imports() -> Graph:
    """Module of python/tiletwin -> modules that it imports."""
    import grimp

    graph = grimp.build_graph("tiletwin", cache_dir=None)
    # An import of the package itself is one of an extension, which has no file that could be read.
    return {module: set(graph.find_modules_directly_imported_by(module)) - {"tiletwin"} for module in graph.modules}


def merged(graph: Graph, name: Callable[[str], str]) -> Graph:
    """The graph of what nodes belong to; "" is left out."""
    found: Graph = {}
    for node, targets in graph.items():
        if own := name(node):
            found.setdefault(own, set()).update({name(target) for target in targets} - {own, ""})
    return found


def folder(file: str) -> str:
    """ "interp/run/Workers.h" -> "interp/run"."""
    return str(PurePosixPath(file).parent)


def top(file: str) -> str:
    """ "interp/run/Workers.h" -> "interp"."""
    return file.partition("/")[0]


def package(module: str) -> str:
    """ "tiletwin.trace.model" -> "trace"; "" for a module that lies in no folder."""
    name = (module + ".").split(".")[1]
    return name if (ROOT / "python" / "tiletwin" / name / "__init__.py").exists() and name else ""


def circles(graph: Graph) -> list[frozenset[str]]:
    """Sets of two or more nodes that reach each other."""
    reach = {}
    for start in graph:
        seen, todo = set(), [start]
        while todo:
            new = graph.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        reach[start] = seen
    found = {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in graph}
    return sorted((circle for circle in found if len(circle) > 1), key=sorted)


def levels(graph: Graph) -> dict[str, int]:
    """How many folders stand below each one, at most. Errors: graphlib.CycleError, the graph has a circle."""
    level: dict[str, int] = {}
    for node in graphlib.TopologicalSorter(graph).static_order():
        level[node] = max((level[target] + 1 for target in graph.get(node, ())), default=0)
    return level


def without_shortcuts(graph: Graph) -> Graph:
    """Only what no way through others says."""

    def reached(node: str) -> set[str]:
        return graph.get(node, set()).union(*map(reached, graph.get(node, ())))

    return {node: targets - set().union(*map(reached, targets)) for node, targets in graph.items()}


def _draw(picture: Drawing, graph: Graph, inside: dict[str, list[str]], x: float, y: float, width: float) -> float:
    """Boxes, each above what it includes; the height that they took. inside: folders of a box."""
    rows: dict[int, list[str]] = {}
    for name, level in levels(graph).items():
        rows.setdefault(level, []).append(name)
    at: dict[str, tuple[float, float, float]] = {}
    bottom = y
    for _, names in sorted(rows.items(), reverse=True):
        tall = HEIGHT + max(len(inside.get(name, [])) for name in names) * LINE
        step = width / len(names)
        for number, name in enumerate(sorted(names)):
            at[name] = (x + step * (number + 0.5) - WIDTH / 2, bottom, HEIGHT + len(inside.get(name, [])) * LINE)
        bottom += tall + 2 * GAP
    for name, targets in without_shortcuts(graph).items():
        left, up, high = at[name]
        for target in targets:
            picture.line(left + WIDTH / 2, up + high, at[target][0] + WIDTH / 2, at[target][1])
    for name, (left, up, high) in at.items():
        picture.box(left, up, WIDTH, high, "#e8f1fb", FAINT, 4)
        picture.text(left + WIDTH / 2, up + 21, name, 12, INK, anchor="middle", bold=True)
        for number, part in enumerate(inside.get(name, [])):
            picture.text(left + WIDTH / 2, up + 21 + (number + 1) * LINE, part, 11, FAINT, anchor="middle")
    return bottom - y


def draw(path: Path) -> None:
    """Writes the picture of both languages."""
    cpp, python = merged(includes(), top), merged(imports(), package)
    inside: dict[str, set[str]] = {}
    for name in map(folder, includes()):
        if name != top(name + "/"):
            inside.setdefault(top(name), set()).add(name.partition("/")[2])
    listed = {name: sorted(parts) for name, parts in inside.items()}
    height = 0.0
    for _ in range(2):  # once for the height
        picture = Drawing(1000, height, "Includes and imports between folders")
        picture.text(16, 26, "Folders of C++: each stands above those that it includes", 15, bold=True)
        taken = 44 + _draw(picture, cpp, listed, 16, 44, 968)
        title = "Folders of python/tiletwin: each stands above those that it imports"
        picture.text(16, taken + 14, title, 15, bold=True)
        height = taken + 34 + _draw(picture, python, {}, 16, taken + 34, 968)
    picture.write(path)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures" / "folders.svg")
