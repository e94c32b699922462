"""What people see of evaluated values: NumPy arrays, parts, and one-line or few-line text.

Called from the extension (python/src/EagerLooks.cpp) with an element type's name in the language.
Here:      the text of tensors and pointers, what `x[3:7]` picks.
Not here:  HTML (html.py), the rules of the language.
Invariant: text of a tile never gets long: large ones are shown by their corners and a summary.
"""

from __future__ import annotations

import math
from typing import Any

from tiletwin import _C
from tiletwin.elements import ITEM_SIZES, is_pointer, numpy_of, pointee_of, statistics

FEW = 64
"""Tiles of up to so many elements are shown whole."""
FAR = 1 << 30
"""Bytes: a pointer farther than this from every known buffer is shown as an address."""


def repr_of(data: bytes, type_name: str, shape: tuple[int, ...], origin: int = -1) -> str:
    """`tensor([0, 1, 2, 3], int32)`; large tiles `tensor([0., ..., 9.], fp32[1024], min 0, max 9, mean 4.5, 2 NaN)`;
    pointers `<x_ptr + [0, 1, 2 ... 1023], fp32, 1024 lanes>`."""
    import numpy

    array = numpy_of(data, type_name, shape)
    if is_pointer(type_name):
        return pointer_text(array, pointee_of(type_name), origin)
    if array.size <= FEW:
        return f"tensor({numpy.array2string(array, separator=', ', prefix='tensor(')}, {type_name})"
    text = numpy.array2string(
        array,
        max_line_width=116,
        separator=", ",
        prefix="tensor(",
        threshold=FEW,
        edgeitems=3,
        formatter={"float_kind": lambda value: f"{value:.5g}"},
    )
    return f"tensor({text}, {type_name}{list(shape)}, {statistics(array)})"


# ---- pointers ----


def pointer_text(addresses: Any, pointee: str, origin: int = -1) -> str:
    """Which argument's memory pointers lead to, and how many elements from its start on.

    origin: the row of `_C.known_memory` that they were made for; negative: that is not known, addresses must tell.
    """
    import numpy

    lanes = "" if addresses.ndim == 0 else f", {'x'.join(map(str, addresses.shape))} lanes"
    flat = addresses.reshape(-1)
    if not flat.any():
        return f"<null, {pointee}{lanes}>"
    sample = numpy.unique(flat[numpy.linspace(0, flat.size - 1, min(flat.size, 16)).astype(int)])
    rows = _C.known_memory([int(address) for address in sample])
    inside = [((flat >= begin) & (flat < end)) for _, begin, end, *_ in rows]
    counts = [
        (int(mask.sum()), int(((flat >= low) & (flat < high)).sum()))
        for mask, (_, _, _, low, high, _) in zip(inside, rows)
    ]
    best = origin if origin >= 0 else _owner(flat, rows, counts)
    if isinstance(best, str):
        return f"<{best}, {pointee}{lanes}>"
    if best is None:
        return f"<{sequence(addresses, hex)}, {pointee}{lanes}>"
    name, *_, first = rows[best]
    size = 8 if is_pointer(pointee) else ITEM_SIZES.get(pointee, 1)
    offsets = (addresses - numpy.uint64(first)).view(numpy.int64)
    unit = ""
    if (offsets % size).any():
        unit = " bytes"
    else:
        offsets = offsets // size
    outside = flat.size - counts[best][0]
    where = "" if not outside else f", {outside} outside" if addresses.ndim else ", outside"
    return f"<{name or 'memory'} + {sequence(offsets, str)}{unit}, {pointee}{lanes}{where}>"


def _owner(flat: Any, rows: list[tuple], counts: list[tuple[int, int]]) -> int | str | None:
    """Whose memory addresses lie in: the number of a row, a text where several have some, None far from all of them.

    counts: for each row how many lie in its storage, and in its view.
    """
    owners = {row[0] for row, count in zip(rows, counts) if count[0]}
    if len(owners) > 1 and not any(count[0] == flat.size for count in counts):
        parts = {row[0]: f"{row[0]} ({count[0]} lanes)" for row, count in zip(rows, counts) if count[0]}
        return f"pointers into {' and '.join(parts.values())}"
    best = max(range(len(rows)), key=counts.__getitem__, default=None)
    if best is not None and not counts[best][0]:  # all outside: the nearest one
        distances = [min(abs(int(flat.min()) - end), abs(begin - int(flat.max()))) for _, begin, end, *_ in rows]
        best = min(range(len(rows)), key=distances.__getitem__)
        if distances[best] > FAR:
            return None
    return best


def sequence(array: Any, text: Any) -> str:
    """[0, 1, 2 ... 1023]; rows alike."""
    if array.ndim == 0:
        return text(int(array))
    shown = 3 if array.ndim == 1 else 2
    if len(array) <= shown + 1:
        return "[" + ", ".join(sequence(item, text) for item in array) + "]"
    return "[" + ", ".join(sequence(item, text) for item in array[:shown]) + f" ... {sequence(array[-1], text)}]"


# ---- parts ----


def picked(shape: tuple[int, ...], index: Any) -> tuple[bytes, tuple[int, ...]]:
    """What x[index] picks of a tile of that shape: flat element numbers (int64), and the result's shape.

    index: as NumPy has it; integers and masks may be tensors or compile-time values.
    Errors: IndexError, as NumPy has it.
    """
    import numpy

    if not shape:
        raise IndexError(f"a scalar has no elements to index, got [{index}]")
    items = index if isinstance(index, tuple) else (index,)
    numbers = numpy.arange(math.prod(shape), dtype=numpy.int64).reshape(shape)
    chosen = numpy.asarray(numbers[tuple(map(plain_index, items))])
    return chosen.tobytes(), chosen.shape


def plain_index(item: Any) -> Any:
    """One part of an index without values of the language in it."""
    import numpy

    if isinstance(item, slice):
        return slice(*(plain_index(part) for part in (item.start, item.stop, item.step)))
    if isinstance(item, _C.tensor):
        array = numpy.asarray(item)
        return array if array.ndim else array[()]
    return getattr(item, "value", item)
