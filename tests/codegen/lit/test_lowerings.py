"""Runs the .mlir files of this folder with lit, one pytest test for each; no lowering may be without one.

Here:      which operations have code (codegen/emit/Table.cpp), which files give them to the code generator.
Not here:  what the code computes (tests/codegen/test_*.py).
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FILES = sorted(HERE.glob("*.mlir"))
STEPS = ROOT / "codegen/passes/Steps.cpp"


@pytest.fixture(scope="session")
def tools() -> pathlib.Path:
    """The folder of tiletwin-opt and tiletwin-translate: $TILETWIN_TOOLS, else the newest build."""
    if folder := os.environ.get("TILETWIN_TOOLS"):
        return pathlib.Path(folder)
    built = sorted(ROOT.glob("build/*/tests/tools/tiletwin-translate"), key=lambda p: p.stat().st_mtime)
    assert built, "tiletwin-translate is not built: `make build` builds all that tests need"
    return built[-1].parent


@pytest.fixture(scope="session")
def lit_results(tools, tmp_path_factory) -> dict[str, dict]:
    scratch = tmp_path_factory.mktemp("lit")
    report = scratch / "report.json"
    command = [sys.executable, "-c", "from lit.main import main; main()", "-q", "--no-progress-bar", "-o", str(report)]
    command += ["--param", f"tools={tools}", "--param", f"scratch={scratch}", str(HERE)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert report.exists(), run.stdout + run.stderr
    return {test["name"].split(" :: ")[1]: test for test in json.loads(report.read_text())["tests"]}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_lit(path, lit_results) -> None:
    result = lit_results[path.name]
    assert result["code"] == "PASS", result["output"]


@pytest.fixture(scope="session")
def rows(tools) -> list[str]:
    """The operations that have code."""
    command = [str(tools / "tiletwin-translate"), "--operations"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def checked_operations(text: str) -> set[str]:
    """Operations that a file gives to the code generator and checks, part by part: those of its IR, and those of ttgir
    that its CHECK lines name. A part without CHECK lines checks none."""
    runs = [line for line in text.splitlines() if "RUN:" in line]
    if not any("FileCheck" in run and re.search(r"--emit-(ptx|llvm)", run) for run in runs):
        return set()
    found: set[str] = set()
    for part in re.split(r"^// -----", text, flags=re.MULTILINE):
        checks = [
            line
            for line in part.splitlines()
            if re.match(r"//\s*[A-Z0-9]+(-[A-Z0-9-]+)?:", line) and "RUN:" not in line
        ]
        if not [line for line in checks if "LABEL" not in line]:
            continue
        code = [line for line in part.splitlines() if not line.lstrip().startswith("//")]
        found |= set(re.findall(r"(?<![\w.])[a-z]+\.[a-z0-9_]+(?:\.[a-z0-9_]+)*", "\n".join(code + checks)))
    return found


def test_a_file_counts_for_what_it_checks(rows) -> None:
    assert rows == sorted(rows) and len(rows) > 100
    part = "// CHECK: add.f32\n  %0 = arith.addf %a, %b : f32\n"
    run = "// RUN: tiletwin-translate %s --emit-ptx | FileCheck %s\n"
    assert "arith.addf" in checked_operations(run + part)
    assert not checked_operations(part)
    assert "arith.addf" not in checked_operations(run + part.replace("// CHECK: add.f32", ""))
    assert "tt.dot" not in checked_operations(run + part.replace("arith.addf", "tt.dot_scaled"))


def test_every_row_has_a_test(rows) -> None:
    checked = set().union(*(checked_operations(path.read_text()) for path in FILES))
    missing = [row for row in rows if row not in checked]
    assert not missing, f"no file in {HERE.relative_to(ROOT)} checks the code of {', '.join(missing)}"


def test_every_step_runs_by_its_name(tools) -> None:
    """Steps from ttir to ttgir are passes of tiletwin-opt, each with all the options; one by one they give what
    the pipeline of all gives."""
    names = re.findall(r'^\s*\{"(twg-[\w-]+)",', STEPS.read_text(), re.MULTILINE)
    options = "arch=sm_80 num-warps=4 num-stages=3 fp-fusion=false"
    command = [str(tools / "tiletwin-opt"), str(HERE / "pipelines.mlir")]
    alone = subprocess.run([*command, *(f"--{name}={options}" for name in names)], capture_output=True, text=True)
    whole = subprocess.run([*command, f"--twg-make-ttgir={options}"], capture_output=True, text=True)
    assert len(names) >= 7 and not alone.returncode, alone.stderr
    assert "twg.async_copy" in alone.stdout and alone.stdout == whole.stdout
