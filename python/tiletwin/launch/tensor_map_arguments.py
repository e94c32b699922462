"""Tensor descriptors that a compiled kernel takes as tensor maps: from the kernel's metadata to the map of one launch.

Here:      MapArgument, what "tensormap<float16, 64x64, 128>" among a kernel's `arguments` says; the numbers of a map.
Not here:  which descriptors are maps (codegen/passes/TensorMaps.h), the 128 bytes (tiletwin.sim, tiletwin.cuda; for a
           launch on a GPU python/src/GpuLaunch.cpp makes the same of them).
Invariant: a descriptor's first value is its address, + 1 if elements outside read as NaN, + 2 if loads round to tf32;
           its extents and strides are the values behind it, in elements, the contiguous dimension last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from tiletwin.sim.tensor_maps import ELEMENTS, SWIZZLES

NAN_OUTSIDE, ROUNDS_TO_TF32 = 1, 2
"""Notes in the low bits of a descriptor's address."""
_TYPES = list(ELEMENTS)
_PATTERN = re.compile(r"tensormap<(\w+), ([\dx]+), (\d+)>")


class MapArgument(NamedTuple):
    """How the map of an argument is made."""

    element: str
    """The map's element type, of tiletwin.sim.tensor_maps.ELEMENTS."""
    box: tuple[int, ...]
    """Elements of one copy along the tensor's dimensions, the contiguous one last."""
    swizzle: int
    """Bytes; 0: none."""

    def native(self) -> tuple[int, tuple[int, ...], int]:
        """(number of the element type, box with dimension 0 first, number of the swizzle), as the driver counts."""
        word = f"{self.swizzle}B" if self.swizzle else "none"
        return _TYPES.index(self.element), tuple(reversed(self.box)), SWIZZLES.index(word)


def map_argument(kind: str) -> MapArgument | None:
    """What an entry of a kernel's `arguments` says of a tensor map; None if it is something else."""
    found = _PATTERN.fullmatch(kind)
    if not found:
        return None
    return MapArgument(found[1], tuple(int(n) for n in found[2].split("x")), int(found[3]))


def _refuse(place: str, text: str) -> None:
    raise ValueError(
        f"{place}: {text}; on sm_90 and later the kernel is compiled to copy its blocks with the hardware (TMA)"
    )


def numbers(argument: MapArgument, values: Sequence[int], place: str) -> tuple[Any, ...]:
    """The arguments of encode_tensor_map. values: the descriptor's: address, extents, strides. place: for errors.

    Errors: ValueError, a tensor that hardware copies cannot reach although plain accesses could.
    """
    rank = len(argument.box)
    address, extents, strides = int(values[0]), values[1 : 1 + rank], values[1 + rank : 1 + 2 * rank]
    element, box, swizzle = argument.native()
    if address & ROUNDS_TO_TF32:
        element = _TYPES.index("tfloat32")
    if address & NAN_OUTSIDE and not argument.element.startswith(("float", "bfloat")):
        _refuse(place, "padding='nan' has no meaning for a tensor map of 8-bit floats: use padding='zero' and a mask")
    steps = [int(stride) * ELEMENTS[argument.element] for stride in strides[:-1]]
    if any(not 0 <= step < 1 << 40 for step in steps):
        _refuse(place, f"strides of a tensor map lie from 0 to 2^40 bytes, not {', '.join(map(str, reversed(steps)))}")
    # Of a tensor without elements the kernel copies nothing, but a map has an element, and an address.
    sizes = tuple(max(int(extent), 1) for extent in reversed(extents))
    fill = int(bool(address & NAN_OUTSIDE))
    return element, address & ~15 or 16, sizes, tuple(reversed(steps)), box, (1,) * rank, 0, swizzle, 2, fill
