"""Access maps: which elements of a buffer were touched, as a small picture of its memory.

Here:      a buffer's layout as rows and columns, counts per cell for accesses.
Not here:  drawing (screens.py, html.py), addresses (model.py).
Invariant: an element of a buffer lies in exactly one cell; cells are in memory order, row by row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tiletwin.trace.model import Access, Buffer

_INDICES = "ijklmnopqrst"
LINEAR_COLUMNS = 64
"""Columns of memory that has no shape of its own."""


class Layout(NamedTuple):
    """A buffer's elements as a table: offset = first + row * columns + column."""

    rows: int
    columns: int
    first: int
    """Offset, in elements from the argument's first one, of the table's first element."""
    meaning: str
    """What rows and columns are."""
    lead: tuple[int, ...] = ()
    """Dimensions of the buffer that its rows count; none: rows are memory without a shape."""

    def row_name(self, row: int) -> str:
        """The index of a row ("2, 5"), or the offset of its first element."""
        if not self.lead:
            return str(self.first + row * self.columns)
        return ", ".join(str(int(index)) for index in np.unravel_index(row, self.lead))


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether elements of two dimensions and more lie behind each other, row by row."""
    if len(shape) < 2 or len(strides) != len(shape) or 0 in shape or strides[len(shape) - 1] != 1:
        return False
    return all(strides[d] == strides[d + 1] * shape[d + 1] for d in range(len(shape) - 1))


def layout_of(buffer: Buffer, lowest: int = 0, highest: int = 0) -> Layout:
    """The table of a buffer; `lowest` and `highest` offsets are inside of it whatever the argument's shape says."""
    shape, strides = buffer.shape, buffer.strides
    if shape is not None and strides is not None and _is_dense(shape, strides):
        columns = shape[len(shape) - 1]
        rows = math.prod(shape[:-1])
        if lowest >= 0 and highest < rows * columns:
            meaning = f"a row is {buffer.name}[{', '.join(_INDICES[: len(shape) - 1])}, :]"
            return Layout(rows, columns, 0, meaning, shape[:-1])
    size = max(buffer.size // max(buffer.item_size, 1), 1)
    first = min(lowest, (buffer.begin - buffer.first) // max(buffer.item_size, 1), 0)
    count = max(size, highest - first + 1, 1)
    columns = min(LINEAR_COLUMNS, count)
    return Layout(-(-count // columns), columns, first, f"a row is {columns} elements of memory")


class AccessMap(NamedTuple):
    """How often the elements of each cell were touched."""

    buffer: Buffer
    layout: Layout
    counts: Any
    """int64, rows by columns of cells."""
    cell: tuple[int, int]
    """Rows and columns of elements that a cell stands for."""


def map_of(buffer: Buffer, accesses: Iterable[Access], most_rows: int, most_columns: int) -> AccessMap:
    """Counts of touched elements of `buffer`, in at most so many cells."""
    offsets = [t.offsets for access in accesses for t in access.touched() if t.buffer == buffer]
    touched = np.concatenate(offsets) if offsets else np.zeros(0, np.int64)
    low, high = (int(touched.min()), int(touched.max())) if touched.size else (0, 0)
    layout = layout_of(buffer, low, high)
    cell = (-(-layout.rows // most_rows), -(-layout.columns // most_columns))
    shape = (-(-layout.rows // cell[0]), -(-layout.columns // cell[1]))
    counts = np.zeros(shape, np.int64)
    index = touched - layout.first
    np.add.at(counts, (index // layout.columns // cell[0], index % layout.columns // cell[1]), 1)
    return AccessMap(buffer, layout, counts, cell)
