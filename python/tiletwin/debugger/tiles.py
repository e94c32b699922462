"""Memory as tiles: tables of numbers, with the order in which shared memory holds them.

Here:      element types, SharedTile (what tiletwin's own kernels say of their shared memory, or what a user says),
           TensorMap (the 128 bytes that a copy of a block reads), tables.
Not here:  commands (show_tiles.py).
Source:    codegen/layout/SharedLayout.h for the order; for tensor maps sim/isa/TensorMapLayout.h has their bytes.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np

from tiletwin.debugger.connection import Refused

PIECE = 16
"""Bytes that a swizzle moves together."""
_TYPES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32,
    "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "s8": np.int8,
    "s16": np.int16, "s32": np.int32, "s64": np.int64, "b8": np.uint8, "b16": np.uint16, "b32": np.uint32,
    "b64": np.uint64,
}  # fmt: skip
_SHOWN = 4
"""Rows and columns at each end of a table."""


def element_bytes(kind: str) -> int:
    """Errors: Refused, no such type."""
    if kind == "bf16":
        return 2
    if kind in ("f8E4M3FN", "f8E5M2"):
        return 1
    if kind not in _TYPES:
        raise Refused(f"{kind} is no type of elements: f16, bf16, f32, f64, i8 to i64, u8 to u64, b8 to b64")
    return int(np.dtype(_TYPES[kind]).itemsize)


def numbers(data: bytes, kind: str) -> np.ndarray:
    """Elements in the order of memory; 8-bit floats as their bits."""
    if kind == "bf16":
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(data, _TYPES.get(kind, np.uint8))


def cell(number: np.generic) -> str:
    """An element as text."""
    return f"{number:.6g}" if isinstance(number, np.floating) else str(int(number))


def table(tile: np.ndarray, is_known: np.ndarray | None = None) -> list[str]:
    """Lines of a table of at most two dimensions; the middle of a large one is left out. is_known: which elements are;
    others are `--`."""
    grid = np.atleast_2d(tile)
    known = np.ones_like(grid, bool) if is_known is None else np.atleast_2d(is_known)

    def ends(count: int) -> list[int | None]:
        if count <= 2 * _SHOWN:
            return list(range(count))
        return [*range(_SHOWN), None, *range(count - _SHOWN, count)]

    columns = ends(grid.shape[1])
    rows = [["", *("..." if c is None else str(c) for c in columns)]]
    for r in ends(grid.shape[0]):
        if r is None:
            rows.append(["..."] + [""] * len(columns))
        else:
            cells = ("..." if c is None else cell(grid[r, c]) if known[r, c] else "--" for c in columns)
            rows.append([str(r) if tile.ndim > 1 else "", *cells])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


@dataclass
class SharedTile:
    """offset: bytes in the block's shared memory. shape: the last two extents are the tile's, those before count
    tiles. contiguous: the dimension whose elements lie side by side. swizzle: 0, 32, 64 or 128 bytes."""

    offset: int
    shape: tuple[int, ...]
    kind: str
    contiguous: int
    swizzle: int
    names: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape)) * element_bytes(self.kind)

    def places(self) -> np.ndarray:
        """The offset in bytes of each element of one tile, from the tile's first byte."""
        size = element_bytes(self.kind)
        rows, columns = self.shape[-2:]
        along_last = self.contiguous == len(self.shape) - 1
        i, j = np.indices((rows, columns))
        along, other, count = (j * size, i, rows) if along_last else (i * size, j, columns)
        row = (columns if along_last else rows) * size
        if self.swizzle:
            row = min(row, self.swizzle)
        offset = along // row * count * row + other * row + along % row
        if self.swizzle:
            offset ^= (offset >> 7 & (self.swizzle // PIECE - 1)) << 4
        return offset

    def of(self, data: bytes, number: int = 0) -> np.ndarray:
        """The tile's numbers; data: all bytes of the allocation. number: which of several tiles."""
        size = element_bytes(self.kind)
        tile = self.shape[-2] * self.shape[-1] * size
        own = numbers(data[number * tile : (number + 1) * tile], self.kind)
        return own[self.places() // size]

    def __str__(self) -> str:
        order = "" if self.contiguous == len(self.shape) - 1 else f", dimension {self.contiguous} contiguous"
        swizzle = f", swizzle {self.swizzle} bytes" if self.swizzle else ", not swizzled"
        return f"@shared 0x{self.offset:x}: {' x '.join(map(str, self.shape))} {self.kind}{order}{swizzle}"


TTGIR = "// tiletwin.ttgir: "
"""Begins lines that a launch puts behind the PTX where a debugger is attached (launch/sim_launch.py)."""
_ATTRIBUTE = re.compile(r"(#\w+) = #twg\.shared<contiguous = (\d+), swizzle = (\d+)>")
_ALLOC = re.compile(r"(%[\w#]+) = twg\.local_alloc.*\{offset = (\d+) : i32\} -> <([\dx]+)x(\w+), (#\w+)> loc\((#\w+)\)")
_LOCATION = re.compile(r'(#\w+) = loc\("([^"]+)"\((#\w+)\)\)')


def shared_tiles(text: list[str]) -> list[SharedTile]:
    """What a kernel of ours says of its shared memory, in lines of its TTGIR; of other PTX nothing is known."""
    lines = [line.removeprefix(TTGIR) for line in text if line.startswith(TTGIR)]
    layouts = {m[1]: (int(m[2]), int(m[3])) for line in lines if (m := _ATTRIBUTE.match(line))}
    variables = {m[1]: m[2] for line in lines if (m := _LOCATION.match(line))}
    found = []
    for line in lines:
        m = _ALLOC.search(line)
        if m is None or m[5] not in layouts:
            continue
        shape = tuple(int(extent) for extent in m[3].split("x"))
        contiguous, swizzle = layouts[m[5]]
        name = variables.get(m[6], "")
        found.append(SharedTile(int(m[2]), shape, m[4], contiguous, swizzle, (name,) if name else ()))
    return found


_ELEMENTS = "u8 u16 u32 s32 u64 s64 f16 f32 f32 f64 bf16 f32 f32".split()


@dataclass
class TensorMap:
    """A tensor map's fields; sizes, strides (bytes), box along the tensor's dimensions, the contiguous one first."""

    address: int
    sizes: list[int]
    strides: list[int]
    box: list[int]
    kind: str
    swizzle: int

    @staticmethod
    def of(data: bytes) -> TensorMap | None:
        """None: these 128 bytes are no tensor map."""
        address, *rest = struct.unpack_from("<Q4Q5I5I5I4B", data)
        strides, dims, boxes, steps = rest[:4], rest[4:9], rest[9:14], rest[14:19]
        rank, element, interleave, swizzle = rest[19:]
        count = rank + 1
        if count > 5 or element >= len(_ELEMENTS) or interleave > 2 or swizzle > 3 or address % 16:
            return None
        if not address or not all(0 < n <= 256 for n in boxes[:count]) or not all(dims[:count]) or any(boxes[count:]):
            return None
        if not all(1 <= n <= 8 for n in steps[:count]):
            return None
        kind = _ELEMENTS[element]
        span = 16 << swizzle if swizzle else 0
        return TensorMap(
            address, list(dims[:count]), [element_bytes(kind), *strides[: count - 1]], list(boxes[:count]), kind, span
        )

    def __str__(self) -> str:
        sizes, box = " x ".join(map(str, reversed(self.sizes))), " x ".join(map(str, reversed(self.box)))
        swizzle = f"swizzle {self.swizzle} bytes" if self.swizzle else "not swizzled"
        return f"tensor of {sizes} {self.kind} at 0x{self.address:x}, blocks of {box}, {swizzle}"
