"""Arguments that a compiled kernel has behind its own: tensor maps that a launch makes of the other arguments.

Here:      CopiedLoads, what the last of a kernel's `arguments` say; the maps' numbers, and whether they can be made.
Not here:  which loads become copies (codegen/passes/AffineLoads.h), the 128 bytes (tiletwin.sim, tiletwin.cuda; for a
           launch on a GPU python/src/CopiedLoads.cpp makes the same of them), who launches such code
           (codegen/stages.py).
Invariant: the maps stand behind the kernel's own arguments, and the flag, an i32, behind the maps. The flag is 1 if all
           maps describe memory that the hardware can copy, and 0 for a launch that reads it otherwise. Behind it stand
           the grid's sizes of a kernel whose CTAs run one program after the other (codegen/passes/TileLoop.h).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from tiletwin.launch.tensor_map_arguments import MapArgument
from tiletwin.sim.tensor_maps import ELEMENTS

Sum = tuple[tuple[int, tuple[int, ...]], ...]
"""Products of a number and of arguments, by their numbers."""

_MAP = re.compile(r"tensormap<(\w+), ([\dx]+), (\d+); a(\d+); ([^;]+); ([^;>]*)>")
_FLAG = re.compile(r"copies<([^>]*)>")
_ALIGNMENT, _LONGEST_STRIDE, _MOST_ELEMENTS = 16, 1 << 40, (1 << 31) - 1
_MOST_POSITIVE = (1 << 30) - 1
_SIZES = ("programs",) * 3
_MOST_PROGRAMS = 1 << 30


class CopiedMap(NamedTuple):
    """A map that is made of other arguments."""

    map: MapArgument
    base: int
    """The pointer's number."""
    extents: tuple[Sum, ...]
    strides: tuple[Sum, ...]
    """In elements, of all dimensions but the last one."""

    def native(self) -> tuple[Any, ...]:
        size = ELEMENTS[self.map.element]
        steps = (tuple((number * size, arguments) for number, arguments in one) for one in reversed(self.strides))
        return (*self.map.native(), self.base, self.extents[::-1], tuple(steps))


class CopiedLoads(NamedTuple):
    """What a kernel has behind its own arguments."""

    own: int
    """How many these are."""
    maps: tuple[CopiedMap, ...]
    positive: tuple[Sum, ...]
    """Sums that must lie from 1 to 2^30 - 1."""
    loops: bool = False
    """A CTA runs one program after the other, and takes the grid's sizes."""

    def native(self) -> tuple[tuple[Any, ...], ...]:
        """Each argument as `_C` takes it: element type, box, swizzle, base, extents, and strides in bytes, of a map,
        dimension 0 first; of the flag its sums, and whether the grid's sizes follow."""
        return (*(one.native() for one in self.maps), (self.positive, self.loops))

    def passed(self) -> tuple[Any, ...]:
        """What the kernel is passed behind its own arguments, as `_cuda` takes it: maps, and storage types."""
        return (*(one.native() for one in self.maps), *(1 + len(_SIZES) * self.loops) * ("i32",))


def _sum(text: str) -> Sum:
    """What "2*a4*a5+-1" says."""
    terms = (term.split("*") for term in text.split("+"))
    return tuple((int(number), tuple(int(argument[1:]) for argument in arguments)) for number, *arguments in terms)


def _sums(text: str) -> tuple[Sum, ...]:
    return tuple(_sum(part) for part in text.split("/") if part)


def copied_loads(kinds: Sequence[str]) -> CopiedLoads | None:
    """What the entries of a kernel's `arguments` say; None if it has none but its own."""
    loops = len(kinds) > len(_SIZES) and tuple(kinds[-len(_SIZES) :]) == _SIZES
    if loops:
        kinds = kinds[: -len(_SIZES)]
    flag = _FLAG.fullmatch(kinds[-1]) if kinds else None
    if flag is None:
        return None
    found = [m for kind in kinds if (m := _MAP.fullmatch(kind))]
    maps = (
        CopiedMap(
            MapArgument(m[1], tuple(int(n) for n in m[2].split("x")), int(m[3])), int(m[4]), _sums(m[5]), _sums(m[6])
        )
        for m in found
    )
    return CopiedLoads(len(kinds) - len(found) - 1, tuple(maps), _sums(flag[1]), loops)


def _signed(value: Any, kind: str) -> int:
    """An argument as the kernel reads it."""
    bits = {"i32": 32, "i64": 64}.get(kind, 64)
    return (int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _evaluate(sum: Sum, values: Sequence[Any], kinds: Sequence[str]) -> int:
    total = 0
    for number, arguments in sum:
        for argument in arguments:
            number *= _signed(values[argument], kinds[argument])
        total += number
    return total


def _numbers(copied: CopiedMap, values: Sequence[Any], kinds: Sequence[str]) -> tuple[Any, ...] | None:
    """The arguments of encode_tensor_map; None: no map describes this memory."""
    address = int(values[copied.base])
    sizes = [_evaluate(one, values, kinds) for one in copied.extents]
    elements = [_evaluate(one, values, kinds) for one in copied.strides]
    steps = [number * ELEMENTS[copied.map.element] for number in elements]
    if address % _ALIGNMENT or not address or not all(0 < size <= _MOST_ELEMENTS for size in sizes):
        return None
    if not all(0 < step < _LONGEST_STRIDE and step % _ALIGNMENT == 0 for step in steps):
        return None
    element, box, swizzle = copied.map.native()
    ones = (1,) * len(box)
    return element, address, tuple(reversed(sizes)), tuple(reversed(steps)), box, ones, 0, swizzle, 2, 0


def numbers(loads: CopiedLoads, values: Sequence[Any], kinds: Sequence[str]) -> list[tuple[Any, ...]] | None:
    """The arguments of encode_tensor_map for each map; None: the launch's flag is 0.

    values, kinds: of the kernel's own arguments.
    """
    if not all(0 < _evaluate(one, values, kinds) <= _MOST_POSITIVE for one in loads.positive):
        return None
    made = [_numbers(one, values, kinds) for one in loads.maps]
    return None if any(one is None for one in made) else [one for one in made if one is not None]


def ctas_of(grid: tuple[int, int, int], most: int, name: str, cluster: int) -> tuple[int, int, int]:
    """The grid that is launched of a kernel whose CTAs run one program after the other: of whole clusters.

    most: CTAs that run at one time. cluster: CTAs of one.
    Errors: ValueError, there are more programs than such a kernel can count.
    """
    count = grid[0] * grid[1] * grid[2]
    if count > _MOST_PROGRAMS:
        raise ValueError(f"{name}(): a grid of {count} programs is larger than {_MOST_PROGRAMS}")
    return max(min(-(-count // cluster), most // cluster), 1) * cluster, 1, 1
