"""The corpus of seeded mistakes: every check finds its own on the right lines, and says nothing about clean twins.

Here:      what is expected of each case, whichever check it is for.
Not here:  the cases (corpus/).
Invariant: a check is expected by its name and by every marked line; other checks may speak only where a case says so.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch
from corpus.seeded import CASES, Case

for _file in sorted((Path(__file__).resolve().parent / "corpus").glob("*.py")):
    importlib.import_module(f"corpus.{_file.stem}")

EVERY = [pytest.param(case, id=case.name) for case in CASES]


def same(got: torch.Tensor, want: torch.Tensor) -> bool:
    """Equal up to a few roundings of the less exact of the two types."""
    units = 4 * max(torch.finfo(t.dtype).eps if t.is_floating_point() else 0.0 for t in (got, want))
    scale = float(want.double().abs().max())
    return torch.allclose(got.double(), want.double(), rtol=units, atol=units * scale)


@pytest.fixture(autouse=True)
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Races have the same outcome in every run of the tests."""
    monkeypatch.setenv("TILETWIN_DETERMINISTIC", "1")


def test_there_are_enough() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", EVERY)
def test_a_line_is_marked(case: Case) -> None:
    assert case.marked_lines()


@pytest.mark.parametrize("case", EVERY)
def test_the_twin_is_right(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILETWIN_CHECK", raising=False)
    got, want = case.run(False)
    assert same(got, want)


@pytest.mark.parametrize("case", EVERY)
def test_the_mistake_is_one(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without checks the numbers are wrong, or the case says why they are right here."""
    monkeypatch.delenv("TILETWIN_CHECK", raising=False)
    if case.check == "OutOfBoundsError":
        from triton import OutOfBoundsError

        with pytest.raises(OutOfBoundsError) as failure:
            case.run(True)
        assert failure.value.file == case.file and {failure.value.line} == case.marked_lines()
        return
    got, want = case.run(True)
    if case.check != "uninitialized":  # fresh memory has no value that a test could rely on
        assert same(got, want) == bool(case.hidden)
