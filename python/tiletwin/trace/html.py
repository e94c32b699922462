"""A recording as one HTML file: source, tiles as heat maps, masks and access maps, stepped through with keys.

Here:      what of a recording goes into the file, and in which form the page's script reads it.
Not here:  the page itself (pages/viewer.html.j2, viewer.css, viewer.js).
Invariant: the file names no other resource; every value is in it once, packed.

Tiles are packed by zlib and written in base64; the page unpacks what it shows (DecompressionStream). Elements are
written as the smallest of bool, int32, int64, float32, float64 that holds them; pointers as offsets into their buffer.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from tiletwin import whole_files
from tiletwin.elements import statistics
from tiletwin.pages import palette, render
from tiletwin.trace.model import Access, Buffer, Launch, Program, Step, Trace, Value
from tiletwin.trace.reader import TraceError
from tiletwin.trace.selection import size_text
from tiletwin.trace.text import access_text, kind_text, one_line, pointer_parts, program_text, type_text

MOST_MAP_ROWS, MOST_MAP_COLUMNS = 256, 256
"""Cells of an access map; larger buffers share cells."""


def packed(array: Any) -> dict[str, Any]:
    """An array as the page reads it: {d: element type, z: base64 of zlib} or {d, v: the one value of all elements}."""
    array = np.ascontiguousarray(array)
    if array.dtype == bool:
        kind, data = "u1", array.astype(np.uint8)
    elif array.dtype.kind in "iu":
        small = not array.size or (-(2**31) <= int(array.min()) and int(array.max()) < 2**31)
        kind = "i4" if small else "u8" if array.dtype == np.uint64 else "i8"
        data = array.astype(f"<{kind}")
    else:
        kind = "f8" if array.dtype == np.float64 else "f4"
        data = array.astype(f"<{kind}")
    raw = data.tobytes()
    return {"d": kind, "z": base64.b64encode(zlib.compress(raw, 6)).decode()}


class _Values:
    """The values that the file needs, each once, in the order of their numbers in the page."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._known: dict[tuple[int, int, int], int] = {}

    def add(self, value: Value | None, launch: Launch) -> int | None:
        if value is None:
            return None
        key = (id(launch.recording), value.number, launch.number if value.is_pointer else -1)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self.rows)
            self.rows.append({})
            self.rows[known] = self._row(value, launch)
        return known

    def _row(self, value: Value, launch: Launch) -> dict[str, Any]:
        row: dict[str, Any] = {"t": type_text(value), "x": one_line(value, launch)}
        if value.is_tensor and value.shape:
            buffer = ""
            array = value.numpy()
            if value.is_pointer:
                buffer, array = pointer_parts(value, launch)
            row |= {"s": list(value.shape), "st": statistics(array), **packed(array)}
            if value.is_pointer:
                row["b"] = buffer
        elif value.parts():
            row["p"] = {name: self.add(part, launch) for name, part in value.parts().items()}
        return row


def _access(access: Access, buffers: list[Buffer], values: _Values, launch: Launch) -> dict[str, Any]:
    touched = []
    for part in access.touched():
        if part.buffer is not None:
            touched.append({"b": buffers.index(part.buffer), "o": packed(part.offsets)})
    mask = access.mask
    return {
        "n": access.name,
        "x": access_text(access),
        "w": int(access.writes),
        "s": list(access.addresses.shape),
        "k": None if mask is None else packed(access.active().reshape(-1)),
        "v": values.add(access.value, launch),
        "o": values.add(access.old, launch),
        "t": touched,
    }


def _step(step: Step, functions: dict[Any, int], values: _Values, launch: Launch) -> dict[str, Any]:
    function = functions.setdefault((step.function.file, step.function.first_line, step.function.name), len(functions))
    row: dict[str, Any] = {
        "f": function,
        "l": step.line,
        "k": kind_text(step),
        "e": int(step.kind == "error"),
        "c": int(step.kind == "call"),
        "i": [list(pair) for pair in step.loops],
        "r": step.frame,
        "d": step.depth,
    }
    changes = {name: values.add(value, launch) for name, value in step.changes.items()}
    if changes:
        row["v"] = changes
    accesses = step.accesses
    if accesses:
        row["a"] = [_access(a, launch.buffers, values, launch) for a in accesses]
    if step.depth:
        row["s"] = [site.number for site in step.stack[:-1]]
    return row


def data_of(trace: Trace, programs: list[Program]) -> dict[str, Any]:
    """What the page shows of the programs."""
    from tiletwin.trace.maps import layout_of

    functions: dict[Any, int] = {}
    values = _Values()
    launches: list[Launch] = list(dict.fromkeys(program.launch for program in programs))
    rows = []
    for program in programs:
        launch = program.launch
        steps = [_step(step, functions, values, launch) for step in program.steps]
        x, y, z = program.id
        rows.append({"launch": launches.index(launch), "id": [x, y, z], "text": program_text(program),
                     "message": program.message, "status": program.status, "steps": steps})  # fmt: skip
    known = {(f.file, f.first_line, f.name): f for launch in launches for f in launch.recording.functions.values()}
    return {
        "functions": [
            {"name": key[2], "file": key[0], "first": key[1], "lines": [line.rstrip("\n") for line in known[key].lines]}
            for key in functions
        ],
        "launches": [
            {
                "kernel": launch.kernel,
                "grid": list(launch.grid),
                "count": launch.count,
                "arguments": launch.arguments,
                "origins": list(map(str, launch.origins)),
                "colours": palette.of_programs(sum(program.launch is launch for program in programs)),
                "buffers": [
                    {"name": b.name, "type": b.type, "shape": b.shape, "layout": list(layout_of(b)),
                     "size": max(b.size // max(b.item_size, 1), 1)}
                    for b in launch.buffers
                ],
            }
            for launch in launches
        ],
        "programs": rows,
        "values": values.rows,
        "notes": [*trace.endings, *trace.problems],
        "map": [MOST_MAP_ROWS, MOST_MAP_COLUMNS],
        "palette": {"rising": palette.RISING, "diverging": palette.DIVERGING, "nan": palette.NAN,
                    "infinite": palette.INFINITE, "masked": palette.MASKED},
    }  # fmt: skip


def export(trace: Trace, programs: list[Program], path: str) -> str:
    """Writes the file; returns a sentence about it. Errors: TraceError, it cannot be written."""
    names = sorted({p.launch.kernel for p in programs})
    title = f"{', '.join(names)} - tiletwin trace"
    page = render("viewer.html.j2", title=title, data=data_of(trace, programs))
    try:
        whole_files.write(path, page)
    except OSError as error:
        raise TraceError(f"{path}: cannot be written ({error.strerror})") from None
    steps = sum(len(p.steps) for p in programs)
    return f"{path}: {len(programs)} programs, {steps} steps, {size_text(len(page.encode()))}"
