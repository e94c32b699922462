"""A mistake of the code generator is named by kernel, argument, element, program and source line; without it nothing is
reported."""

from __future__ import annotations

import re
from pathlib import Path

import children
import miscompiled_kernels as kernels
import pytest
from miscompiled_kernels import CASES, line_of
from miscompiler import planted
from tiletwin import diff

HERE = Path(__file__).resolve().parent
pytest_plugins = "pytester"


def compared(name: str) -> diff.Report:
    case = CASES[name]
    return diff.compare(case.kernel, case.grid, case.arguments(), backends="interp,sim")


@pytest.mark.parametrize("name", CASES)
def test_named(name: str) -> None:
    case = CASES[name]
    with planted(name) as miscompiler:
        report = compared(name)
    assert miscompiler.changes and all(miscompiler.changes), "a kernel was compiled without the mistake"
    first, found = report.first(), report.finding
    assert report.verdict == diff.DIFFERENT and first and found, report
    assert first.argument == "o" and first.program == case.program, report
    assert first.index == (case.index or first.index) and first.left != first.right, report
    assert found.program == (case.program or (0, 0, 0)), report
    assert found.place[0] == kernels.__file__ and found.place[1] == line_of(case.line), report
    assert found.variable == case.variable and found.index == (case.inside or found.index), report
    text = str(report)
    assert f"{case.kernel.__name__}[" in text and f"miscompiled_kernels.py:{line_of(case.line)}" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_right_code_is_silent(name: str) -> None:
    report = compared(name)
    assert report.verdict == diff.SAME and not report.notes and not report.findings, report


def test_a_missing_barrier_is_a_race_too() -> None:
    """What the checks find in the code stands in the report, at the place of the accesses."""
    with planted("missing barrier"):
        report = compared("missing barrier")
    races = [text for text in report.findings if text.startswith("sim: races: ")]
    assert any("shared memory" in text and "nothing orders the two accesses" in text for text in races), report
    assert races[0] in str(report)


def test_a_race_that_changes_nothing_is_reported(monkeypatch) -> None:
    """Equal rows: whoever reads too early reads what the row before left there. The check of races sees it."""
    case = CASES["missing barrier"]
    arguments = case.arguments() | {"n": 0}
    monkeypatch.setenv("TILETWIN_CHECK", "races")
    with planted("missing barrier"):
        report = diff.compare(case.kernel, (1,), arguments, backends="interp,sim")
    assert not report.rows or report.first() is None
    assert report.verdict == diff.DIFFERENT and any("races" in text for text in report.findings), report


SCRIPT = """
import sys

sys.path.insert(0, {folder!r})
import miscompiler
from miscompiled_kernels import CASES

for name, case in CASES.items():
    with miscompiler.planted(name):
        case.kernel[case.grid](**case.arguments())
for case in CASES.values():
    case.kernel[case.grid](**case.arguments())
"""


def _named_in(output: str) -> None:
    """Every mistake has a report with kernel, element, program, and the line of the first value that differs."""
    reports = re.split(r"(?m)^(?=\w+\[\d+, 1, 1\] on interp, sim: different$)", output)[1:]
    for name, case in CASES.items():
        wanted = (
            f"{case.kernel.__name__}[{case.grid[0]}, 1, 1] on ",
            f"    o{case.index or '['}",
            f"program {case.program or (0, 0, 0)}: ",
            f"miscompiled_kernels.py:{line_of(case.line)}: ",
            f": {case.variable}{case.inside}" if case.variable else f": sim writes o{case.index}",
        )
        assert any(all(text in report for text in wanted) for report in reports), (name, wanted, output)


def test_the_command_names_all(tmp_path: Path) -> None:
    """`tiletwin diff`: every mistake is found, and the same launches compiled without are the same."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(HERE)))
    done = children.run_tiletwin("diff", "--backends", "interp,sim", "script.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr + done.stdout
    assert f"{len(CASES)} same, {len(CASES)} different, 0 not comparable" in done.stdout, done.stdout
    _named_in(done.stdout)


PYTEST_FILE = """
import contextlib
import sys

import pytest

sys.path.insert(0, {folder!r})
import miscompiler
from miscompiled_kernels import CASES

@pytest.mark.parametrize("mistake", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_kernel(name, mistake):
    case = CASES[name]
    with miscompiler.planted(name) if mistake else contextlib.nullcontext():
        case.kernel[case.grid](**case.arguments())
"""


@pytest.mark.slow
def test_pytest_names_all(pytester, monkeypatch) -> None:
    children.clean(monkeypatch)
    pytester.makepyfile(test_kernels=PYTEST_FILE.format(folder=str(HERE)))
    words = ["-p", "tiletwin_pytest"] if "tiletwin_pytest" not in "".join(pytester.plugins) else []
    result = pytester.runpytest_subprocess(*words, "--tiletwin-diff", "interp,sim")
    result.assert_outcomes(passed=len(CASES), failed=len(CASES))
    _named_in(result.stdout.str())
