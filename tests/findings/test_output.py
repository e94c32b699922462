"""Files of findings as commands and scripts write them, and how those end."""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest
from finding_formats import checked_json, checked_sarif
from process import run_python

KERNELS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def divide(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i)
    y = x / x
    tl.store(o_ptr + i, y)

def clean():
    divide[(4,)](np.ones(16, np.float32), np.zeros(16, np.float32), B=4)

def wrong():
    divide[(4,)](np.zeros(16, np.float32), np.zeros(16, np.float32), B=4)

def outside():
    divide[(4,)](np.ones(16, np.float32), np.zeros(14, np.float32), B=4)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


def script(folder: Path, text: str, name: str = "script.py") -> str:
    (folder / name).write_text(textwrap.dedent(text))
    return name


def tiletwin(*words: str, **environment: str) -> subprocess.CompletedProcess:
    return run_python("-m", "tiletwin", *words, **environment)


def written(path: str) -> Any:
    data = json.loads(Path(path).read_text())
    return checked_sarif(data) if path.endswith(".sarif") else checked_json(data)


@pytest.mark.parametrize(
    ("text", "code", "rules"),
    [
        ("import kernels; kernels.clean()", 0, []),
        ("import kernels; kernels.wrong()", 1, ["tiletwin/nan"]),
        ("import kernels; kernels.wrong(); raise SystemExit(7)", 7, ["tiletwin/nan"]),
        ("import kernels; kernels.outside()", 1, ["tiletwin/error"]),
        ("raise KeyError('x')", 1, []),
    ],
)
def test_how_a_script_ends(folder: Path, text: str, code: int, rules: list[str]) -> None:
    ran = tiletwin("run", "--check", "nan", "--output", "out.sarif", script(folder, text))
    assert ran.returncode == code, ran.stderr
    found = written("out.sarif")
    assert [result["ruleId"] for result in found] == rules
    assert json.loads(Path("out.sarif").read_text())["runs"][0]["invocations"] == [
        {"executionSuccessful": "raise" not in text and "outside" not in text, "exitCode": code}
    ]
    for result in found:
        physical = result["locations"][0]["physicalLocation"]
        assert physical["artifactLocation"]["uri"] == "kernels.py" and physical["region"]["snippet"]["text"].strip()


def test_findings_change_no_exit_code_unless_asked(folder: Path) -> None:
    name = script(folder, "import kernels; kernels.wrong()")
    assert tiletwin("run", name, TILETWIN_CHECK="nan").returncode == 0
    assert tiletwin("run", "--check", "nan", name).returncode == 1
    assert tiletwin("run", name, TILETWIN_CHECK="nan,raise").returncode == 1


def test_options_behind_the_script_are_its_own(folder: Path) -> None:
    name = script(folder, "import sys; print(sys.argv[1:])")
    assert "['--check', 'x', '--output', '-h']" in tiletwin("run", name, "--check", "x", "--output", "-h").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--format", "sarif"], "name the file with --output"),
        (["--output", "report"], "its name says no format"),
        (["--output", "nowhere/out.json"], "there is no folder"),
        (["--output", "out.json", "--format", "xml"], "expected one of: text, json, sarif"),
        (["--check", "nam"], "nam"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_runs(folder: Path, words: list[str], message: str) -> None:
    ran = tiletwin("run", *words, script(folder, "print('ran')"))
    assert ran.returncode == 2 and message in ran.stderr and "ran" not in ran.stdout


@pytest.mark.parametrize(
    "words", [["run", "nosuch.py"], ["run", "--check", "races", "nosuch.py"], ["sim", "nosuch.ptx"]], ids=" ".join
)
def test_a_command_that_cannot_run_writes_nothing(folder: Path, words: list[str]) -> None:
    ran = tiletwin(words[0], "--output", "out.sarif", *words[1:])
    assert ran.returncode == 2 and "nosuch" in ran.stderr and not Path("out.sarif").exists()


def test_a_full_disk_is_an_error_of_the_command(folder: Path) -> None:
    name = script(folder, "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))")
    before = set(folder.iterdir())
    ran = tiletwin("run", "--output", "out.json", name)
    assert ran.returncode == 2 and "findings were not written" in ran.stderr and "Traceback" not in ran.stderr
    assert {path.name for path in set(folder.iterdir()) - before} <= {"__pycache__"}


def test_a_script_under_the_variable(folder: Path) -> None:
    name = script(folder, "import kernels; kernels.wrong()")
    environment = {"TILETWIN_INTERPRET": "1", "TILETWIN_CHECK": "nan", "TILETWIN_FINDINGS": "json:report"}
    assert run_python(name, startup=True, **environment).returncode == 0
    data = checked_json(json.loads(Path("report").read_text()))
    (result,) = data["results"]
    assert data["counts"] == {"error": 0, "warning": 1, "note": 0} and result["kernel"] == "divide"
    assert (result["place"]["file"], result["place"]["line"]) == (str(folder / "kernels.py"), 10)
    assert result["program"] == [0, 0, 0] and result["facts"]["element_count"] == 4
    assert "0 / 0" not in result["message"] and result["advice"]


def test_processes_of_a_script_add_to_its_file(folder: Path) -> None:
    (folder / "others.py").write_text(KERNELS)
    script(folder, "import others; others.outside()", "child.py")
    name = script(
        folder,
        """
        import multiprocessing, subprocess, sys
        import kernels
        if __name__ == "__main__":
            kernels.clean()
            with multiprocessing.get_context("fork").Pool(1) as pool:
                pool.apply(kernels.wrong)
                pool.close()
                pool.join()
            subprocess.run([sys.executable, "-m", "tiletwin", "run", "child.py"])
        """,
    )
    ran = tiletwin("run", "--check", "nan", "--output", "out.json", name)
    found = {(result["rule"], Path(result["place"]["file"]).name) for result in written("out.json")["results"]}
    assert found == {("nan", "kernels.py"), ("error", "others.py")}, ran.stderr


def test_the_same_mistake_has_the_same_fingerprint_in_every_run(folder: Path) -> None:
    name = script(folder, "import kernels; kernels.wrong()")
    marks = []
    for threads in ("1", "4"):
        tiletwin("run", "--check", "all", "--output", "out.sarif", name, TILETWIN_NUM_THREADS=threads)
        marks.append([result["partialFingerprints"] for result in written("out.sarif")])
    assert marks[0] == marks[1] and marks[0]


def test_text(folder: Path) -> None:
    tiletwin("run", "--check", "nan", "--output", "out.txt", script(folder, "import kernels; kernels.wrong()"))
    text = Path("out.txt").read_text()
    assert "kernels.py:10:9: warning: tiletwin/nan: [divide] program (0, 0, 0) NaN or infinity begins here" in text
    assert "what to do: look at the divisor" in text


def test_what_was_not_checked_is_noted(folder: Path) -> None:
    name = script(folder, "import kernels; kernels.wrong()")
    ran = tiletwin("run", "--check", "nan", "--output", "out.sarif", name, TILETWIN_EAGER="1")
    assert ran.returncode == 4, ran.stderr  # asked for, and not checked
    (run,) = json.loads(Path("out.sarif").read_text())["runs"]
    (notice,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "divide" in notice["message"]["text"] and "not checked" in notice["message"]["text"]


def test_version(folder: Path) -> None:
    ran = tiletwin("--version")
    assert ran.returncode == 0 and ran.stdout.startswith("tiletwin 0.")


def test_help_of_diff(folder: Path) -> None:
    ran = tiletwin("diff", "-h")
    assert ran.returncode == 0 and "--backends" in ran.stdout


# ---- the simulator ----

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 p)
{
  .reg .u64 %rd<4>;
  .reg .u32 %r<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
"""


def test_the_simulator(folder: Path) -> None:
    import numpy as np

    Path("fill.ptx").write_text(PTX)
    np.savez("args.npz", p=np.zeros(40, np.uint32))
    ran = tiletwin("sim", "fill.ptx", "--block", "64", "--output", "out.sarif", "args.npz")
    assert ran.returncode == 1, ran.stderr
    (result,) = written("out.sarif")
    assert result["ruleId"] == "tiletwin/error" and "fill.ptx" in result["message"]["text"]
    ran = tiletwin("sim", "fill.ptx", "--block", "32", "--output", "out.sarif", "args.npz")
    assert ran.returncode == 0 and written("out.sarif") == []


# ---- backends ----

DIFFERS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def neighbours(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o_ptr + i, tl.load(x_ptr + i))
    tl.store(x_ptr + i, tl.load(o_ptr + (i + 32) % N))  # a barrier is missing

def launch():
    neighbours[(1,)](np.arange(64, dtype=np.float32), np.zeros(64, np.float32), N=64)

if __name__ == "__main__":
    launch()
"""


def test_differences_between_backends(folder: Path) -> None:
    name = script(folder, DIFFERS)
    words = ("diff", "--backends", "interp,sim", "--save", "kept")
    ran = tiletwin(*words, "--output", "out.sarif", name)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    first = written("out.sarif")
    assert {result["ruleId"] for result in first} == {"tiletwin/difference"}
    assert any("neighbours" in where["name"] for where in first[0]["locations"][0]["logicalLocations"])
    kept = sorted(map(str, Path("kept").iterdir()))
    ran = tiletwin("replay", "--backend", "recorded,sim", "--output", "again.json", *kept)
    assert checked_json(json.loads(Path("again.json").read_text())) and ran.returncode in (0, 1), ran.stderr
    Path("test_it.py").write_text("import script\ndef test_it():\n    script.launch()\n")
    ran = run_python(
        "-m", "pytest", "-p", "tiletwin_pytest", "-p", "no:cacheprovider", "--tiletwin-diff=interp,sim",
        "--tiletwin-output=tests.sarif", "test_it.py",
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout
    found = written("tests.sarif")
    assert {result["ruleId"] for result in found} == {"tiletwin/difference"}
    assert {result["properties"]["test"] for result in found} == {"test_it.py::test_it"}


# ---- pytest ----

TESTS = """
import pytest
from kernels import clean, outside, wrong

def test_clean():
    clean()

def test_wrong():
    wrong()

def test_outside():
    outside()

@pytest.mark.tiletwin_ignore("nan")
def test_ignored():
    wrong()
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_pytest_writes_files_and_properties(folder: Path, workers: str) -> None:
    import xml.etree.ElementTree as xml

    Path("test_it.py").write_text(TESTS)
    ran = run_python(
        "-m", "pytest", "-p", "tiletwin_pytest", "-p", "no:cacheprovider", "-n", workers, "--tiletwin-check=nan",
        "--tiletwin-output=out.sarif", "--junitxml=junit.xml", "test_it.py",
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    found = {result["properties"]["test"]: result for result in written("out.sarif")}
    assert {test: result["ruleId"] for test, result in found.items()} == {
        "test_it.py::test_wrong": "tiletwin/nan", "test_it.py::test_outside": "tiletwin/error",
    }  # fmt: skip
    properties = {
        (case.get("name"), entry.get("name"), (entry.get("value") or "").partition(": ")[0])
        for case in xml.parse("junit.xml").iter("testcase")
        for entry in case.iter("property")
    }
    place = str(folder / "kernels.py")
    assert properties == {
        ("test_wrong", "tiletwin.nan", f"{place}:10"), ("test_outside", "tiletwin.error", f"{place}:11"),
    }  # fmt: skip
    assert ran.stdout.count("tiletwin: nan: ") == 3  # the failure, its report, the summary: once each


def test_pytest_refuses_a_file_that_cannot_be_written(folder: Path) -> None:
    Path("test_it.py").write_text(TESTS)
    ran = run_python("-m", "pytest", "-p", "tiletwin_pytest", "--tiletwin-output=nowhere/out.json", "test_it.py")
    assert ran.returncode == 4 and "there is no folder" in ran.stderr
