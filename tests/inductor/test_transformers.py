"""Compiled models of `transformers`, forward and backward, on the interpreter with all checks.

The library is in an environment of its own (scripts/setup.sh --libraries); transformers_cases.py has the models.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from children import HERE, PACKAGE_PARENT, libraries_python, run

FILE = Path(__file__).with_name("transformers_cases.py")
STARTUP = HERE / "python" / "startup"
MODELS = [
    key.value
    for node in ast.parse(FILE.read_text()).body
    if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "MODELS"
    for key in node.value.keys
]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("model", MODELS)
def test_a_compiled_model_is_as_eager(model: str, device: str, tmp_path) -> None:
    done = run(
        FILE,
        device,
        model,
        program=libraries_python(),
        paths=[STARTUP],
        timeout=1700,
        TILETWIN_INTERPRET="1",
        TILETWIN_CHECK="all",
        TEST_PACKAGE_PARENT=str(PACKAGE_PARENT),
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path),
        HF_HUB_OFFLINE="1",
    )
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout.splitlines()[-1])["results"][model]
    assert "error" not in row, row["error"] + done.stderr
    assert row["wrong"] == [], row
    assert "Inductor generates C++" not in done.stderr
    findings = [line for line in done.stderr.splitlines() if ": program (" in line and not is_known(line)]
    assert findings == []


def is_known(finding: str) -> bool:
    """The gradient of an embedding is summed by atomic additions, in the order of the programs, as on a GPU."""
    return "tiletwin: order: " in finding and "sums of floats by atomic operations differ by rounding" in finding


def test_there_are_models_of_each_kind() -> None:
    assert len(MODELS) >= 10
