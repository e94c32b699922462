"""Reports as one HTML page: heat over the source, pictures of accesses, roofs, advice.

Here:      what the template is given.
Not here:  the markup (pages/profile.html.j2), the pictures (pictures.py), text (text.py).
"""

from __future__ import annotations

import linecache
import shlex
import sys
from typing import Any, NamedTuple

from tiletwin.counters import pictures, text
from tiletwin.counters.counts import Instruction, Launch, Line, Place, short
from tiletwin.counters.report import Report
from tiletwin.pages import render, safe

_MOST_GAP = 6
"""Lines without instructions between two with some, up to which they are shown."""
_MOST_PICTURES = 4
"""Of a line: those of the accesses that cost most."""


class Row(NamedTuple):
    """A line of the source. heat: its share of what the launch's lines cost, 0 to 1; cells: of COLUMNS."""

    place: Place
    source: str
    cells: tuple[str, ...]
    heat: float
    advice: list[str]
    accesses: list[tuple[str, Any]]
    classes: dict[str, int]


COLUMNS = ("instructions", "requests", "sectors", "wavefronts", "conflicts", "copied")


def _cost(line: Line) -> float:
    """About how many cycles a multiprocessor's units are busy for it: an instruction takes one of four schedulers'
    slots, a wavefront of shared memory or four sectors of the cache one of the memory unit's."""
    outer, shared = line.memory("global").plus(line.memory("local")), line.memory("shared")
    return max(line.executed / 4, outer.sectors / 4 + shared.wavefronts)


def _accesses(launch: Launch, line: Line) -> list[tuple[str, Any]]:
    """Titles and pictures."""

    def cost(one: Instruction) -> float:
        return sum(m.sectors + m.wavefronts for m in one.memory.values())

    listed = sorted((one for one in line.instructions if one.worst is not None), key=cost, reverse=True)
    found = []
    for one in listed[:_MOST_PICTURES]:
        assert one.worst is not None
        memory = one.memory[one.worst.space]
        unit = "wavefronts" if one.worst.space == "shared" else "sectors"
        total = memory.wavefronts if one.worst.space == "shared" else memory.sectors
        title = (
            f"{one.text}, {launch.file}:{one.ptx_line}: {text.number(memory.requests)} requests, {text.number(total)} "
            f"{unit}; the costliest one, {one.worst.cost} {unit}:"
        )
        found.append((title, safe(pictures.access_svg(one.worst))))
    return found


def _rows(report: Report) -> list[tuple[str, list[Row | None]]]:
    """For each file its lines, None where some are left out."""
    lines = report.launch.lines()
    total = sum(map(_cost, lines)) or 1
    said: dict[Place, list[str]] = {}
    for one in report.advice:
        if one.place:
            said.setdefault(one.place, []).append(one.text)
    files: dict[str, list[Row | None]] = {}
    for line in lines:
        rows = files.setdefault(line.place.file, [])
        last = next((row.place.line for row in reversed(rows) if row), line.place.line - 1)
        if line.place.line - last > _MOST_GAP:
            rows.append(None)
        else:
            for number in range(last + 1, line.place.line):
                source = linecache.getline(line.place.file, number).rstrip()
                rows.append(Row(Place(line.place.file, number), source, ("",) * len(COLUMNS), 0, [], [], {}))
        outer, shared = line.memory("global").plus(line.memory("local")), line.memory("shared")
        numbers = (line.executed, outer.requests, outer.sectors, shared.wavefronts, shared.conflicts)
        source = linecache.getline(line.place.file, line.place.line).rstrip()
        source = source or "; ".join(dict.fromkeys(one.text for one in line.instructions))
        cells = tuple(text.number(number) if number else "" for number in numbers)
        cells += (text.size(line.bulk_bytes) if line.bulk_bytes else "",)
        rows.append(
            Row(line.place, source, cells, _cost(line) / total, said.get(line.place, []),
                _accesses(report.launch, line), line.by_class())
        )  # fmt: skip
    return [(short(file), rows) for file, rows in files.items()]


def of(reports: list[Report]) -> str:
    """The page."""
    return render(
        "profile.html.j2", reports=reports, text=text, rows=_rows, columns=COLUMNS, short=short,
        roof=lambda report: safe(pictures.roof_svg(report.roof)), command=shlex.join(sys.argv),
    )  # fmt: skip
