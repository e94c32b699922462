"""Findings that a file lists are left out: of what is printed and written, of exit codes, of tests."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from process import run_python

KERNELS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def divide(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr + i, x / x)

@triton.jit
def wrap(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr + i, x * x)

def zeros():
    divide[(1,)](np.zeros(4, np.float32), np.zeros(4, np.float32), B=4)

def large():
    wrap[(1,)](np.full(4, 1 << 20, np.int32), np.zeros(4, np.int32), B=4)
"""
ONE_MORE = "\n\nimport kernels\nkernels.zeros()\nkernels.large()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Has known.json, which lists what `zeros` does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    Path("kernels.py").write_text(KERNELS)
    Path("script.py").write_text("import kernels\nkernels.zeros()\n")
    ran = tiletwin("run", "--check", "all", "--output", "known.json", "script.py")
    assert ran.returncode == 1 and len(results("known.json")) == 1, ran.stderr
    return tmp_path


def tiletwin(*words: str, **environment: str) -> subprocess.CompletedProcess:
    return run_python("-m", "tiletwin", *words, **environment)


def results(path: str) -> list[dict]:
    return json.loads(Path(path).read_text())["results"]


def test_only_what_is_new_counts(folder: Path) -> None:
    words = ("run", "--check", "all", "--baseline", "known.json")
    Path("kernels.py").write_text("# a comment\n\n" + KERNELS)  # other line numbers
    ran = tiletwin(*words, "script.py")
    assert (ran.returncode, ran.stderr) == (0, "tiletwin: 1 known mistake is not shown (known.json)\n")
    Path("more.py").write_text(ONE_MORE)
    ran = tiletwin(*words, "--output", "new.json", "more.py")
    assert ran.returncode == 1 and "tiletwin: overflow: " in ran.stderr and "tiletwin: nan: " not in ran.stderr
    assert [result["rule"] for result in results("new.json")] == ["overflow"]


def test_a_line_that_changes_is_new(folder: Path) -> None:
    Path("kernels.py").write_text(KERNELS.replace("x / x", "(x / x)"))
    assert tiletwin("run", "--check", "all", "--baseline", "known.json", "script.py").returncode == 1


def test_processes_that_a_script_starts(folder: Path) -> None:
    Path("parent.py").write_text("import subprocess, sys\nsubprocess.run([sys.executable, 'script.py'])\n")
    words = ("run", "--check", "all", "--baseline", "known.json", "parent.py")
    assert tiletwin(*words, TILETWIN_INTERPRET="1").returncode == 0


def test_nothing_is_raised_for_what_is_known(folder: Path) -> None:
    variables = {"TILETWIN_INTERPRET": "1", "TILETWIN_CHECK": "all,raise", "TILETWIN_BASELINE": "known.json"}
    ran = run_python("-c", "import tiletwin, sys; sys.modules['triton'] = tiletwin\nimport kernels\nkernels.zeros()\n"
                     "kernels.large()", **variables)  # fmt: skip
    assert "CheckError: tiletwin: overflow" in ran.stderr and "nan" not in ran.stderr


@pytest.mark.parametrize("workers", ["0", "2"])
def test_pytest(folder: Path, workers: str) -> None:
    Path("test_it.py").write_text("import kernels\ndef test_a(): kernels.zeros()\ndef test_b(): kernels.large()\n")
    words = ["-m", "pytest", "-p", "tiletwin_pytest", "-p", "no:cacheprovider", "-n", workers, "test_it.py"]
    ran = run_python(*words, "--tiletwin-check=all", "--tiletwin-baseline=known.json")
    assert ran.returncode == 1 and "1 failed, 1 passed" in ran.stdout, ran.stdout
    assert "FAILED test_it.py::test_b" in ran.stdout and "the checks found" not in ran.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "No such file or directory; a run with --output known.json writes one"),
        ("nan", "is no JSON"),
        ("{}", "is no file of findings in tiletwin's JSON"),
        ('{"format": "tiletwin findings", "version": 7}', "has version 7 of the format"),
    ],
)
def test_a_file_that_is_none(folder: Path, text: str | None, problem: str) -> None:
    Path("known.json").unlink()
    if text is not None:
        Path("known.json").write_text(text)
    ran = tiletwin("run", "--check", "all", "--baseline", "known.json", "script.py")
    assert ran.returncode == 2 and problem in ran.stderr and "Traceback" not in ran.stderr, ran.stderr
    ran = run_python("script.py", TILETWIN_BASELINE="known.json", TILETWIN_INTERPRET="1", startup=True)
    assert problem in ran.stderr, ran.stderr


def test_a_file_is_not_written_over(folder: Path) -> None:
    ran = tiletwin("run", "--check", "all", "--baseline", "known.json", "--output", "./known.json", "script.py")
    assert ran.returncode == 2 and "--baseline and --output both name" in ran.stderr
