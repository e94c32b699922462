"""Every kernel of the corpus, compiled and in eager mode: the same errors, word by word, and the same bits.

Here:      outcomes of both modes, side by side.
Not here:  what checks find (test_corpus.py): they look at compiled programs.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch
from corpus.seeded import CASES, Case

for _file in sorted((Path(__file__).resolve().parent / "corpus").glob("*.py")):
    importlib.import_module(f"corpus.{_file.stem}")


def outcome(case: Case, bug: bool, eager: bool, monkeypatch: pytest.MonkeyPatch) -> str | torch.Tensor:
    """The error that a launch raised, as text, or the result."""
    monkeypatch.setenv("TILETWIN_EAGER", "1" if eager else "0")
    try:
        return case.run(bug)[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_both_modes_end_alike(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILETWIN_CHECK", raising=False)
    monkeypatch.setenv("TILETWIN_DETERMINISTIC", "1")
    for bug in (False, True):
        compiled, eager = (outcome(case, bug, mode, monkeypatch) for mode in (False, True))
        assert isinstance(compiled, str) == (bug and case.check == "OutOfBoundsError")
        if isinstance(compiled, str) or isinstance(eager, str):
            assert eager == compiled
        elif case.check != "uninitialized" or not bug:  # fresh memory has no value that a test could rely on
            assert torch.equal(compiled.view(torch.uint8), eager.view(torch.uint8))
