"""The order of python/tiletwin: a module imports what stands in its own folder or below, and nothing in a circle.

Imports inside functions and names of modules in strings count (import_graph.py). What a layer needs of one above goes
through a port (tiletwin/ports.py). Circles are listed here, and an entry that is no longer needed fails.
"""

import functools
import pathlib

import import_graph
import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "tiletwin"

# Folders and modules, from low to high. "" is the package itself.
ORDER = """
    _C _sim _codegen _cuda
    version ports base_types dtypes native whole_files errors _refused _activate variables
    toolkit knob_hooks knob_kinds knobs file_cache
    checks devices findings memory fresh_memory gpu_timing
    torch_cuda activation script
    sim cuda gpu_target drivers
    kernels language codegen backends compiler tools trace eager testing launch debug profiler
    pytest_results pytest_plugin diff fuzz gdb doctor cli
    runtime wiring __main__ _native_api
""".split()
ORDER.append("")

# Modules of one folder that import each other.
CIRCLES = [
    "trace.model trace.moment",  # a recording and its values know each other
]


@functools.cache
def edges() -> import_graph.Graph:
    return import_graph.graph(PACKAGE)


def full(name: str) -> str:
    return name if name == "tiletwin" else f"tiletwin.{name}"


def test_every_module_has_its_place():
    homeless = [m for m in edges() if m != "tiletwin" and not import_graph.place(m, ORDER)]
    assert not homeless, f"add to ORDER: {homeless}"


def test_modules_import_what_stands_below():
    found = import_graph.against(edges(), ORDER)
    assert not found, f"imports of what stands above: {sorted(found)}"


def test_modules_of_a_folder_import_each_other_in_one_direction():
    listed = {frozenset(map(full, circle.split())) for circle in CIRCLES}
    found = set(import_graph.circles(import_graph.within_folders(edges(), ORDER)))
    assert not found - listed, f"modules that import each other: {[sorted(c) for c in found - listed]}"
    assert not listed - found, f"no longer so, change CIRCLES: {[sorted(c) for c in listed - found]}"


@pytest.mark.parametrize(
    "text",
    [
        "from tiletwin.high import name",
        "from tiletwin import high",
        "from .. import high",
        "from ..high.deep import name",
        "def f():\n    import tiletwin.high",
        "if TYPE_CHECKING:\n    from tiletwin import high",
        'f("tiletwin.high")',
        '{"name": "tiletwin.high:name"}',
    ],
)
def test_an_import_is_noticed(tmp_path, text):
    package = tmp_path / "tiletwin"
    for folder in ("low", "high"):
        (package / folder).mkdir(parents=True)
        (package / folder / "__init__.py").write_text("")
    (package / "high" / "deep.py").write_text("from tiletwin.low import module")
    (package / "low" / "module.py").write_text(f'"""tiletwin.high"""\n{text}\n')
    (package / "__init__.py").write_text("")
    edges = import_graph.graph(package)
    found = {target.removesuffix(".deep") for name, target in import_graph.against(edges, ["low", "high", ""])}
    assert found == {"tiletwin.high"}
    assert edges["tiletwin.high.deep"] == {"tiletwin.low.module"}
    circle = frozenset({"tiletwin.low.module", "tiletwin.high.deep"})
    assert import_graph.circles(edges) == [circle] * ("tiletwin.high.deep" in edges["tiletwin.low.module"])
