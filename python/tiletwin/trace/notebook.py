"""Recordings in notebooks: what `_repr_html_` of a trace, a program, a step and a value gives.

Here:      which template shows which part (pages/recording.html.j2); a value with its tile.
Not here:  the page that steps by itself (html.py), the picture of a tile (pages/tiles.py).
"""

from __future__ import annotations

from typing import Any

from tiletwin.pages import render, safe
from tiletwin.pages.tiles import tile_html
from tiletwin.trace import text
from tiletwin.trace.model import Launch, Program, Step, Trace, Value

MOST_STEPS = 400


def value_html(value: Value, launch: Launch | None = None) -> str:
    """A tile as a heat map; others as text."""
    if not value.is_tensor or not value.shape:
        return _page("value", text.one_line(value, launch))
    name, array = text.pointer_parts(value, launch) if value.is_pointer else ("", value.numpy())
    return tile_html(array, f"{value.type} {name} +" if name else value.type, None)


def _tile(value: Value | None, launch: Launch) -> Any:
    return safe(value_html(value, launch)) if value is not None and value.shape else None


def _page(kind: str, part: Any) -> str:
    return render("recording.html.j2", kind=kind, part=part, text=text, tile=_tile, most=MOST_STEPS)


def page(part: Trace | Launch | Program | Step | Value) -> str:
    """What a notebook shows of a part of a recording."""
    return value_html(part) if isinstance(part, Value) else _page(type(part).__name__.lower(), part)
