"""Runs the .mlir files of this folder with lit; one pytest test for each file."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
FILES = sorted(HERE.glob("*.mlir"))


@pytest.fixture(scope="session")
def lit_results(tiletwin_opt, tmp_path_factory) -> dict[str, dict]:
    scratch = tmp_path_factory.mktemp("lit")
    report = scratch / "report.json"
    command = [sys.executable, "-c", "from lit.main import main; main()", "-q", "--no-progress-bar", "-o", str(report)]
    command += ["--param", f"tools={tiletwin_opt.parent}", "--param", f"scratch={scratch}", str(HERE)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert report.exists(), run.stdout + run.stderr
    return {test["name"].split(" :: ")[1]: test for test in json.loads(report.read_text())["tests"]}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_lit(path, lit_results):
    result = lit_results[path.name]
    assert result["code"] == "PASS", result["output"]
