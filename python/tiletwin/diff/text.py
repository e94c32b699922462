"""Reports on the terminal.

Here:      a report as text with the source line of the first difference; the table over many launches.
Not here:  pages (html.py). Colours are rich's; report_text has none.
"""

from __future__ import annotations

import os
from typing import Any

from tiletwin.diff.reports import DIFFERENT, NOT_COMPARABLE, SAME, Report, Row

_COLOUR = {SAME: "green", DIFFERENT: "red", NOT_COMPARABLE: "yellow"}
"""As terminals name them; pages have those of pages/palette.py."""


_COLUMNS = (
    "launch", "grid", "argument", "backends", "verdict", "elements", "worst ulp", "first", "values", "where",
)  # fmt: skip


def place_text(place: tuple[str, int, int] | None) -> str:
    if place is None:
        return ""
    file, line, _ = place
    near = os.path.relpath(file)
    return f"{file if near.startswith('..') else near}:{line}"


def source_line(report: Report, place: tuple[str, int, int] | None) -> str:
    """The line of the kernel: from the text in the recording, else from its file."""
    return "" if place is None else report.launch.source_line(place[0], place[1])


def _differs(report: Report, row: Row) -> list[str]:
    program = "" if row.program is None else f", program {row.program}"
    index = row.index if row.index.startswith("[") else f" {row.index}"
    sides = f"{row.a} has {row.left}, {row.b} has {row.right}"
    lines = [f"  {row.argument}{index}{program}: {sides}; the bound is {row.bound or 'unknown'}"]
    if row.place is not None:
        lines.append(f"    {place_text(row.place)}: {source_line(report, row.place).strip()}")
    return lines


def row_text(row: Row) -> str:
    counts = [f"{row.elements} elements", f"{row.equal} equal"]
    others = {"within bounds": row.within, "different": row.different, "not comparable": row.not_comparable}
    counts += [f"{number} {name}" for name, number in others.items() if number]
    if row.worst:
        counts.append(f"worst {row.worst_ulp} ulp at {row.worst}")
    return f"{row.argument} ({row.a}, {row.b}): {row.verdict}: " + ", ".join(counts)


def report_text(report: Report) -> str:
    launch = report.launch
    names = ", ".join(outcome.backend for outcome in report.outcomes)
    lines = [f"{launch.name}[{', '.join(map(str, launch.grid))}] on {names}: {report.verdict}"]
    lines += [f"  {note}" for note in report.notes]
    for row in report.rows:
        lines.append("  " + row_text(row))
        if row.verdict == DIFFERENT:
            lines += ["  " + text for text in _differs(report, row)]
        elif row.verdict == NOT_COMPARABLE:
            lines.append(f"    not comparable: {row.reason}")
    if report.finding is not None:
        lines += [f"  {text}" for text in report.finding.lines(report)]
    lines += [f"  {text}" for text in report.findings]
    lines += [f"  {origin}" for origin in report.origins if not report.same]
    return "\n".join(lines)


def summary_table(reports: list[Report]) -> Any:
    """A rich table with a row per argument that is not the same, and one per launch that is."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in _COLUMNS:
        table.add_column(column, overflow="fold", no_wrap=column not in ("values", "where"))
    for report in reports:
        launch = report.launch
        head = [f"{launch.name} #{launch.number}", ",".join(map(str, launch.grid))]
        rows = [row for row in report.rows if row.verdict != "same"]
        if not rows:
            colour = _COLOUR[report.verdict]
            worst = max((row.worst_ulp for row in report.rows), default=0)
            names = ", ".join(outcome.backend for outcome in report.outcomes)
            total = str(sum(row.elements for row in report.rows))
            failed = any(outcome.error for outcome in report.outcomes)
            ended = escape("; ".join(report.notes).partition("\n")[0]) if failed else ""
            table.add_row(*head, "", names, f"[{colour}]{report.verdict}[/]", total, str(worst), "", ended, "")
        for row in rows:
            found = report.finding.place if report.finding is not None and row is report.first() else None
            count = f"{row.different or row.not_comparable} of {row.elements}"
            values = f"{row.left} / {row.right}" if row.verdict == DIFFERENT else row.reason
            table.add_row(
                *head, escape(row.argument), f"{row.a}, {row.b}", f"[{_COLOUR[row.verdict]}]{row.verdict}[/]", count,
                str(row.worst_ulp), escape(row.index), escape(values), escape(place_text(row.place or found)),
            )  # fmt: skip
            head = ["", ""]
    return table
