"""scripts/client_tests.py: a suite in which tests end their process or hang; what the record says of two runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import client_tests  # noqa: E402
import client_tests_record as record  # noqa: E402

TESTS = """
import os, time, pytest
def test_good(): pass
def test_bad(): assert 1 == 2
def test_ends_the_process(): os._exit(7)
def test_behind_it(): pass
@pytest.mark.skip(reason="not today")
def test_skipped(): pass
def test_hangs(): time.sleep(1000)
def test_last(): pass
"""


def run(tmp_path, *words: str) -> dict[str, dict]:
    (tmp_path / "test").mkdir(exist_ok=True)
    (tmp_path / "test" / "test_a.py").write_text(TESTS)
    given = ["pycuda", "--at", str(tmp_path), "--write", str(tmp_path / "out.json"), *words, "--", sys.executable]
    subprocess.run([sys.executable, str(SCRIPTS / "client_tests.py"), *given], check=True, capture_output=True)
    return {row["test"].split("::")[1]: row for row in json.loads((tmp_path / "out.json").read_text())["tests"]}


def test_every_test_has_an_outcome(tmp_path):
    pytest.importorskip("pytest_timeout")
    rows = run(tmp_path, "--limit", "1")
    outcomes = {name: row["outcome"] for name, row in rows.items()}
    assert outcomes == {
        "test_good": "passed", "test_bad": "failed", "test_ends_the_process": "error", "test_behind_it": "passed",
        "test_skipped": "skipped", "test_hangs": "failed", "test_last": "passed",
    }  # fmt: skip
    assert rows["test_ends_the_process"]["error"].startswith("the process ended with 7")
    assert "Timeout" in rows["test_hangs"]["error"] and "assert 1 == 2" in rows["test_bad"]["error"]


def test_what_has_run_before_stands(tmp_path):
    kept = [{"test": "test_a.py::test_bad", "outcome": "passed", "error": "", "seconds": 0.0}]
    kept += [{"test": "test_a.py::test_good", "outcome": "not run", "error": "", "seconds": 0.0}]
    (tmp_path / "before.json").write_text(json.dumps({"tests": kept}))
    rows = run(tmp_path, "--only", "good|bad", "--resume", str(tmp_path / "before.json"))
    assert {name: row["outcome"] for name, row in rows.items()} == {"test_good": "passed", "test_bad": "passed"}
    rows = run(tmp_path, "--only", "good|bad", "--seconds", "0")
    assert {row["outcome"] for row in rows.values()} == {"not run"}


def test_parts_are_of_one_module_and_the_longest_comes_first():
    tests = [f"m.test_a.C.test_{i}" for i in range(30)] + ["m.test_b.C.test_long"]
    cut = client_tests.parts(client_tests.SUITES["numba"], tests, {"m.test_b.C.test_long": 99.0})
    assert [len(part) for part in cut] == [1, 24, 6] and cut[0] == ["m.test_b.C.test_long"]


def test_what_a_gpu_passes_is_what_counts():
    """Also a test that skips itself here, or that is not there."""
    made = lambda **outcomes: {
        "date": "", "versions": {}, "seconds": 1.0, "suite": "numba",
        "tests": [{"test": name, "outcome": outcome, "error": "why 17\nmore"} for name, outcome in outcomes.items()],
    }  # fmt: skip
    here = made(a="passed", b="failed", c="skipped", d="xfailed", e="failed", f="passed")
    gpu = made(a="passed", b="passed", c="xfailed", d="passed", e="failed", f="skipped", g="passed")
    entry = record.compared(here, gpu, made(a="passed", b="error"))
    assert (entry["pass on the H200"], entry["of these here"], entry["share"]) == (5, 2, 0.4)
    assert entry["do not pass, by reason"] == {
        "not among the tests here": ["g"],
        "skips itself: why 17": ["c"],
        "why 17": ["b"],
    }
    assert entry["of these with Numba's simulator"] == 1
    assert list(record.compared(here, None, None)["do not pass, by reason"].values()) == [["b", "e"]]
