"""Where inside a kernel two backends part: the first value that differs, by source line, variable, program and element.

Here:      the failing program's values on both sides, compared under bounds in the order in which they are computed.
Not here:  the kernel that writes its values down (diff/Taps.h), which program that is (comparing.py).
Idea:      both backends run a kernel that stores every number it computes. So it works for every backend that compiles
           TTIR; the interpreter's kernel computes the bounds of the values beside them. Storing values can make a
           compiler's mistake go away: then nothing is found, and the report says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tiletwin import _C
from tiletwin.diff import bounds as bounds_of
from tiletwin.diff.backends import Backend, InterpBackend, RecordedBackend, latitude
from tiletwin.diff.launches import ELEMENTS, Array, elements_of
from tiletwin.diff.text import place_text, source_line
from tiletwin.elements import number_text
from tiletwin.errors import TileTwinError

LOG_BYTES = (1 << 20, 1 << 26)
"""Of a program's values: the second if nothing differs among those that the first has room for. What comes later is not
looked at."""
_BOUND_BIT = 1 << 30
_SIZES = {ir: size for ir, size, _ in ELEMENTS.values()}
_TYPES = {ir: name for name, (ir, _, unsigned) in ELEMENTS.items() if ir == "i1" or not unsigned}


@dataclass
class Finding:
    """The first value that differs, or where the difference begins otherwise."""

    program: tuple[int, int, int]
    place: tuple[str, int, int] | None
    variable: str = ""
    operation: str = ""
    index: str = ""
    left: str = ""
    right: str = ""
    bound: str = ""
    a: str = ""
    b: str = ""
    round: int = 0
    """How often the operation had been computed before, in a loop."""
    text: str = ""
    """In place of a value: what is known."""

    def lines(self, report: Any) -> list[str]:
        where = place_text(self.place)
        if self.text:
            lines = [f"program {self.program}: {self.text}"]
        else:
            again = f", in round {self.round + 1}" if self.round else ""
            lines = [
                f"the first value that differs, in program {self.program}: {self.variable or 'a value'}{self.index} "
                f"({self.operation}{again}): {self.a} has {self.left}, {self.b} has {self.right}; "
                f"the bound is {self.bound}"
            ]
        return [*lines, f"  {where}: {source_line(report, self.place).strip()}"] if where else lines


@dataclass
class _Record:
    tap: int
    data: np.ndarray
    bound: np.ndarray | None = None


def _size(row: tuple) -> int:
    element = row[3]
    return int(np.prod(row[4], dtype=np.int64)) * (_SIZES.get(element) or 1)


def _records(log: np.ndarray, rows: list[tuple]) -> tuple[list[_Record], bool]:
    """The records of a log, and whether there was room for one more of any kind: then none is missing."""
    found: list[_Record] = []
    place = 0
    while place + 16 <= log.size:
        number = int(log[place : place + 4].view(np.int32)[0])
        if number == 0:
            break
        is_bound, number = bool(number & _BOUND_BIT), (number & ~_BOUND_BIT) - 1
        if not 0 <= number < len(rows):
            break
        row = rows[number]
        # The bound of an i1 is an i8, of everything else an f32.
        size = _size(row)
        if is_bound and row[3] != "i1":
            size = size // (_SIZES.get(row[3]) or 1) * 4
        data = log[place + 16 : place + 16 + size]
        if data.size < size:
            break
        if not is_bound:
            found.append(_Record(number, data))
        elif found and found[-1].tap == number:
            found[-1].bound = data if row[3] == "i1" else data.view(np.float32)
        place += 16 + (size + 15) // 16 * 16
    most = max((4 * _size(row) for row in rows), default=0)
    return found, place + 32 + most <= log.size


_Values = tuple[list[tuple], list[_Record], bool]
"""The taps of a kernel, the records of one program, and whether these are all."""


def _tapped(
    launch: Any, backend: Backend, program: tuple[int, int, int], allowed: bounds_of.Latitude | None, size: int
) -> _Values | str:
    """The values of a program on a backend, those that a log of `size` bytes holds; or why they are missing."""
    entry = _C.parse_ttir(launch.ttir, f"{launch.name}.ttir").entry
    try:
        text, rows, shadowed = _C.diff_taps(
            launch.ttir, f"{launch.name}.ttir", entry, program, None if allowed is None else tuple(allowed)
        )
    except TileTwinError as error:
        return str(error)
    extra: dict[str, Any] = {}
    memory: list[np.ndarray] = []
    if allowed is not None:
        room = bounds_of.shadow_memory(launch, shadowed)
        extra, memory = dict(room.arguments), list(room.memory)
    number = len(launch.memory) + len(memory)
    extra |= {"log": bounds_of.vector(number, 0, size, "u8"), "log begin": 0, "log size": size}
    outcome = backend.run(bounds_of.augmented(launch, text, extra, [*memory, np.zeros(size, np.uint8)]))
    if outcome.error or outcome.unsupported:
        return f"{backend.name} cannot show its values: {outcome.error or outcome.unsupported}"
    return rows, *_records(outcome.memory[number], rows)


def _compare(a: _Record, b: _Record, row: tuple) -> int:
    """The first element that differs by more than its bound; -1: none."""
    if np.array_equal(a.data, b.data):
        return -1
    if row[3] == "i1":
        bad = (a.data != 0) != (b.data != 0)
        if a.bound is not None:
            bad &= a.bound == 0
        return int(np.argmax(bad)) if bad.any() else -1
    limits = None if a.bound is None else np.ascontiguousarray(a.bound)
    found = _C.diff_compare(np.ascontiguousarray(a.data), np.ascontiguousarray(b.data), row[3], False, limits, None)
    return found["first"]


def _text(data: np.ndarray, row: tuple, element: int) -> str:
    values = elements_of(np.ascontiguousarray(data), Array(0, 0, _TYPES[row[3]], (), ()))
    return number_text(values[element], 9)


def _index(row: tuple, element: int) -> str:
    return "[" + ", ".join(map(str, np.unravel_index(element, row[4]))) + "]" if row[4] else ""


def _live(backend: Backend) -> Backend:
    """What gives a backend's values now: the interpreter stands for what it has recorded."""
    return InterpBackend() if isinstance(backend, RecordedBackend) and backend.of == "interp" else backend


def localise(report: Any, backends: list[Backend]) -> Finding | None:
    """Looks for the first value that differs, in the program that wrote the first element that does."""
    row = report.first()
    if row is None:
        return None
    launch = report.launch
    a = next(b for b in backends if b.name == row.a)
    b = next((b for b in backends[1:] if b.name == row.b), None)
    allowed = latitude(a.traits, (b or a).traits)
    program, place = row.program, row.place
    untapped = [backend.name for backend in (a, b) if backend is not None and not _live(backend).can_tap]
    if b is None or untapped or not launch.ttir:
        if untapped:
            report.notes.append(
                f"values inside of the kernel were not compared: {' and '.join(untapped)} cannot show them"
            )
        return None
    replaced = [path for backend in (a, b) for path in backend.replaced]
    if replaced:
        report.notes.append(f"values inside of the kernel were not compared: its code is from {', '.join(replaced)}")
        return None
    if program is None:
        found = _other_writer(launch, _live(b), row, allowed)
        if found is None:
            return None
        program, place = found
        text = f"{b.name} writes {row.argument}{row.index}, and no program of {a.name} does"
        return Finding(program, place, text=text)
    for size in LOG_BYTES:
        left = _tapped(launch, InterpBackend() if a.name != "interp" else a, program, allowed, size)
        right = _tapped(launch, _live(b), program, None, size)
        if isinstance(left, str) or isinstance(right, str):
            report.notes.append(left if isinstance(left, str) else str(right))
            return None
        found = _first(left, right, program, place, a.name, b.name)
        if not found.text or (left[2] and right[2]):
            break
    return found


def _other_writer(launch: Any, backend: Backend, row: Any, allowed: bounds_of.Latitude) -> Any:
    """Who wrote the element on the other side."""
    try:
        bounds = bounds_of.derive(launch, allowed, backend)
    except bounds_of.NoBounds:
        return None
    return bounds.writer(row.array.storage, row.first + row.array.offset // row.array.item)


def _first(left: _Values, right: _Values, program: Any, place: Any, a: str, b: str) -> Finding:
    rows, seen, may_part = left[0], {}, False
    for one, other in zip(left[1], right[1]):
        row = rows[one.tap]
        seen[one.tap] = seen.get(one.tap, -1) + 1
        if one.tap != other.tap:
            text = f"{a} and {b} go different ways: {a} computes {row[1] or row[2]} here, {b} {rows[other.tap][1]}"
            if may_part:
                text += "; rounding may send them there, and what follows was not compared"
            return Finding(program, row[0], text=text)
        element = _compare(one, other, row)
        if element < 0:
            may_part |= row[3] == "i1" and not np.array_equal(one.data != 0, other.data != 0)
            continue
        bound = "0" if one.bound is None else f"{float(one.bound[element]):.3g}"
        return Finding(
            program, row[0], row[1], row[2], _index(row, element), _text(one.data, row, element),
            _text(other.data, row, element), bound, a, b, seen[one.tap],
        )  # fmt: skip
    whole = len(left[1]) == len(right[1]) and left[2] and right[2]
    text = (
        "all values are the same within their bounds: what differs is the store, its address or its mask"
        if whole
        else "the values that were looked at are the same within their bounds"
    )
    return Finding(program, place, text=text)
