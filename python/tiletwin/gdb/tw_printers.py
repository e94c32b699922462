"""Pretty printers: f16, bf16 and fp8 numbers and tiles of them, masks as run lengths. Run inside gdb.

Only variables of kernels get them: their types have names of their own.
"""

import struct

import gdb
import gdb.printing
import tw_numbers

MASK = "int1"
CODES = {
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int": "i", "unsigned int": "I", "long": "q",
    "unsigned long": "Q", "float": "f", "double": "d",
}  # fmt: skip
"""Of numbers that Python unpacks itself."""


def bytes_of(value):
    """An array's or scalar's bytes: read at once, not element by element."""
    size = value.type.sizeof
    if value.address is not None:
        return gdb.selected_inferior().read_memory(int(value.address), size).tobytes()
    return bytes(value.bytes) if hasattr(value, "bytes") else b""


def element_type(kind):
    """(element's type, extents) of an array of any rank."""
    extents = []
    kind = kind.strip_typedefs()
    while kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        extents.append(high - low + 1)
        kind = kind.target().strip_typedefs()
    return kind, extents


def numbers_of(value):
    """The elements of an array or scalar as Python numbers, in order; None if they are of no type known here."""
    kind, _ = element_type(value.type)
    raw, size = bytes_of(value), kind.sizeof
    if not raw or not size:
        return None
    if kind.name in tw_numbers.FORMATS:
        return [
            tw_numbers.decode(kind.name, int.from_bytes(raw[i : i + size], "little")) for i in range(0, len(raw), size)
        ]
    if kind.name == MASK:
        return [b != 0 for b in raw]
    code = "Q" if kind.code == gdb.TYPE_CODE_PTR else CODES.get(kind.name or "")
    return [number for (number,) in struct.iter_unpack(code, raw)] if code else None


class Printer:
    def __init__(self, value):
        self._value = value


class Number(Printer):
    """One number of a small format."""

    def to_string(self):
        numbers = numbers_of(self._value)
        return tw_numbers.shown(numbers[0]) if numbers else str(int(self._value))


class Numbers(Printer):
    """A tile of such numbers, which gdb would take for a text where they are bytes."""

    def children(self):
        low, high = self._value.type.strip_typedefs().range()
        for i in range(low, high + 1):
            yield str(i), self._value[i]

    def display_hint(self):
        return "array"


class Mask(Printer):
    """A tile of int1."""

    def to_string(self):
        bits = numbers_of(self._value)
        _, extents = element_type(self._value.type)
        if len(extents) == 2:
            return tw_numbers.rows_text(bits, extents[1])
        return tw_numbers.mask_text(bits)


def printer_of(value):
    kind, extents = element_type(value.type)
    if kind.name == MASK and kind.code == gdb.TYPE_CODE_BOOL and extents:
        return Mask(value)
    is_small_float = (kind.name or "").startswith("fp8") and kind.name in tw_numbers.FORMATS
    if is_small_float or kind.name in ("int8", "uint8"):
        return Numbers(value) if extents else Number(value)
    return None


class Printers(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("tiletwin")

    def __call__(self, value):
        return printer_of(value)


def register():
    gdb.printing.register_pretty_printer(None, Printers(), replace=True)
