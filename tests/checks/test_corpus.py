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
from tiletwin import checks, fresh_memory

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


def findings_of(case: Case, bug: bool, monkeypatch: pytest.MonkeyPatch) -> list[checks.Finding]:
    """What all checks (and the case's own device) find in a run of a case."""
    device = case.check if case.check.startswith("device:") else "device:h200"
    monkeypatch.setenv("TILETWIN_CHECK", f"all,{device}")
    fresh_memory.watch()  # else only what is allocated after the first launch with checks
    checks.clear()
    got, want = case.run(bug)
    found = checks.findings()
    checks.clear()
    if not bug:
        assert same(got, want)
    return found


def sites(finding: checks.Finding) -> set[int]:
    """Lines that a finding names."""
    return {site.line for site in (finding.site, finding.second, *finding.more) if site is not None and site.line}


@pytest.mark.parametrize("case", [p for p in EVERY if p.values[0].check != "OutOfBoundsError"])
def test_the_mistake_is_found(case: Case, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    found = findings_of(case, True, monkeypatch)
    word = case.check.partition(":")[0]
    own = [finding for finding in found if finding.check == word]
    marked = case.marked_lines()
    assert own, f"nothing by {word}; found:\n" + "\n".join(map(str, found))
    # The place of a race, and of a missing barrier, is a pair of lines; other findings may name as their second place
    # where a bad lane began.
    pairs = word in ("races", "barriers")
    named = set().union(*map(sites, own)) if pairs else {finding.line for finding in own}
    assert all(Path(finding.file or "").samefile(case.file) for finding in own)
    assert marked <= named, "\n".join(map(str, own))
    assert named <= marked | case.allowed_lines(), "\n".join(map(str, own))
    others = {finding.check for finding in found} - {word}
    assert others <= case.also, "\n".join(str(finding) for finding in found if finding.check not in {word, *case.also})
    text = capfd.readouterr().err
    for finding in own:
        assert f"tiletwin: {word}: " in text and f"{Path(case.file).name}:{finding.line}" in text


@pytest.mark.parametrize("case", [p for p in EVERY if p.values[0].check == "OutOfBoundsError"])
def test_the_error_is_raised_with_checks(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton import OutOfBoundsError

    monkeypatch.setenv("TILETWIN_CHECK", "all")
    with pytest.raises(OutOfBoundsError) as failure:
        case.run(True)
    checks.clear()
    assert failure.value.file == case.file and {failure.value.line} == case.marked_lines()


@pytest.mark.parametrize("case", EVERY)
def test_nothing_is_found_in_the_twin(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    found = findings_of(case, False, monkeypatch)
    assert not found, "\n".join(map(str, found))
