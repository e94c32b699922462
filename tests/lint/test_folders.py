"""Folders include and import each other in one direction; draws that for docs/architecture.md (docs/tools/folders.py).

Not here:  which folder may use which one (test_layers.py, test_imports.py), circles of modules (pyproject.toml).
"""

import sys

from test_layers import ROOT

sys.path.insert(0, str(ROOT / "docs" / "tools"))

import folders

# Folders of C++ within one folder that include each other. One that no longer do fails, and so does a new circle.
CIRCLES = [
    # The files at the top have what the parts share, and call the parts.
    "codegen codegen/amdgcn codegen/emit codegen/emit/amdgcn codegen/emit/nvptx codegen/passes codegen/ptx",
    "diff diff/bounds",
    "sim sim/check sim/counters sim/debugger sim/isa sim/machine",
    # A run calls checks and the debugger, which look at its frames.
    "interp/check interp/debug interp/debug/jit interp/program interp/run",
]
MOST = 4


def test_no_circle_between_folders():
    assert folders.circles(folders.merged(folders.includes(), folders.top)) == []
    assert folders.circles(folders.merged(folders.imports(), folders.package)) == []


def test_circles_within_a_folder_are_listed():
    listed = [frozenset(circle.split()) for circle in CIRCLES]
    found = folders.circles(folders.merged(folders.includes(), folders.folder))
    assert len(found) <= MOST
    new = [sorted(circle) for circle in found if not any(circle <= known for known in listed)]
    assert not new, f"folders that include each other: {new}"
    gone = [sorted(known) for known in listed if not any(circle <= known for circle in found)]
    assert not gone, f"no longer so, change CIRCLES: {gone}"


def test_a_circle_is_noticed():
    graph = {"a/x.h": {"b/y.h"}, "b/y.h": {"c/z.h"}, "c/z.h": {"a/x.h", "c/v.h"}, "c/v.h": set()}
    assert folders.circles(folders.merged(graph, folders.top)) == [frozenset("abc")]
    graph["b/y.h"].clear()
    assert folders.circles(folders.merged(graph, folders.top)) == []
    assert folders.levels(folders.merged(graph, folders.top)) == {"b": 0, "a": 1, "c": 2}


def test_the_picture_has_every_folder():
    picture = ROOT / "docs" / "pictures" / "folders.svg"
    folders.draw(picture)
    text = picture.read_text()
    names = {*folders.merged(folders.includes(), folders.top), *folders.merged(folders.imports(), folders.package)}
    assert {"interp", "trace"} <= names
    assert [name for name in names if f">{name}</text>" not in text] == []
