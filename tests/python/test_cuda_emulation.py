"""Scripts written for a GPU run where there is none: every function of cuda_cases.py, in one process."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from process import HERE, run_python

pytest.importorskip("torch")
FILE = Path(HERE) / "cuda_cases.py"
HELPERS = ("on_cuda", "scale", "run_all")
CASES = [n.name for n in ast.parse(FILE.read_text()).body if isinstance(n, ast.FunctionDef) and n.name not in HELPERS]


@pytest.fixture(scope="module")
def results() -> dict[str, str]:
    done = run_python(str(FILE), startup=True, TILETWIN_INTERPRET="1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("emulated on the CPU") == 1 and done.stderr.count("torch.compile does nothing") == 1
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", CASES)
def test_emulated_cuda(results: dict[str, str], case: str) -> None:
    assert results[case] == "", results[case]
