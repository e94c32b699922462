"""Tiles as HTML: a heat map with a scale, masked lanes hatched, every value under the pointer.

Here:      what is in the picture of one tile; tile.html.j2 draws it.
Not here:  kernels (eager/kernel_html.py), colours (palette.py).
Invariant: the HTML stands alone: no script, no file or address outside of it; its size has a limit, so large tiles are
           drawn by blocks of elements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tiletwin.elements import number_text, statistics
from tiletwin.pages import palette, render

MOST_ROWS, MOST_COLUMNS, WRAP = 32, 48, 64
"""Cells that are drawn; one-dimensional tiles go on in the next row after WRAP cells."""
WRITTEN = 12
"""Tiles of up to so many columns and rows have their numbers written into the cells."""
MOST_PLANES = 4
"""Of a tile of three and more dimensions, so many planes are drawn."""


class Cell(NamedTuple):
    """A block of elements."""

    fill: str
    ink: str
    text: str
    """Of a single element."""
    hover: str
    is_off: bool


def value_text(value: Any, digits: int = 6) -> str:
    """A number as people read it."""
    return str(bool(value)).lower() if value.dtype == bool else number_text(value, digits)


def blocks(size: int, most: int) -> list[tuple[int, int]]:
    """Ranges that cut `size` elements into at most `most` cells of one width."""
    width = -(-size // most)
    return [(start, min(start + width, size)) for start in range(0, size, width)]


class Plane:
    """Two dimensions of a tile. mask: 2-D bool or None; prefix: the index of the plane ("2, "); wrap: where a tile of
    one dimension goes on in the next row, 0 for others."""

    def __init__(self, array: Any, mask: Any, scale: palette.Scale, prefix: str, wrap: int) -> None:
        self.array, self.mask, self.scale, self.wrap = array, mask, scale, wrap
        self.prefix = prefix
        self.row_blocks = blocks(array.shape[0], MOST_ROWS)
        self.column_blocks = blocks(array.shape[1], WRAP if wrap else MOST_COLUMNS)
        rows, columns = len(self.row_blocks), len(self.column_blocks)
        self.is_written = columns <= WRITTEN and rows <= WRITTEN and array.size == rows * columns

    @property
    def rows(self) -> list[tuple[int, list[Cell]]]:
        """The number of each row's first element, or of the row, and its cells."""
        return [
            (top * (self.wrap or 1), [self.cell(top, bottom, left, right) for left, right in self.column_blocks])
            for top, bottom in self.row_blocks
        ]

    def index(self, row: int, column: int) -> str:
        return str(row * self.wrap + column) if self.wrap else f"{self.prefix}{row}, {column}"

    def cell(self, top: int, bottom: int, left: int, right: int) -> Cell:
        import numpy

        values = self.array[top:bottom, left:right]
        plain = values.astype(numpy.float64)
        bad = plain[~numpy.isfinite(plain)]  # one NaN in a block must not disappear in its mean
        off = 0 if self.mask is None else int((~self.mask[top:bottom, left:right]).sum())
        is_off = off == values.size
        fill = palette.MASKED if is_off else self.scale.colour(float(bad[0]) if bad.size else float(plain.mean()))
        hover = f"[{self.index(top, left)}]"
        if values.size == 1:
            hover += f" = {value_text(values[0, 0])}"
        else:
            hover += f" to [{self.index(bottom - 1, right - 1)}]: {statistics(values)}"
        hover += ", masked off" if is_off else f", {off} masked off" if off else ""
        text = value_text(values[0, 0], 4) if self.is_written else ""
        return Cell(palette.hexadecimal(fill), palette.ink(fill), text, hover, is_off)


def tile_html(array: Any, type_name: str, pointer: str | None, mask: Any = None, scale_of: Any = None) -> str:
    """A tile as HTML. pointer: the text of pointers, which are not drawn; mask: bools of the same shape, or None;
    scale_of: numbers that the colours range over, default: the tile's."""
    import numpy

    shape = "x".join(map(str, array.shape)) or "scalar"
    if pointer is not None or array.ndim == 0:
        return render(
            "tile.html.j2", type_name=type_name, shape=shape, note=pointer or value_text(array[()]), planes=[]
        )
    note = statistics(array)
    if mask is not None:
        note += f"; {int((~mask).sum())} of {mask.size} lanes masked off (hatched)"
    shown = array if mask is None or not mask.any() else array[mask]
    scale = palette.Scale(shown if scale_of is None else scale_of)
    wrap = 0
    if array.ndim == 1:
        wrap = WRAP if array.size > WRAP and array.size % WRAP == 0 else array.size
        array, mask = (None if part is None else part.reshape(-1, wrap) for part in (array, mask))
    places = list(numpy.ndindex(array.shape[:-2]))
    planes = [
        Plane(array[at], None if mask is None else mask[at], scale, "".join(f"{i}, " for i in at), wrap)
        for at in places[:MOST_PLANES]
    ]
    legend = None if array.dtype == bool else scale
    return render(
        "tile.html.j2", type_name=type_name, shape=shape, note=note, planes=planes, legend=legend,
        more=len(places) - len(planes), number_text=number_text,
    )  # fmt: skip
