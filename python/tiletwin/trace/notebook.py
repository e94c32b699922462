"""Recordings in notebooks: what `_repr_html_` of a trace, a program, a step and a value gives.

Here:      tables of launches, of a step's variables with their tiles, of accesses.
Not here:  the page that steps by itself (html.py).
Invariant: text of the user's program is escaped.
"""

from __future__ import annotations

import html
from typing import Any

from tiletwin.trace import heat
from tiletwin.trace.model import Launch, Program, Step, Trace, Value
from tiletwin.trace.text import access_text, elements, number_text, one_line, program_text, step_head, type_text

MOST_ROWS, MOST_COLUMNS = 24, 24
"""Elements of a tile that a table shows; of larger ones the first."""
MOST_STEPS = 400


def _table(rows: list[list[str]], heads: list[str]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f"<th style='text-align:left'>{name}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{c}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def code(text: str) -> str:
    return f"<code>{html.escape(text)}</code>"


def trace_html(trace: Trace) -> str:
    """Launches and their programs."""
    rows = [
        [str(number), code(launch.kernel), html.escape(str(launch.grid)), html.escape(program_text(program))]
        for number, launch in enumerate(trace.launches)
        for program in launch.programs
    ]
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in [*trace.endings, *trace.problems])
    return _table(rows, ["launch", "kernel", "grid", "program"]) + notes


def launch_html(launch: Launch) -> str:
    rows = [[html.escape(str(p.id)), html.escape(program_text(p))] for p in launch.programs]
    return f"<p>{code(launch.kernel)}, grid {launch.grid}</p>" + _table(rows, ["program", ""])


def program_html(program: Program) -> str:
    """The steps with what they changed."""
    rows = []
    for step in program.steps[:MOST_STEPS]:
        changed = "<br>".join(code(f"{n} = {one_line(v, program.launch)}") for n, v in step.changes.items())
        rows.append([str(step.number), html.escape(step.place), code(step.source.strip()), changed])
    more = len(program.steps) - MOST_STEPS
    left = f"<p>and {more} more steps</p>" if more > 0 else ""
    title = f"<p>program {program.id} of {code(program.launch.kernel)}: {html.escape(program.status)}</p>"
    return title + _table(rows, ["step", "line", "", "changes"]) + left


def step_html(step: Step) -> str:
    """Its line, all variables, the tiles it changed, what it touched."""
    launch = step.program.launch
    changes = step.changes
    rows = []
    for name, value in sorted(step.variables.items(), key=lambda item: item[0] not in changes):
        mark = "<b>*</b>" if name in changes else ""
        rows.append(
            [mark, code(name), code(type_text(value)), code(one_line(value, launch).removeprefix(type_text(value)))]
        )
    tiles = "".join(
        f"<p>{code(name)}</p>{value_html(value, launch)}"
        for name, value in changes.items()
        if value is not None and value.is_tensor and value.shape
    )
    accesses = "".join(f"<p>{html.escape(access_text(access))}</p>" for access in step.accesses)
    title = f"<p>{html.escape(step_head(step))}</p><pre>{html.escape(step.source.strip())}</pre>"
    return title + _table(rows, ["", "variable", "type", "value"]) + tiles + accesses


def value_html(value: Value, launch: Launch | None = None) -> str:
    """A tile as a table in heat colours; others as text."""
    if not value.is_tensor or not value.shape:
        return code(one_line(value, launch))
    array = elements(value, launch)
    places, stops = heat.scaled(array)
    if array.ndim == 1:
        columns = min(16, array.size)
        cells = [[(array[i], places[i]) for i in range(r, min(r + columns, array.size))]
                 for r in range(0, min(array.size, columns * MOST_ROWS), columns)]  # fmt: skip
    else:
        plane, shades = array.reshape(-1, *array.shape[-2:])[0], places.reshape(-1, *array.shape[-2:])[0]
        cells = [[(plane[r, c], shades[r, c]) for c in range(min(plane.shape[1], MOST_COLUMNS))]
                 for r in range(min(plane.shape[0], MOST_ROWS))]  # fmt: skip
    body = "".join("<tr>" + "".join(_cell(*cell, stops) for cell in row) + "</tr>" for row in cells)
    shown = sum(map(len, cells))
    more = f" (the first {shown} of {array.size} elements)" if shown < array.size else ""
    return f"<table>{body}</table><p>{code(one_line(value, launch))}{more}</p>"


def _cell(number: Any, place: Any, stops: heat.Stops) -> str:
    paint = heat.colour(float(place), number, stops)
    style = f"background:rgb{paint};color:{heat.ink(paint)};text-align:right"
    return f"<td style='{style}'>{number_text(number)}</td>"


PAGES = {Trace: trace_html, Launch: launch_html, Program: program_html, Step: step_html, Value: value_html}


def page(part: Trace | Launch | Program | Step | Value) -> str:
    """What a notebook shows of a part of a recording."""
    return PAGES[type(part)](part)
