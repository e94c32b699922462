"""Environment variables that have no meaning get a word; values that are none are errors that name those there are."""

from __future__ import annotations

import pytest
from process import run_code

LAUNCH = """
    import numpy, kernels
    kernels.add[(1,)](*(numpy.ones(8, numpy.float32) for _ in range(3)), 8, BLOCK=8)
    print("done")
"""


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("TILETWIN_CHEK", "did you mean TILETWIN_CHECK?"),
        ("TILETWIN_NUM_THREAD", "did you mean TILETWIN_NUM_THREADS?"),
        ("TILETWIN_XYZZY_1", "docs/environment.md lists them"),
    ],
)
def test_a_name_that_is_none(name: str, hint: str) -> None:
    ran = run_code(LAUNCH, **{name: "all"})
    assert ran.stderr == f"tiletwin: {name} is no variable of tiletwin: {hint}\n" and ran.stdout == "done\n"


def test_names_that_are_known_are_not_mentioned() -> None:
    ran = run_code(LAUNCH, TILETWIN_CHECK="nan", TILETWIN_NUM_THREADS="2", TILETWIN_INTERPRET="1")
    assert ran.stderr == ""


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("TILETWIN_NUM_THREADS", "abc", "expected a whole number from 1 to 4096"),
        ("TILETWIN_NUMERICS", "abc", "expected one of: fast, ieee; correct or unset"),
        ("TILETWIN_FINDINGS", "report", "its name says no format"),
    ],
)
def test_a_value_that_is_none(name: str, value: str, expected: str) -> None:
    """Of a launch of one program, too, which needs no threads."""
    ran = run_code(LAUNCH, **{name: value})
    assert expected in ran.stderr and "done" not in ran.stdout


def test_exact_numerics_are_refused_with_what_there_is() -> None:
    assert "use fast or ieee" in run_code(LAUNCH, TILETWIN_NUMERICS="exact").stderr
