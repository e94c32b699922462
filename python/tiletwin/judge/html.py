"""A verdict as one HTML page, and as the piece of one that a notebook shows.

Not here:  the markup (pages/verdict.html.j2), text (text.py).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tiletwin.judge.verdicts import Facts
from tiletwin.pages import render

_COLOURS = {"right": "good", "wrong": "bad", "cheating": "bad", "broken": "bad", "not judged": "open"}


def fragment(verdict: Facts) -> str:
    """HTML without a page around it."""
    return render("verdict.html.j2", verdict=verdict, tone=_COLOURS[verdict.word], whole=False, counts=_counts(verdict))


def write(verdict: Facts, path: str) -> None:
    """Errors: OSError."""
    page = render("verdict.html.j2", verdict=verdict, tone=_COLOURS[verdict.word], whole=True, counts=_counts(verdict))
    Path(path).write_text(page, encoding="utf-8")


def _counts(verdict: Facts) -> dict[str, int]:
    return dict(Counter(case.outcome for case in verdict.cases))
