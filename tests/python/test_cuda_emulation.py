"""Scripts written for a GPU run where there is none: all functions of cuda_cases.py, cuda_autograd_cases.py,
cuda_only_cases.py and cuda_sides.py."""

from __future__ import annotations

import ast
import functools
import json
from pathlib import Path

import pytest
from process import HERE, run_python

pytest.importorskip("torch")
HELPERS = ("on_cuda", "scale", "run_all", "double", "refused", "launched")
FILES = {"cuda_cases": 1, "cuda_autograd_cases": 1, "cuda_only_cases": 1, "cuda_sides": 2}
"""How many devices are emulated for it."""

CASES = [
    (file, node.name)
    for file in FILES
    for node in ast.parse((Path(HERE) / f"{file}.py").read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name not in HELPERS and node.name[0] != "_"
]


@functools.cache
def results(file: str) -> dict[str, str]:
    values = {"TILETWIN_INTERPRET": "1", "TILETWIN_CUDA_DEVICES": str(FILES[file]), "TILETWIN_TORCH_COMPILE": "0"}
    done = run_python(str(Path(HERE) / f"{file}.py"), startup=True, **values)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("emulated on the CPU") == 1
    assert done.stderr.count("torch.compile does nothing") == (file == "cuda_cases")
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("file", "case"), CASES, ids=[case for _, case in CASES])
def test_emulated_cuda(file: str, case: str) -> None:
    assert results(file)[case] == "", results(file)[case]
