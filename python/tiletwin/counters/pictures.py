"""Pictures of a launch as SVG: which lanes touch which sectors and banks, and the roof over an intensity.

Here:      `access_svg`, `roof_svg`.
Not here:  the page around them (html.py, pages/profile.html.j2), what is counted.
"""

from __future__ import annotations

import math

from tiletwin.counters.counts import Sample
from tiletwin.counters.roofline import Roof
from tiletwin.pages import palette

ROW_BYTES, WORD, COLUMNS = 128, 4, 32
MOST_ROWS = 32
_CELL, _HEIGHT, _LEFT, _TOP = 22, 18, 92, 34


def _colour(lane: int) -> str:
    r, g, b = palette.mixed(palette.RISING, lane / 31)
    return f"rgb({r},{g},{b})"


def _ink(lane: int) -> str:
    """Readable on a lane's colour."""
    return "#fff" if lane < 20 else "#111"


def _lanes_by_word(sample: Sample) -> dict[int, list[int]]:
    """Which lanes touch each word of 4 bytes."""
    found: dict[int, list[int]] = {}
    for lane in sample.lanes():
        first = sample.addresses[lane]
        for word in range(first // WORD, (first + sample.bytes - 1) // WORD + 1):
            found.setdefault(word, []).append(lane)
    return found


def _names(lanes: list[int]) -> str:
    """ "3", "0-3" or "0+", and for a title all of them."""
    if len(lanes) == 1:
        return str(lanes[0])
    return f"{lanes[0]}-{lanes[-1]}" if lanes == list(range(lanes[0], lanes[-1] + 1)) else f"{lanes[0]}+"


def access_svg(sample: Sample) -> str:
    """An access of a warp: a row for each 128 bytes that it touches, a cell for each word of 4 bytes, with the
    lanes that touch it. Sectors are 8 cells wide; in shared memory a column is a bank."""
    words = _lanes_by_word(sample)
    rows = sorted({word // COLUMNS for word in words})
    shown = rows[:MOST_ROWS]
    is_shared = sample.space == "shared"
    base = 0 if is_shared else rows[0] * ROW_BYTES
    height = _TOP + _HEIGHT * len(shown) + (16 if len(rows) > len(shown) else 4)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="access" width="{_LEFT + _CELL * COLUMNS + 4}" '
        f'height="{height}" role="img"><title>{sample.cost} {"wavefronts" if is_shared else "sectors"}</title>'
    ]
    unit, span = ("bank", 1) if is_shared else ("sector", 8)
    for first in range(0, COLUMNS, 8 if not is_shared else 4):
        label = f"{unit} {first // span}" if first == 0 or not is_shared else str(first // span)
        parts.append(f'<text x="{_LEFT + _CELL * first + 2}" y="{_TOP - 8}" class="dim">{label}</text>')
    for at, row in enumerate(shown):
        y = _TOP + _HEIGHT * at
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 13}" class="dim" text-anchor="end">{row * ROW_BYTES - base:,}</text>'
        )
        for column in range(COLUMNS):
            lanes = words.get(row * COLUMNS + column)
            x = _LEFT + _CELL * column
            if lanes is None:
                parts.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_HEIGHT}" class="free"/>')
                continue
            title = f"lanes {', '.join(map(str, lanes))}: byte {(row * COLUMNS + column) * WORD - base:,}"
            parts.append(
                f'<g><title>{title}</title><rect x="{x}" y="{y}" width="{_CELL}" height="{_HEIGHT}" '
                f'fill="{_colour(lanes[0])}"/><text x="{x + _CELL / 2}" y="{y + 13}" text-anchor="middle" class="lane" '
                f'style="fill:{_ink(lanes[0])}">{_names(lanes)}</text></g>'
            )
        if not is_shared:
            for sector in range(5):
                x = _LEFT + _CELL * 8 * sector
                parts.append(f'<line x1="{x}" x2="{x}" y1="{y}" y2="{y + _HEIGHT}" class="edge"/>')
    if len(rows) > len(shown):
        parts.append(f'<text x="{_LEFT}" y="{height - 4}" class="dim">and {len(rows) - len(shown)} rows more</text>')
    return "".join(parts) + "</svg>"


_WIDE, _HIGH = 460, 250
_X, _Y = (-2.0, 4.0), (10.0, 15.5)
"""Powers of ten: operations a byte, operations a second."""


def _place(x: float, y: float) -> tuple[float, float]:
    across = (math.log10(x) - _X[0]) / (_X[1] - _X[0])
    up = (math.log10(y) - _Y[0]) / (_Y[1] - _Y[0])
    return round(48 + across * (_WIDE - 72), 1), round(_HIGH - 30 - up * (_HIGH - 50), 1)


def roof_svg(roof: Roof) -> str:
    """The roofs of the kinds of operations that a launch has, and where its intensity stands under each."""
    gpu = roof.gpu
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="roof" width="{_WIDE}" height="{_HIGH}" role="img">'
        f"<title>roofs of {gpu.name}</title>"
    ]
    for power in range(int(_X[0]), int(_X[1]) + 1):
        x, y = _place(10.0**power, 10 ** _Y[0])
        parts.append(f'<text x="{x}" y="{y + 16}" text-anchor="middle" class="dim">{10.0**power:g}</text>')
    for power in range(int(_Y[0]), int(_Y[1]) + 1):
        x, y = _place(10 ** _X[0], 10.0**power)
        parts.append(f'<text x="{x - 6}" y="{y + 4}" text-anchor="end" class="dim">1e{power}</text>')
    parts.append(f'<text x="{_WIDE - 8}" y="{_HIGH - 2}" text-anchor="end" class="dim">operations a byte</text>')
    low = 10 ** _X[0]
    kinds = [kind for kind in roof.operations if kind in gpu.rates]
    for kind in kinds:
        rate = gpu.rates[kind]
        ridge = rate / gpu.memory
        start = _place(max(low, 10 ** _Y[0] / gpu.memory), max(low * gpu.memory, 10 ** _Y[0]))
        top, end = _place(ridge, rate), _place(10 ** _X[1], rate)
        points = " ".join(f"{x},{y}" for x, y in (start, top, end))
        parts.append(f'<polyline points="{points}" class="line"/>')
        parts.append(f'<text x="{end[0]}" y="{end[1] - 4}" text-anchor="end">{kind} {rate / 1e12:g}e12/s</text>')
        intensity = roof.operations[kind] / max(roof.bytes, 1)
        if intensity > low:
            x, y = _place(min(intensity, 10 ** _X[1]), max(min(rate, intensity * gpu.memory), 10 ** _Y[0]))
            parts.append(
                f'<circle cx="{x}" cy="{y}" r="5" class="at"><title>{kind}: {intensity:.3g} a byte</title></circle>'
            )
    return "".join(parts) + "</svg>"
