"""docs/triton_differences.md and the tests of its entries have the same names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "triton_differences.md"


def names_in(module: str) -> set[str]:
    tree = ast.parse((HERE / f"{module}.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_heading_has_a_test() -> None:
    named = ["test_" + re.sub(r"\W+", "_", line[3:].strip().lower())
             for line in PAGE.read_text().splitlines() if line.startswith("## ")]  # fmt: skip
    assert len(named) == len(set(named)) > 20
    assert set(named) == names_in("test_triton_differences") | names_in("test_triton_interpreter")
