"""What processes and threads of a run find decides how the run ends, however they leave."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from finding_formats import checked_json
from process import run_python

KERNELS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def divide(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr + i, x / x)

def wrong():
    divide[(4,)](np.zeros(16, np.float32), np.zeros(16, np.float32), B=4)

def outside():
    divide[(4,)](np.ones(16, np.float32), np.zeros(14, np.float32), B=4)

if __name__ == "__main__":
    import multiprocessing, os, subprocess, sys, threading
    way = sys.argv[1]
    if way == "copy":
        if not os.fork():
            wrong()
            os._exit(0)
        os.wait()
    elif way == "killed":
        begun = multiprocessing.get_context("fork").Event()
        def go():
            wrong()
            begun.set()
            threading.Event().wait()
        child = multiprocessing.get_context("fork").Process(target=go, daemon=True)
        child.start()
        begun.wait()
        child.kill()
    elif way == "nobody joins":
        multiprocessing.get_context("spawn").Process(target=wrong).start()
    elif way == "command":
        subprocess.run([sys.executable, "-m", "tiletwin", "run", "--check", "nan", __file__, "here"])
    elif way == "here":
        wrong()
    elif way == "goes on":
        subprocess.Popen([sys.executable, "-m", "tiletwin", "run", __file__, "later"])
    elif way == "later":
        import time
        while os.path.exists(os.environ["TILETWIN_FINDINGS_RUN"]):
            time.sleep(0.05)
        wrong()
    elif way == "elsewhere":
        os.mkdir("below")
        os.chdir("below")
        wrong()
    elif way == "thread":
        threading.Timer(0.5, outside).start()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


def rules_in(path: str) -> list[str]:
    return [result["rule"] for result in checked_json(json.loads(Path(path).read_text()))["results"]]


def tiletwin(*words: str) -> subprocess.CompletedProcess:
    return run_python("-m", "tiletwin", *words)


@pytest.mark.parametrize("way", ["copy", "killed", "nobody joins", "command"])
def test_another_process_finds_something(folder: Path, way: str) -> None:
    ran = tiletwin("run", "--check", "nan", "--output", "out.json", "kernels.py", way)
    assert ran.returncode == 1, ran.stderr
    assert rules_in("out.json") == ["nan"], ran.stderr


def test_no_file_is_needed_for_that(folder: Path) -> None:
    ran = tiletwin("run", "--check", "nan", "kernels.py", "copy")
    assert ran.returncode == 1 and "kernels.py:10" in ran.stderr


def test_a_thread_that_fails_is_in_the_file(folder: Path) -> None:
    ran = tiletwin("run", "--check", "nan", "--output", "out.json", "kernels.py", "thread")
    assert ran.returncode == 1 and rules_in("out.json") == ["error"], ran.stderr
    assert "Exception in thread" in ran.stderr  # Python says it as ever


def test_a_process_that_goes_on_has_a_file_of_its_own(folder: Path) -> None:
    ran = tiletwin("run", "--check", "nan", "--output", "out.json", "kernels.py", "goes on")  # ends with its output
    assert ran.returncode == 0 and rules_in("out.json") == [], ran.stderr
    (late,) = folder.glob("out-*.json")
    assert rules_in(str(late)) == ["nan"] and f"outlived its run are in {late}" in ran.stderr


def test_the_variable_is_read_once(folder: Path) -> None:
    environment = {"TILETWIN_INTERPRET": "1", "TILETWIN_CHECK": "nan", "TILETWIN_FINDINGS": "out.json"}
    ran = run_python("kernels.py", "elsewhere", startup=True, **environment)
    assert ran.returncode == 0 and rules_in("out.json") == ["nan"], ran.stderr


@pytest.mark.parametrize("words", [["-m", "tiletwin", "run", "kernels.py", "here"], ["kernels.py", "here"]])
def test_a_variable_that_names_nothing_is_no_traceback(folder: Path, words: list[str]) -> None:
    environment = {"TILETWIN_INTERPRET": "1", "TILETWIN_FINDINGS": "nowhere/out.json"}
    ran = run_python(*words, startup=True, **environment)
    assert ran.returncode == 2 and ran.stderr.startswith("tiletwin: TILETWIN_FINDINGS=nowhere/out.json: ")
    assert "there is no folder" in ran.stderr and "Traceback" not in ran.stderr


DIFFERS = """
import multiprocessing
import numpy as np
import triton
import triton.language as tl

@triton.jit
def neighbours(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o_ptr + i, tl.load(x_ptr + i))
    tl.store(x_ptr + i, tl.load(o_ptr + (i + 32) % N))  # a barrier is missing

@triton.jit
def imports(x_ptr):
    import math
    tl.store(x_ptr, 1.0)

def launch():
    neighbours[(1,)](np.arange(64, dtype=np.float32), np.zeros(64, np.float32), N=64)

if __name__ == "__main__":
    imports[(1,)](np.zeros(4, np.float32))
    child = multiprocessing.get_context("fork").Process(target=launch)
    child.start()
    child.join()
"""


def test_another_process_compares(folder: Path) -> None:
    (folder / "script.py").write_text(DIFFERS)
    ran = tiletwin("diff", "--backends", "interp,sim", "--save", "", "--output", "out.json", "script.py")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "0 same, 1 different, 1 not comparable of 2 launches" in ran.stdout
    assert set(rules_in("out.json")) == {"difference", "not-comparable"}


def test_launches_that_are_left_out_are_not_comparable(folder: Path) -> None:
    (folder / "script.py").write_text(DIFFERS.partition("    child =")[0])
    words = ("diff", "--backends", "interp,sim", "--save", "", "--most-not-comparable")
    ran = tiletwin(*words, "0", "--allow-missing", "--output", "out.json", "script.py")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "0 same, 0 different, 1 not comparable of 1 launches" in ran.stdout
    assert "not comparable (1): imports was left out: import modules outside the kernel (script.py:15)" in ran.stdout
    assert "nothing was compared: all 1 launches were left out" in ran.stdout
    (result,) = json.loads(Path("out.json").read_text())["results"]
    assert result["rule"] == "not-comparable" and result["kernel"] == "imports" and result["place"]["line"] == 15


TESTS = """
import multiprocessing, subprocess, sys
import pytest
import kernels

kernels.wrong()

def in_a_copy(function):
    child = multiprocessing.get_context("fork").Process(target=function)
    child.start()
    child.join()

def test_nothing():
    pass

def test_copy():
    in_a_copy(kernels.wrong)

@pytest.mark.tiletwin_ignore("nan")
def test_ignored():
    in_a_copy(kernels.wrong)

def test_a_command_that_is_to_fail():
    assert subprocess.run([sys.executable, "-m", "tiletwin", "run", "-m", "fails"]).returncode == 1
"""


def pytest_session(*words: str) -> subprocess.CompletedProcess:
    return run_python("-m", "pytest", "-p", "tiletwin_pytest", "-p", "no:cacheprovider", "-q", *words)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_session_of_tests(folder: Path, workers: str) -> None:
    (folder / "test_it.py").write_text(TESTS)
    (folder / "fails.py").write_text("import kernels\nkernels.outside()\n")
    ran = pytest_session("-n", workers, "--tiletwin-check=nan", "--tiletwin-output=out.json", "test_it.py")
    assert ran.returncode == 1 and "1 failed, 3 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "FAILED test_it.py::test_copy - Failed: tiletwin: nan: kernels.py:10: " in ran.stdout
    data = checked_json(json.loads(Path("out.json").read_text()))
    assert [(r["rule"], r["test"]) for r in data["results"]] == [("nan", None), ("nan", "test_it.py::test_copy")]
    assert (data["successful"], data["exit_code"]) == (True, 1)


def test_launches_at_import_fail_the_session(folder: Path) -> None:
    (folder / "test_it.py").write_text("import kernels\nkernels.wrong()\ndef test_nothing():\n    pass\n")
    ran = pytest_session("--tiletwin-check=nan", "test_it.py")
    assert ran.returncode == 1 and "1 passed" in ran.stdout, ran.stdout
    assert "launches outside of tests" in ran.stdout and "kernels.py:10" in ran.stdout


def test_a_session_that_could_not_collect(folder: Path) -> None:
    (folder / "test_it.py").write_text("import nosuch\n")
    ran = pytest_session("--tiletwin-check=nan", "--tiletwin-output=out.json", "test_it.py")
    data = checked_json(json.loads(Path("out.json").read_text()))
    assert ran.returncode == 2 and (data["successful"], data["exit_code"]) == (False, 2)


def test_a_session_in_which_something_was_not_checked(folder: Path) -> None:
    (folder / "test_it.py").write_text("import kernels\ndef test_it():\n    kernels.wrong()\n")
    environment = {"TILETWIN_EAGER": "1"}
    ran = run_python("-m", "pytest", "-p", "tiletwin_pytest", "-q", "--tiletwin-check=nan", "test_it.py", **environment)
    assert ran.returncode == 6 and "tiletwin: not checked: divide: TILETWIN_CHECK=nan" in ran.stdout, ran.stdout


def test_a_session_with_launches_that_are_left_out(folder: Path) -> None:
    (folder / "script.py").write_text(DIFFERS)
    tests = "import numpy as np, script\ndef test_it():\n    script.imports[(1,)](np.zeros(4, np.float32))\n"
    (folder / "test_it.py").write_text(tests)
    ran = pytest_session("--tiletwin-diff=interp,sim", "--tiletwin-output=out.json", "test_it.py")
    assert ran.returncode == 6 and "0 same, 0 different, 1 not comparable of 1 launches" in ran.stdout, ran.stdout
    assert "not comparable (1): imports was left out: import modules outside the kernel (script.py:15)" in ran.stdout
    (result,) = json.loads(Path("out.json").read_text())["results"]
    assert (result["rule"], result["test"]) == ("not-comparable", "test_it.py::test_it")
