"""What users read: reports on stderr, findings as dataclasses, CheckError, the line at exit, bad words."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import children
import pytest

SCRIPT = """
import torch
import tiletwin as triton
import tiletwin.language as tl

@triton.jit
def kernel(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(o_ptr + i, x + 1)

def run(programs=2):
    kernel[(programs,)](torch.arange(16.), torch.zeros(16), 5, B=8)

"""


def run(folder: Path, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(SCRIPT + textwrap.dedent(text))
    return children.run(script, **variables)


def test_the_report_names_both_places(tmp_path: Path) -> None:
    done = run(tmp_path, "run(); run(); print('goes on')", TILETWIN_CHECK="undefined")
    assert done.returncode == 0 and done.stdout == "goes on\n"
    file = tmp_path / "script.py"
    assert done.stderr.splitlines() == [
        f"tiletwin: undefined: {file}:10:5: tl.store: program (0, 0, 0) and 1 more, elements 5, 6, 7: "
        "writes an undefined value to memory",
        "    tl.store(o_ptr + i, x + 1)",
        "    ^",
        f"  {file}:9:9 (x): tl.load leaves its masked-off lanes undefined: there is no `other`",
        "    x = tl.load(x_ptr + i, mask=i < n)",
        "        ^",
        "  what to do: give the load an `other`, or keep those lanes out with tl.where or a mask",
        "tiletwin: TILETWIN_CHECK found 1 mistake",
    ]


def test_elements_stand_at_the_place_that_they_are_of(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        @triton.jit
        def turned(x_ptr, o_ptr, B: tl.constexpr):
            i = tl.arange(0, B)
            y = tl.load(x_ptr + i) * 3.0e38
            tl.store(o_ptr + i[:, None] * 2 + tl.arange(0, 2)[None, :], y[:, None])

        turned[(1,)](torch.tensor([0.0, 0.0, 3.0, 0.0]), torch.zeros(8), B=4)
        """,
        TILETWIN_CHECK="nan",
    )
    file = tmp_path / "script.py"
    first, _, _, second, *_ = done.stderr.splitlines()
    assert first.startswith(f"tiletwin: nan: {file}:19:9: *: program (0, 0, 0), y: NaN or infinity begins here: ")
    assert second == f"  {file}:20:5: tl.store writes it to memory, elements (2, 0), (2, 1)"


def test_findings_are_objects(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        run(); run()
        (f,) = triton.checks.findings()
        print(f.check, f.kernel, f.line, f.column, f.operation, f.program, f.programs, f.elements, f.count, f.shape)
        print(f.second.line, f.second.variable, f.second.operation, f.launches)
        triton.checks.clear()
        print(triton.checks.findings())
        """,
        TILETWIN_CHECK="undefined",
    )
    assert done.stdout.splitlines() == [
        "undefined kernel 10 5 tl.store (0, 0, 0) 2 ((5,), (6,), (7,)) 3 (8,)",
        "9 x tl.load 2",
        "[]",
    ], done.stderr
    assert "TILETWIN_CHECK found" not in done.stderr


def test_raise_makes_it_an_error(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        import pickle
        try:
            run()
        except triton.CheckError as error:
            print(len(error.findings), isinstance(error, triton.errors.TileTwinError), "tl.store" in str(error))
            assert str(pickle.loads(pickle.dumps(error))) == str(error)
        """,
        TILETWIN_CHECK="undefined,raise",
    )
    assert done.stdout == "1 True True\n", done.stderr


def test_a_bad_word_lists_the_words(tmp_path: Path) -> None:
    done = run(tmp_path, "run()", TILETWIN_CHECK="undefined,racess")
    assert done.returncode == 1
    assert "ValueError: TILETWIN_CHECK=undefined,racess: 'racess' is not a check; join some of" in done.stderr
    words = ("bounds", "uninitialized", "undefined", "races", "order", "nan", "overflow", "promises", "device")
    for word in (*words, "barriers", "async"):
        assert word in done.stderr


def test_words_of_the_simulator_change_nothing_here(tmp_path: Path) -> None:
    done = run(tmp_path, "run()", TILETWIN_CHECK="async,raise")
    assert done.returncode == 0 and not done.stderr


@pytest.mark.parametrize("value", ["", "0", "off"])
def test_off_is_off(value: str, tmp_path: Path) -> None:
    done = run(tmp_path, "run()", TILETWIN_CHECK=value)
    assert done.returncode == 0 and not done.stderr


def test_checks_may_be_switched_while_a_process_runs(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        import os
        run()
        os.environ["TILETWIN_CHECK"] = "nan"
        run()
        assert not triton.checks.findings()
        os.environ["TILETWIN_CHECK"] = "undefined"
        run()
        assert len(triton.checks.findings()) == 1
        del os.environ["TILETWIN_CHECK"]
        triton.checks.clear()
        run()
        assert not triton.checks.findings()
        """,
    )
    assert done.returncode == 0, done.stderr


def test_eager_programs_are_not_checked_and_say_so(tmp_path: Path) -> None:
    done = run(tmp_path, "run(); run()", TILETWIN_CHECK="undefined,bounds", TILETWIN_EAGER="1")
    assert done.returncode == 0
    notices = [line for line in done.stderr.splitlines() if "looks at compiled programs only" in line]
    assert len(notices) == 1 and "undefined" in notices[0] and "TILETWIN_EAGER" in notices[0]


def test_a_finding_in_the_library_is_named_in_the_kernel(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        @triton.jit
        def largest(x_ptr, o_ptr, n, B: tl.constexpr):
            i = tl.arange(0, B)
            x = tl.load(x_ptr + i, mask=i < n)
            tl.store(o_ptr, tl.max(x, 0))

        largest[(1,)](torch.arange(16.), torch.zeros(1), 5, B=8)
        """,
        TILETWIN_CHECK="undefined",
    )
    assert "script.py:20:21: reduction: program (0, 0, 0), elements 5, 6, 7: combines undefined lanes" in done.stderr
