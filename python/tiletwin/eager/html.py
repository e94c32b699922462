"""Tiles as HTML: a heat map with a scale, masked lanes hatched, every value under the pointer.

Here:      the picture of one tile; `show` (a tile with a mask over it).
Not here:  kernels (kernel_html.py), text (looks.py).
Invariant: the HTML stands alone: no script, no file or address outside of it; its size has a limit, so large tiles are
           drawn by blocks of elements.
"""

from __future__ import annotations

import html
from typing import Any

from tiletwin.eager import looks

MOST_ROWS, MOST_COLUMNS, WRAP = 32, 48, 64
"""Cells that are drawn; one-dimensional tiles go on in the next row after WRAP cells."""
WRITTEN = 12
"""Tiles of up to so many columns and rows have their numbers written into the cells."""
MOST_PLANES = 4
"""Of a tile of three and more dimensions, so many planes are drawn."""
STEPS = 16
RISING = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
"""Colours from low to high where all values have one sign."""
DIVERGING = ((33, 102, 172), (146, 197, 222), (247, 247, 247), (244, 165, 130), (178, 24, 43))
"""Colours around zero."""
NAN_COLOUR, INF_COLOUR, OFF_COLOUR = "#d600d6", "#000", "#ddd"


def mixed(colours: tuple[tuple[int, int, int], ...], at: float) -> tuple[int, int, int]:
    """The colour at 0 (first) to 1 (last)."""
    position = min(max(at, 0.0), 1.0) * (len(colours) - 1)
    left = min(int(position), len(colours) - 2)
    part = position - left
    r, g, b = (round(a + (b - a) * part) for a, b in zip(colours[left], colours[left + 1]))
    return r, g, b


def hexadecimal(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


class Scale:
    """From values to colours: low .. high, symmetric around zero where both signs occur."""

    def __init__(self, array: Any) -> None:
        import numpy

        values = array.astype(numpy.float64)
        finite = values[numpy.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        self.colours = RISING
        if low < 0 < high:
            self.colours = DIVERGING
            low, high = -max(-low, high), max(-low, high)
        self.low, self.high = low, high
        self.special = {"NaN": NAN_COLOUR} if numpy.isnan(values).any() else {}
        if numpy.isinf(values).any():
            self.special["inf"] = INF_COLOUR

    def colour(self, value: float) -> str:
        if value != value:
            return NAN_COLOUR
        if value in (float("inf"), float("-inf")):
            return INF_COLOUR
        at = 0.5 if self.high == self.low else (value - self.low) / (self.high - self.low)
        return hexadecimal(mixed(self.colours, round(at * STEPS) / STEPS))

    def legend(self) -> str:
        stops = ", ".join(hexadecimal(mixed(self.colours, i / 8)) for i in range(9))
        bar = f"display:inline-block;width:160px;height:10px;background:linear-gradient(to right, {stops})"
        low, high = looks.number(self.low), looks.number(self.high)
        others = "".join(
            f' <span style="color:{colour}">&#9632;</span> {name}' for name, colour in self.special.items()
        )
        return f'<div class="tw-scale">{low} <span style="{bar}"></span> {high}{others}</div>'


def text_colour(background: str) -> str:
    r, g, b = (int(background[i : i + 2], 16) for i in (1, 3, 5)) if len(background) == 7 else (0, 0, 0)
    if background == OFF_COLOUR:
        return "#555"
    return "#000" if 0.299 * r + 0.587 * g + 0.114 * b > 140 else "#fff"


def value_text(value: Any, digits: int = 6) -> str:
    """A number as people read it."""
    if value.dtype == bool:
        return "true" if value else "false"
    return f"{float(value):.{digits}g}" if value.dtype.kind == "f" else str(int(value))


def blocks(size: int, most: int) -> list[tuple[int, int]]:
    """Ranges that cut `size` elements into at most `most` cells of one width."""
    width = -(-size // most)
    return [(start, min(start + width, size)) for start in range(0, size, width)]


class Plane:
    """Two dimensions of a tile as SVG. mask: 2-D bool or None; prefix: the index of the plane ("2, ")."""

    def __init__(self, array: Any, mask: Any, scale: Scale, prefix: str, is_row: bool, width: int) -> None:
        self.array, self.mask, self.scale, self.prefix = array, mask, scale, prefix
        self.is_row, self.width = is_row, width  # a tile of one dimension, and where it is wrapped
        self.rows = blocks(array.shape[0], MOST_ROWS)
        self.columns = blocks(array.shape[1], WRAP if is_row else MOST_COLUMNS)
        written = len(self.columns) <= WRITTEN and len(self.rows) <= WRITTEN and array.size == self.cells
        self.cell_width, self.cell_height = (58, 22) if written else (12, 12)
        self.written = written

    @property
    def cells(self) -> int:
        return len(self.rows) * len(self.columns)

    def index(self, row: int, column: int) -> str:
        return str(row * self.width + column) if self.is_row else f"{self.prefix}{row}, {column}"

    def hover(self, top: int, bottom: int, left: int, right: int, values: Any) -> str:
        if values.size == 1:
            text = f"[{self.index(top, left)}] = {value_text(values.reshape(-1)[0])}"
        else:
            text = f"[{self.index(top, left)}] to [{self.index(bottom - 1, right - 1)}]: {looks.summary(values)}"
        if self.mask is not None:
            off = int((~self.mask[top:bottom, left:right]).sum())
            text += ", masked off" if off == values.size else f", {off} masked off" if off else ""
        return html.escape(text)

    def cell(self, top: int, bottom: int, left: int, right: int, x: int, y: int) -> str:
        import numpy

        values = self.array[top:bottom, left:right]
        plain = values.astype(numpy.float64)
        bad = plain[~numpy.isfinite(plain)]  # one NaN in a block must not disappear in its mean
        colour = self.scale.colour(float(bad[0]) if bad.size else float(plain.mean()))
        is_off = self.mask is not None and not self.mask[top:bottom, left:right].any()
        place = f'x="{x}" y="{y}" width="{self.cell_width}" height="{self.cell_height}"'
        hover = f"<title>{self.hover(top, bottom, left, right, values)}</title>"
        parts = [f'<rect {place} fill="{OFF_COLOUR if is_off else colour}">{hover}</rect>']
        if self.written:
            ink = text_colour(OFF_COLOUR if is_off else colour)
            text = html.escape(value_text(values.reshape(-1)[0], 4))
            at = f'x="{x + self.cell_width // 2}" y="{y + 15}" text-anchor="middle" font-size="11"'
            parts.append(f'<text {at} fill="{ink}" pointer-events="none">{text}</text>')
        if is_off:
            stroke = 'stroke="#999" stroke-width="1" pointer-events="none"'
            parts.append(f'<line x1="{x}" y1="{y + self.cell_height}" x2="{x + self.cell_width}" y2="{y}" {stroke}/>')
        return "".join(parts)

    def svg(self) -> str:
        label = 46
        lines = []
        for i, (top, bottom) in enumerate(self.rows):
            y = 16 + i * self.cell_height
            name = str(top * self.width) if self.is_row else str(top)
            at = f'x="{label - 4}" y="{y + self.cell_height - 3}" text-anchor="end" font-size="9"'
            if self.cell_height > 12 or i % 2 == 0:
                lines.append(f'<text {at} fill="#888">{name}</text>')
            for j, (left, right) in enumerate(self.columns):
                lines.append(self.cell(top, bottom, left, right, label + j * self.cell_width, y))
        step = 1 if self.written else 8
        for j in range(0, len(self.columns), step):
            at = f'x="{label + j * self.cell_width + self.cell_width // 2}" y="11" text-anchor="middle" font-size="9"'
            lines.append(f'<text {at} fill="#888">{self.columns[j][0]}</text>')
        width = label + len(self.columns) * self.cell_width + 4
        height = 20 + len(self.rows) * self.cell_height
        return f'<svg width="{width}" height="{height}" font-family="monospace" role="img">{"".join(lines)}</svg>'


def tile_html(array: Any, type_name: str, pointer: str | None, mask: Any = None, scale_of: Any = None) -> str:
    """A tile as HTML. pointer: the text of pointers, which are not drawn; mask: bools of the same shape, or None;
    scale_of: numbers that the colours range over, default: the tile's."""
    import numpy

    shape = "x".join(map(str, array.shape)) or "scalar"
    head = f"<b>{html.escape(type_name)}</b> {shape}"
    if pointer is not None:
        return f'<div class="tw-tile" style="font-family:monospace">{head} {html.escape(pointer)}</div>'
    if array.ndim == 0:
        return f'<div class="tw-tile" style="font-family:monospace">{head} {value_text(array[()])}</div>'
    off = "" if mask is None else f"; {int((~mask).sum())} of {mask.size} lanes masked off (hatched)"
    head += f" <span>{html.escape(looks.summary(array))}{off}</span>"
    shown = array if mask is None or not mask.any() else array[mask]
    scale = Scale(shown if scale_of is None else scale_of)
    width = 0
    is_row = array.ndim == 1
    if is_row:  # wrapped into rows
        width = min(array.shape[0], WRAP)
        rows = -(-array.shape[0] // width)
        if array.shape[0] % width:
            width, rows = array.shape[0], 1
        array = array.reshape(rows, width)
        mask = None if mask is None else mask.reshape(rows, width)
    planes = list(numpy.ndindex(array.shape[:-2]))
    pictures = []
    for index in planes[:MOST_PLANES]:
        prefix = "".join(f"{i}, " for i in index)
        plane = Plane(array[index], None if mask is None else mask[index], scale, prefix, is_row, width)
        title = f"<div>[{prefix}:, :]</div>" if prefix else ""
        pictures.append(f'<div style="display:inline-block;margin-right:12px">{title}{plane.svg()}</div>')
    if len(planes) > MOST_PLANES:
        pictures.append(f"<div>and {len(planes) - MOST_PLANES} more planes</div>")
    legend = "" if array.dtype == bool else scale.legend()
    style = "font-family:monospace;font-size:12px;line-height:1.5"
    return f'<div class="tw-tile" style="{style}"><div>{head}</div>{"".join(pictures)}{legend}</div>'


class Shown:
    """A tile with a mask over it, as notebooks show it."""

    def __init__(self, tile: Any, mask: Any) -> None:
        self.tile, self.mask = tile, mask

    def _repr_html_(self) -> str:
        import numpy

        array = numpy.asarray(self.tile)
        mask = None if self.mask is None else numpy.broadcast_to(numpy.asarray(self.mask, bool), array.shape)
        return tile_html(array, str(self.tile.dtype), None, mask)

    def __repr__(self) -> str:
        import numpy

        if self.mask is None:
            return repr(self.tile)
        mask = numpy.broadcast_to(numpy.asarray(self.mask, bool), tuple(int(n) for n in self.tile.shape))
        return f"{self.tile!r}, {int((~mask).sum())} of {mask.size} lanes masked off"


def show(tile: Any, mask: Any = None) -> Shown:
    """A tile as a heat map in a notebook, its masked-off lanes hatched.

    Args:
        tile: a tensor outside compiled kernels.
        mask: a tensor or array of bools that broadcasts to its shape.
    """
    return Shown(tile, mask)


def html_of(data: bytes, type_name: str, shape: tuple[int, ...], origin: int = -1) -> str:
    """What a notebook shows of a tile."""
    array = looks.numpy_of(data, type_name, shape)
    if looks.is_pointer(type_name):
        return tile_html(array, type_name, looks.pointer_text(array, looks.pointee_of(type_name), origin))
    return tile_html(array, type_name, None)
