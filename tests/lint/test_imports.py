"""The order of python/tiletwin: a module imports what stands in its own folder or below, and nothing in a circle.

pyproject.toml has the order, which import-linter holds, imports inside functions and for type checkers included. Here
are its run, and what it does not see: names of modules in texts, and imports of the package itself. What a layer needs
of one above goes through a port (tiletwin/ports.py).
"""

import ast
import pathlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "tiletwin"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
ORDER = [name for layer in CONTRACTS[0]["layers"] for name in layer.split(" | ")]
"""Folders and modules, from high to low."""
TOP = ("", "__main__", "_native_api", "wiring")
"""The package itself, and what names modules of all layers."""


def lint(config: pathlib.Path, folder: pathlib.Path) -> subprocess.CompletedProcess:
    """Runs import-linter on the package in a folder."""
    command = [pathlib.Path(sys.executable).with_name("lint-imports"), "--config", config, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env={"PYTHONPATH": str(folder)})


def modules(package: pathlib.Path) -> dict[str, pathlib.Path]:
    """Name below the package -> file; extensions by their stubs."""
    files = [*package.rglob("*.py"), *package.rglob("*.pyi")]
    parts = {file: file.relative_to(package).with_suffix("").parts for file in files}
    return {".".join(p[:-1] if p[-1] == "__init__" else p): file for file, p in parts.items()}


def unseen(file: pathlib.Path, package: str) -> Iterator[str]:
    """Names of modules in a file's texts, without the package's; "=name" for what is taken of the package itself."""
    tree = ast.parse(file.read_text())
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            name = node.value.partition(":")[0]
            if name.startswith(f"{package}."):
                yield name.removeprefix(f"{package}.")
        elif isinstance(node, ast.ImportFrom) and node.module == package:
            yield from (f"={alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import) and any(alias.name == package for alias in node.names):
            yield "=*"


def against_the_order(package: pathlib.Path, order: list[str]) -> list[tuple[str, str]]:
    """(module, what it names of a layer above)."""
    known = modules(package)
    found = []
    for module, file in known.items():
        own = module.partition(".")[0]
        if own in TOP or own not in order:
            continue
        for name in unseen(file, package.name):
            layer = name.lstrip("=").partition(".")[0]
            if name.startswith("=") and name[1:] not in known:
                found.append((module, f"{package.name} itself"))
            elif name in known and layer in order and order.index(layer) < order.index(own):
                found.append((module, name))
    return found


def test_contracts_of_imports_hold():
    done = lint(ROOT / "pyproject.toml", PACKAGE.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_texts_name_what_stands_below():
    assert against_the_order(PACKAGE, ORDER) == []


LAYERS = """
[tool.importlinter]
root_package = "tiletwin"
[[tool.importlinter.contracts]]
name = "order"
type = "layers"
containers = ["tiletwin"]
exhaustive = true
layers = ["high", "low"]
"""


def sample(folder: pathlib.Path, text: str) -> pathlib.Path:
    """A package of two layers, with `text` in the lower one."""
    package = folder / "tiletwin"
    for layer in ("low", "high"):
        (package / layer).mkdir(parents=True)
        (package / layer / "__init__.py").write_text("")
    (package / "high" / "deep.py").write_text("from tiletwin.low import module")
    (package / "low" / "module.py").write_text(f'"""tiletwin.high"""\n{text}\n')
    (package / "__init__.py").write_text("")
    (folder / "pyproject.toml").write_text(LAYERS)
    return package


@pytest.mark.parametrize(
    "text",
    [
        "from tiletwin.high import name",
        "from .. import high",
        "from ..high.deep import name",
        "def f():\n    import tiletwin.high",
        "if TYPE_CHECKING:\n    from tiletwin import high",
    ],
)
def test_an_import_is_noticed(tmp_path, text):
    sample(tmp_path, text)
    done = lint(tmp_path / "pyproject.toml", tmp_path)
    assert done.returncode and "tiletwin.low is not allowed to import tiletwin.high" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('f("tiletwin.high")', "high"),
        ('{"name": "tiletwin.high.deep:name"}', "high.deep"),
        ("def f():\n    from tiletwin import compile", "tiletwin itself"),
        ("def f():\n    import tiletwin", "tiletwin itself"),
    ],
)
def test_what_the_linter_does_not_see_is_noticed(tmp_path, text, name):
    package = sample(tmp_path, text)
    assert lint(tmp_path / "pyproject.toml", tmp_path).returncode == 0
    assert against_the_order(package, ["high", "low"]) == [("low.module", name)]
