"""Reports as HTML: what differs, with tiles of both sides, the difference map and the source line.

Here:      one report as a piece of HTML, many as one file.
Not here:  the picture of a tile (eager/html.py), text (text.py).
Invariant: the page names no other resource and has no script; its size has a limit: of large arrays the part around the
           first difference is drawn.
"""

from __future__ import annotations

import html
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tiletwin import whole_files
from tiletwin.diff.files import versions
from tiletwin.diff.launches import base_of
from tiletwin.diff.reports import DIFFERENT, NOT_COMPARABLE, Report, Row
from tiletwin.diff.text import counts, place_text, row_text, source_line
from tiletwin.eager.html import tile_html

MOST_CELLS = 64
"""Rows and columns of an array that are drawn."""
_CSS = """:root{color-scheme:light dark;--ink:#222;--paper:#fff;--quiet:#f4f4f4;--line:#ccc}
@media(prefers-color-scheme:dark){:root{--ink:#ddd;--paper:#181818;--quiet:#262626;--line:#444}}
body{font:14px/1.5 sans-serif;max-width:1500px;margin:2em auto;padding:0 1em;color:var(--ink);background:var(--paper)}
pre{background:var(--quiet);padding:.6em;overflow-x:auto}h2{border-top:1px solid var(--line);padding-top:.8em}
.side{display:inline-block;vertical-align:top;margin:0 1.5em 1em 0;padding:.4em;color:#222;background:#fff}
a{color:inherit}summary{cursor:pointer}
table{border-collapse:collapse}td,th{padding:.15em .8em;text-align:left;border-bottom:1px solid var(--line)}"""
_COLOUR = {DIFFERENT: "#d1242f", NOT_COMPARABLE: "#bf8700"}
"""Of verdicts; they are seen on white and on black."""


def _verdict(verdict: str, text: str = "") -> str:
    """A verdict in its colour, also where no page has styles."""
    return f'<span style="color:{_COLOUR.get(verdict, "#2da44e")}">{html.escape(text or verdict)}</span>'


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


def _pictures(row: Row) -> str:
    if row.values is None or row.verdicts is None:
        return ""
    left, right = row.values
    with np.errstate(all="ignore"):
        apart = np.abs(left.astype(np.float64) - right.astype(np.float64))
        apart[row.verdicts == 0] = 0
        if row.limits is not None:
            share = apart / np.where(row.limits > 0, row.limits.astype(np.float64), np.nan)
            # Twice the bound is as wrong as anything: a scale up to the largest would hide all others.
            title = "difference in units of its bound, up to 2"
            shown = np.where(apart == 0, 0, np.minimum(share, 2))
            if not np.isfinite(shown[row.verdicts == 2]).any():
                title, shown = "absolute difference", apart
        else:
            title, shown = "absolute difference", apart
    both = np.concatenate([_view(row, numbers)[0].reshape(-1) for numbers in (left, right)])
    sides = []
    for name, numbers in ((row.a, left), (row.b, right), (title, shown)):
        part, what = _view(row, numbers)
        kind, scale = ("", None) if numbers is shown else (row.array.type, both)  # both sides in the same colours
        picture = tile_html(np.ascontiguousarray(part), kind, None, scale_of=scale)
        sides.append(f'<div class="side"><b>{html.escape(name)}</b> {html.escape(what)}{picture}</div>')
    return "".join(sides)


def _code(report: Report, place: Any) -> str:
    """The source around a place, its line marked."""
    if place is None:
        return ""
    lines = []
    for number in range(max(1, place[1] - 3), place[1] + 4):
        text = source_line(report, (place[0], number, 0))
        mark = "&gt; " if number == place[1] else "  "
        body = f"{mark}{number:5d}  {html.escape(text)}"
        lines.append(f"<b>{body}</b>" if number == place[1] else body)
    return f"<div>{html.escape(place_text(place))}</div><pre>{chr(10).join(lines)}</pre>"


def report_html(report: Report) -> str:
    """A report as a piece of HTML."""
    launch = report.launch
    names = ", ".join(outcome.backend for outcome in report.outcomes)
    title = f"{launch.name} #{launch.number}[{', '.join(map(str, launch.grid))}] on {names}"
    parts = [f"<h2>{html.escape(title)}: {_verdict(report.verdict)}</h2>"]
    parts += [f"<p>{html.escape(note)}</p>" for note in report.notes]
    if report.finding is not None:
        lines = report.finding.lines(report)
        parts.append(f"<p><b>{html.escape(lines[0])}</b></p>{_code(report, report.finding.place)}")
    parts += [f"<p>{html.escape(text)}</p>" for text in report.findings]
    for row in report.rows:
        parts.append(f"<p>{_verdict(row.verdict, row_text(row))}</p>")
        if row.verdict == "same":
            continue
        if row.verdict == DIFFERENT:
            who = "" if row.program is None else f", written by program {row.program}"
            text = f"first: {row.argument}{row.index}{who}: {row.left} and {row.right}; the bound is {row.bound}"
            parts.append(f"<p>{html.escape(text)}</p>")
            if report.finding is None or report.finding.place != row.place:
                parts.append(_code(report, row.place))
        else:
            parts.append(f"<p>not comparable: {html.escape(row.reason)}</p>")
        parts.append(_pictures(row))
    return "\n".join(parts)


def page(reports: list[Report]) -> str:
    """All reports as one page: those that are not the same first, with their pictures; the others by a line for each
    argument. It says when, where and by what command it was made."""
    worst = sorted(reports, key=lambda r: (r.verdict == "same", r.verdict != DIFFERENT))
    found = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts(reports).items())) or "none"
    rows, sections = [], []
    for number, report in enumerate(worst):
        launch = report.launch
        rows.append(
            f'<tr><td><a href="#launch-{number}">{html.escape(launch.name)} #{launch.number}</a></td>'
            f"<td>{', '.join(map(str, launch.grid))}</td><td>{_verdict(report.verdict)}</td></tr>"
        )
        inside = report_html(report)
        if report.verdict == "same":
            names = ", ".join(outcome.backend for outcome in report.outcomes)
            title = f"{launch.name} #{launch.number} on {names}: same"
            inside = f"<details><summary>{html.escape(title)}</summary>{inside}</details>"
        back = '<a href="#launches">to the table</a>'
        sections.append(f'<section id="launch-{number}">{inside}<p>{back}</p></section>')
    facts = versions()
    made = facts.pop("made")
    made += f", {', '.join(f'{name} {value}' for name, value in facts.items())}"
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>tiletwin diff</title><style>{_CSS}</style>'
        f"<h1>tiletwin diff</h1><p>Launches: {len(reports)} ({html.escape(found)})</p>"
        f"<p>{html.escape(made)}</p><pre>{html.escape(shlex.join(sys.orig_argv))}</pre>"
        f'<table id="launches"><tr><th>launch<th>grid<th>verdict</tr>{"".join(rows)}</table>'
        f"{chr(10).join(sections)}</html>\n"
    )


def write(reports: list[Report], path: str | Path) -> str:
    """Writes the page. Errors: OSError."""
    return whole_files.write(path, page(reports))
