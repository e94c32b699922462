"""A part of torch's database of operators, compiled while kernels are interpreted and compared with eager mode.

op_db.py has the runner, and its command line for all of it. torch judges: the same operator, uncompiled.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from children import HERE, PACKAGE_PARENT, run

pytest.importorskip("torch")
RUNNER = Path(__file__).with_name("op_db.py")
UNWRITTEN = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
"""Operators whose results are memory that nothing wrote."""


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_compiled_operators_are_as_eager(tmp_path) -> None:
    results = tmp_path / "results.json"
    words = ("run", "--device", "cpu", "--part", "8/40", "--out", results)
    done = run(
        RUNNER,
        *words,
        paths=[HERE / "python" / "startup"],
        timeout=2900,
        TILETWIN_INTERPRET="1",
        TEST_PACKAGE_PARENT=str(PACKAGE_PARENT),
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    cases = json.loads(results.read_text())["cases"]
    wrong = {
        name: row
        for name, row in cases.items()
        if row["status"] not in ("same", "nothing to compare") and name.partition(" ")[0] not in UNWRITTEN
    }
    assert not wrong
    assert sum(row.get("kernels", 0) > 0 for row in cases.values()) > len(cases) // 2 > 5
