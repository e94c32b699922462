"""Bits as values of PTX's types: registers of lanes, memory as `x` shows it.

Not here:  tiles (tiles.py), expressions (expressions.py).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from tiletwin.debugger.connection import Refused

_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
FLOAT_BY_BYTES = {2: "<e", 4: "<f", 8: "<d"}
SIZES = {"b": 1, "h": 2, "w": 4, "g": 8}
"""Letters of gdb's `x`."""


def as_float(bits: int, kind: str) -> float:
    """The number that bits are. kind: f16, bf16, f32, f64."""
    if kind == "bf16":
        return struct.unpack("<f", struct.pack("<I", (bits & 0xFFFF) << 16))[0]
    form = _FLOATS[kind]
    return struct.unpack(form, bits.to_bytes(struct.calcsize(form), "little"))[0]


def as_signed(bits: int, size: int) -> int:
    """The signed integer of `size` bytes."""
    return bits - (1 << 8 * size) if bits >> (8 * size - 1) & 1 else bits


def number(bits: int, kind: str, size: int) -> int | float:
    """What bits of a type mean: b and u are unsigned, s is signed, f and bf are floats."""
    if kind in _FLOATS or kind == "bf16":
        return as_float(bits, kind)
    return as_signed(bits, size) if kind.startswith("s") else bits


def text(value: int | float) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


class Register(NamedTuple):
    """One register of a warp. lanes: the bits that each lane has."""

    name: str
    kind: str
    size: int
    lanes: list[int]

    @staticmethod
    def of(row: list[str]) -> Register:
        """Of a row of the engine's answer."""
        name, kind, data = row
        memory = bytes.fromhex(data)
        if kind == "pred":
            mask = int.from_bytes(memory, "little")
            return Register(name, kind, 0, [mask >> lane & 1 for lane in range(32)])
        each = len(memory) // 32
        size = int(kind.lstrip("bufsx").partition("x")[0]) // 8 * (2 if kind.endswith("x2") else 1)
        lanes = [int.from_bytes(memory[i * each : i * each + size], "little") for i in range(32)]
        return Register(name, kind, size, lanes)

    def value(self, lane: int) -> int | float:
        return number(self.lanes[lane], self.kind, self.size)

    def show(self, lane: int) -> str:
        """As `info registers` has it: bits, and the number if that is something else."""
        if self.kind == "pred":
            return str(self.lanes[lane])
        bits = f"0x{self.lanes[lane]:0{2 * self.size}x}"
        if self.kind == "b32":
            return f"{bits}  {as_signed(self.lanes[lane], 4)}  {as_float(self.lanes[lane], 'f32'):.6g}"
        if self.kind in ("b16", "b64"):
            return f"{bits}  {as_signed(self.lanes[lane], self.size)}"
        return f"{bits}  {text(self.value(lane))}" if not self.kind.endswith("x2") else bits


def dump(data: bytes, address: int, form: str, size: int, prefix: str = "") -> list[str]:
    """Lines of `x`: form x, d, u, f, c or s. Errors: Refused, a form that there is not for the size."""
    if form == "s":
        return [f"{prefix}0x{address:x}:\t" + repr(data.split(b"\0")[0].decode(errors="replace"))]
    if form == "f" and size not in FLOAT_BY_BYTES:
        raise Refused("a float has 2 (h), 4 (w) or 8 (g) bytes")
    cells = []
    for at in range(0, len(data), size):
        part = data[at : at + size]
        bits = int.from_bytes(part, "little")
        if form == "f":
            cells.append(text(struct.unpack(FLOAT_BY_BYTES[size], part)[0]))
        elif form == "d":
            cells.append(str(as_signed(bits, size)))
        elif form == "c":
            cells.append(repr(chr(bits & 0xFF)))
        else:
            cells.append(str(bits) if form == "u" else f"0x{bits:0{2 * size}x}")
    row = max(1, 16 // size)
    return [
        f"{prefix}0x{address + at * size:x}:\t" + "\t".join(cells[at : at + row]) for at in range(0, len(cells), row)
    ]
