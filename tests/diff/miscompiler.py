"""A code generator with a mistake: the text of one stage is changed before the rest of the compiler sees it.

Here:      six mistakes as changes of generated text, a stand-in for tiletwin._codegen that makes one of them.
Not here:  the kernels (miscompiled_kernels.py), what a tester has to find (test_planted_miscompiles.py).
Idea:      a wrong line in a generator is wrong for every kernel: so is this, the tester's own kernels included.
Invariant: a mistake that changes nothing in a kernel is an error of the test (`Miscompiler.changes` counts).
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tiletwin import _codegen
from tiletwin.codegen import generator


class Mistake(NamedTuple):
    stage: str
    """"ttgir" or "ptx": the text that is changed."""
    change: Callable[[str], tuple[str, int]]
    """Gives the changed text, and how many places were changed."""


def _replaced(pattern: str, by: str) -> Callable[[str], tuple[str, int]]:
    return lambda text: re.subn(pattern, by, text)


# ---- a layout with two bits swapped ----

_LAYOUT = re.compile(r"(?m)^#(layout\d*) = #twg\.linear<\{(.*)\}>$")
_TILE = r"tensor<(\d+x\d+)x(f\d+), #(layout\d*)>"
_CONVERSION = re.compile(rf"(?m)^( *)(%\S+) = twg\.convert_layout (%\S+)(?: {{.*}})? : {_TILE} -> {_TILE}( loc.*)?$")

Parts = dict[str, list[list[int]]]
"""The bases of a layout as coordinates: "register", "lane", "warp", "block"."""


def _layouts(text: str) -> dict[str, Parts]:
    found: dict[str, Parts] = {}
    for name, body in _LAYOUT.findall(text):
        lists = {part: rows for part, rows in re.findall(r"(\w+) = \[((?:\[[^]]*\](?:, )?)*)\]", body)}
        found[name] = {
            part: [[int(n) for n in row.split(",")] for row in re.findall(r"\[([^]]*)\]", rows)]
            for part, rows in lists.items()
        }
    return found


def _flat(coordinates: list[int], shape: list[int]) -> int:
    place = 0
    for coordinate, extent in zip(coordinates, shape, strict=True):
        place = place * extent + coordinate
    return place


def _coordinates(place: int, shape: list[int]) -> list[int]:
    found = []
    for extent in reversed(shape):
        place, coordinate = divmod(place, extent)
        found.insert(0, coordinate)
    return found


def _type(shape: list[int], element: str, places: dict[str, list[int]]) -> str:
    parts = ", ".join(f"{part} = {[_coordinates(place, shape) for place in row]}" for part, row in places.items())
    return f"tensor<{'x'.join(map(str, shape))}x{element}, #twg.linear<{{{parts}}}>>"


def _low_bits_swapped(place: int) -> int:
    return place & ~3 | (place & 1) << 1 | (place & 2) >> 1


def swapped_layout_bit(text: str) -> tuple[str, int]:
    """Conversions of two-dimensional tiles of floats make a layout in which the two lowest bits of the element's number
    have changed places, and what follows takes it for the right one: the registers get another name, nothing moves."""
    layouts = _layouts(text)
    count = 0

    def wrong(match: re.Match) -> str:
        nonlocal count
        indent, result, source, extents, element, before, _, _, after, where = match.groups()
        shape = [int(n) for n in extents.split("x")]
        right = {part: [_flat(row, shape) for row in rows] for part, rows in layouts[after].items()}
        swapped = {part: [_low_bits_swapped(place) for place in row] for part, row in right.items()}
        split = [shape[0] * shape[1] // 4, 2, 2]
        name, where = f"%planted{count}", where or ""
        count += 1
        lines = [
            f"{name} = twg.convert_layout {source} : tensor<{extents}x{element}, #{before}> -> "
            f"{_type(shape, element, swapped)}",
            f"{name}a = tt.reshape {name} : {_type(shape, element, swapped)} -> {_type(split, element, swapped)}",
            f"{name}b = tt.trans {name}a {{order = array<i32: 0, 2, 1>}} : {_type(split, element, swapped)} -> "
            f"{_type(split, element, right)}",
            f"{result} = tt.reshape {name}b : {_type(split, element, right)} -> tensor<{extents}x{element}, #{after}>",
        ]
        return "\n".join(indent + line + where for line in lines)

    # Other layouts want other barriers: the compiler places them anew.
    return _CONVERSION.sub(wrong, text).replace("twg.barriers_complete, ", ""), count


# ---- all of them ----

MISTAKES = {
    "wrong shuffle": Mistake("ptx", _replaced(r"(shfl\.sync\.bfly\.b32\s+%r\d+, %r\d+, )16,", r"\g<1>8,")),
    "dropped mask of a load": Mistake("ptx", _replaced(r"@%p\d+ (ld\.global)", r"\1")),
    "dropped mask of a store": Mistake("ptx", _replaced(r"@%p\d+ (st\.global)", r"\1")),
    "wrong rounding": Mistake("ptx", _replaced(r"\bcvt\.rn\.(f16|f16x2)\.f32", r"cvt.rz.\1.f32")),
    "swapped layout bit": Mistake("ttgir", swapped_layout_bit),
    # Between what warps write for each other and what they read.
    "missing barrier": Mistake(
        "ptx", _replaced(r"(st\.shared[^\n]*\n\s*// end inline asm\n)\s*bar\.sync\s+0;\n", r"\1")
    ),
}


class Miscompiler:
    """As tiletwin._codegen, with a mistake."""

    Error = _codegen.Error
    __file__ = _codegen.__file__

    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake
        self.changes: list[int] = []
        """Places that were changed in each kernel."""

    def compile(self, text: str, stage: str, file_name: str, target: dict, options: dict) -> dict[str, Any]:
        made = dict(_codegen.compile(text, stage, file_name, target, options))
        made[self.mistake.stage], count = self.mistake.change(made[self.mistake.stage])
        self.changes.append(count)
        if self.mistake.stage != "ptx":
            later = _codegen.compile(made[self.mistake.stage], self.mistake.stage, file_name, target, options)
            made = {**made, **later, self.mistake.stage: made[self.mistake.stage]}
        return made


@contextlib.contextmanager
def planted(name: str) -> Iterator[Miscompiler]:
    """The code generator of this process makes a mistake, and its cache is one of its own."""
    right, miscompiler = generator.extension, Miscompiler(MISTAKES[name])
    folder = os.environ.get("TILETWIN_CACHE_DIR")
    with tempfile.TemporaryDirectory() as own:
        os.environ["TILETWIN_CACHE_DIR"] = own
        generator.extension = lambda: miscompiler
        try:
            yield miscompiler
        finally:
            generator.extension = right
            os.environ.pop("TILETWIN_CACHE_DIR")
            if folder is not None:
                os.environ["TILETWIN_CACHE_DIR"] = folder
