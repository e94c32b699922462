"""Reports as HTML: what differs, with tiles of both sides, the difference map and the source line.

Here:      what is shown of one report, of many; which part of an array.
Not here:  the markup (pages/diff.html.j2), the picture of a tile (pages/tiles.py), text (text.py).
Invariant: the page's size has a limit: of large arrays the part around the first difference is drawn.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tiletwin import whole_files
from tiletwin.diff import text
from tiletwin.diff.files import versions
from tiletwin.diff.launches import base_of
from tiletwin.diff.reports import DIFFERENT, SAME, Report, Row
from tiletwin.pages import render, safe
from tiletwin.pages.tiles import tile_html

MOST_CELLS = 64
"""Rows and columns of an array that are drawn."""


def _view(row: Row, numbers: np.ndarray) -> tuple[np.ndarray, str]:
    """The part of an array around its first difference, and what part it is."""
    array = row.array
    start, total = base_of(array), int(np.prod(array.shape, dtype=np.int64))
    if not array.shape or not array.is_dense() or start + total > numbers.size or not 0 <= row.first < total:
        at = max(row.first + start, 0)
        low = max(0, min(at - MOST_CELLS, numbers.size - 2 * MOST_CELLS))
        return numbers[low : low + 2 * MOST_CELLS], f"elements {low} to {min(low + 2 * MOST_CELLS, numbers.size) - 1}"
    shaped = numbers[start : start + total].reshape(array.shape)
    index = np.unravel_index(row.first, array.shape)
    shaped = shaped[tuple(index[:-2])] if len(array.shape) > 2 else shaped
    parts, names = [], [str(int(i)) for i in index[:-2]]
    for at, extent in zip(index[-2:], shaped.shape):
        low = 0 if extent <= MOST_CELLS else min(max(int(at) - MOST_CELLS // 2, 0), extent - MOST_CELLS)
        parts.append(slice(low, min(low + MOST_CELLS, extent)))
        names.append(f"{parts[-1].start}:{parts[-1].stop}")
    return shaped[tuple(parts)], f"{row.argument}[{', '.join(names)}]"


def _apart(row: Row) -> tuple[str, np.ndarray]:
    """The differences, and in what they are measured."""
    assert row.values is not None
    left, right = row.values
    with np.errstate(all="ignore"):
        apart = np.abs(left.astype(np.float64) - right.astype(np.float64))
        apart[row.verdicts == 0] = 0
        if row.limits is not None:
            share = apart / np.where(row.limits > 0, row.limits.astype(np.float64), np.nan)
            # Twice the bound is as wrong as anything: a scale up to the largest would hide all others.
            shown = np.where(apart == 0, 0, np.minimum(share, 2))
            if np.isfinite(shown[row.verdicts == 2]).any():
                return "difference in units of its bound, up to 2", shown
    return "absolute difference", apart


def _pictures(row: Row) -> list[tuple[str, str, Any]]:
    """Title, part of the array and picture of each side, in the same colours, and of the difference."""
    if row.values is None or row.verdicts is None:
        return []
    left, right = row.values
    title, apart = _apart(row)
    both = np.concatenate([_view(row, numbers)[0].reshape(-1) for numbers in (left, right)])
    found = []
    for name, numbers, kind, scale in (
        (row.a, left, row.array.type, both), (row.b, right, row.array.type, both), (title, apart, "", None),
    ):  # fmt: skip
        part, what = _view(row, numbers)
        found.append((name, what, safe(tile_html(np.ascontiguousarray(part), kind, None, scale_of=scale))))
    return found


def _code(report: Report, place: tuple[str, int, int]) -> list[tuple[int, str]]:
    """The numbered lines around a place."""
    numbers = range(max(1, place[1] - 3), place[1] + 4)
    return [(number, text.source_line(report, (place[0], number, 0))) for number in numbers]


def _render(reports: list[Report], is_page: bool, **facts: Any) -> str:
    return render("diff.html.j2", reports=reports, is_page=is_page, text=text, pictures=_pictures, code=_code, **facts)


def report_html(report: Report) -> str:
    """A report as a piece of HTML."""
    return _render([report], False)


def page(reports: list[Report]) -> str:
    """All reports as one page: those that are not the same first, with their pictures; the others by a line for each
    argument. It says when, where and by what command it was made."""
    worst = sorted(reports, key=lambda r: (r.verdict == SAME, r.verdict != DIFFERENT))
    counts = Counter(report.verdict for report in reports)
    return _render(worst, True, counts=counts, made=versions(), command=shlex.join(sys.orig_argv))


def write(reports: list[Report], path: str | Path) -> str:
    """Writes the page. Errors: OSError."""
    return whole_files.write(path, page(reports))
