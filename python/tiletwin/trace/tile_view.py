"""The table of a tile in the terminal: heat colours, mask, paging.

Here:      the widget that shows one value, its keys.
Not here:  which value it is (app.py), its statistics as text (text.py).
Invariant: only the part that fits is formatted, so tiles of any size show at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.style import Style
from rich.text import Text
from textual.binding import Binding
from textual.widget import Widget

from tiletwin.elements import number_text, statistics
from tiletwin.pages import palette
from tiletwin.trace.model import Launch, Value
from tiletwin.trace.text import elements, one_line, pointer_parts, type_text


def short(number: Any) -> str:
    """An element with few digits: the table shows many, and `--show` all."""
    return number_text(number, 4)


class TileView(Widget, can_focus=True):
    """Shows a value; arrows, PageUp, PageDown, Home and End move through a tile, < and > through its leading
    dimensions."""

    BINDINGS = [
        Binding("up", "move(-1, 0)", "up", show=False),
        Binding("down", "move(1, 0)", "down", show=False),
        Binding("left", "move(0, -1)", "left", show=False),
        Binding("right", "move(0, 1)", "right", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "edge(0)", "start", show=False),
        Binding("end", "edge(1)", "end", show=False),
        Binding("less_than_sign", "slice(-1)", "slice", show=False),
        Binding("greater_than_sign", "slice(1)", "slice", show=False),
    ]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.variable = ""
        self.value: Value | None = None
        self.launch: Launch | None = None
        self.mask: Any = None
        self.heat = True
        self.top = self.left = self.lead = 0
        self._table: Any = None  # 2-D numbers
        self._scale: palette.Scale | None = None
        self._off: Any = None  # 2-D bool: masked off
        self._wraps = False  # a 1-D tile, in rows

    def show(self, name: str, value: Value | None, launch: Launch, mask: Any = None) -> None:
        """mask: bool in the tile's shape, or None."""
        if name != self.variable or value is None or self.value is None or value.shape != self.value.shape:
            self.top = self.left = self.lead = 0
        self.variable, self.value, self.launch = name, value, launch
        self.mask = mask
        self._arrange()
        self.refresh()

    def _arrange(self) -> None:
        self._table = None
        if self.value is None or not self.value.is_tensor or not self.value.shape:
            return
        array = elements(self.value, self.launch)
        self._scale = palette.Scale(array)
        off = None if self.mask is None else ~np.broadcast_to(self.mask, array.shape)
        self._wraps = array.ndim == 1
        if array.ndim > 2:
            self.lead %= int(np.prod(array.shape[:-2]))
        self._table, self._off = (None if part is None else self._flat(part) for part in (array, off))

    def _flat(self, array: Any) -> Any:
        if array.ndim == 1:
            columns = min(self._columns_of_row(), array.size)
            rows = -(-array.size // columns)
            padded = np.zeros(rows * columns, dtype=array.dtype)
            padded[: array.size] = array
            return padded.reshape(rows, columns)
        return array.reshape(-1, *array.shape[-2:])[self.lead]

    def _columns_of_row(self) -> int:
        """Columns of a 1-D tile: a power of two that fits."""
        columns = 8
        while columns * 2 * 8 + 8 <= self.size.width:
            columns *= 2
        return columns

    # ---- drawing ----

    def head(self) -> Text:
        if self.value is None:
            return Text("no variable" if not self.variable else f"{self.variable} has no value here", style="dim")
        if not self.value.is_tensor or not self.value.shape:
            return Text(f"{self.variable} = {one_line(self.value, self.launch)}")
        text = Text(f"{self.variable}: {type_text(self.value)}", style="bold")
        if self.value.is_pointer:
            text.append(f"  offsets in {pointer_parts(self.value, self.launch)[0] or 'memory'}", style="italic")
        text.append(f"  {statistics(elements(self.value, self.launch))}", style="")
        if len(self.value.shape) > 2:
            index = np.unravel_index(self.lead, self.value.shape[:-2])
            text.append(f"  [{', '.join(map(str, map(int, index)))}, :, :]  (< and > change it)")
        if self.mask is not None:
            text.append(f"  mask: {int(np.sum(self.mask))} of {np.size(self.mask)}", style="dim")
        return text

    def _window(self) -> tuple[Any, int, list[str], int]:
        """(rows shown, cell width, texts of the row labels, columns that fit)."""
        rows, columns = self._table.shape
        height = max(self.size.height - 2, 1)
        self.top = min(max(self.top, 0), max(rows - height, 0))
        shown = range(self.top, min(self.top + height, rows))
        labels = [str(r * columns if self._wraps else r) for r in shown]
        label = max((len(t) for t in labels), default=1) + 1
        at_most = max((self.size.width - label) // 2, 1)
        self.left = min(max(self.left, 0), max(columns - 1, 0))
        part = self._table[shown.start : shown.stop, self.left : self.left + at_most]
        width = max((len(short(v)) for v in part.reshape(-1)), default=1) + 1
        fits = max((self.size.width - label) // max(width, len(str(columns)) + 1), 1)
        self.left = min(self.left, max(columns - fits, 0))
        part = self._table[shown.start : shown.stop, self.left : self.left + fits]
        width = max([len(short(v)) for v in part.reshape(-1)] + [len(str(self.left + fits))]) + 1
        return shown, width, labels, max((self.size.width - label) // width, 1)

    def render(self) -> Text:
        text = self.head()
        if self._table is None:
            return text
        shown, width, labels, fits = self._window()
        label = max((len(t) for t in labels), default=1) + 1
        count = int(np.prod(self.value.shape)) if self.value is not None else 0
        columns = range(self.left, min(self.left + fits, self._table.shape[1]))
        text.append("\n" + " " * label)
        for c in columns:
            text.append(f"{c:>{width - 1}} ", style="dim")
        for r, name in zip(shown, labels):
            text.append("\n" + name.rjust(label - 1) + " ", style="dim")
            for c in columns:
                if self._wraps and r * self._table.shape[1] + c >= count:
                    break
                text.append(short(self._table[r, c]).rjust(width - 1) + " ", style=self._style(r, c))
        return text

    def _style(self, row: int, column: int) -> Style:
        is_off = self._off is not None and bool(self._off[row, column])
        if self._scale is None or not (self.heat or is_off):
            return Style()
        paint = palette.MASKED if is_off else self._scale.colour(float(self._table[row, column]))
        return Style(color=palette.ink(paint), bgcolor=palette.hexadecimal(paint), strike=is_off)

    # ---- keys ----

    def on_resize(self) -> None:
        self._arrange()

    def action_move(self, rows: int, columns: int) -> None:
        self.top += rows
        self.left += columns
        self.refresh()

    def action_page(self, direction: int) -> None:
        self.top += direction * max(self.size.height - 3, 1)
        self.refresh()

    def action_edge(self, end: int) -> None:
        if self._table is not None:
            self.top, self.left = (self._table.shape[0], self._table.shape[1]) if end else (0, 0)
        self.refresh()

    def action_slice(self, direction: int) -> None:
        self.lead += direction
        self._arrange()
        self.refresh()
