"""Values of variables of CUDA C++: read where they are, taken apart, shown as gdb shows them.

Here:      Located, which expressions and `info locals` use.
Not here:  where variables are (dwarf.py), operators (expressions.py).
Invariant: a value is read when it is asked for, from the thread that was looked at then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tiletwin.debugger import values
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.dwarf import Place, Type, Variable
from tiletwin.debugger.expressions import Address
from tiletwin.debugger.values import Register

_SHOWN = 8
"""Elements of an array that are shown."""
_BOOLEAN, _FLOAT, _SIGNED, _SIGNED_CHAR, _UNSIGNED_CHAR = 2, 4, 5, 6, 8
"""Encodings of base types."""


class Reader(Protocol):
    """The thread that is looked at."""

    @property
    def lane(self) -> int: ...

    def register(self, name: str) -> Register | None: ...

    def symbol(self, name: str) -> Address | None: ...

    def memory(self, address: Address, size: int) -> bytes: ...


def type_text(of: Type) -> str:
    """`float *`, `int [4]`."""
    if of.kind == "pointer":
        return f"{type_text(of.target)} *" if of.target else "void *"
    if of.kind == "array":
        extents, inner = "", of
        while inner.kind == "array" and inner.target:
            extents += f"[{inner.count}]"
            inner = inner.target
        return f"{type_text(inner)} {extents}"
    return of.name or of.kind


@dataclass(frozen=True)
class Located:
    """A value of a type. at: in memory; else bits, which were read from a register."""

    name: str
    type: Type
    reader: Reader
    at: Address | None = None
    bits: bytes = b""

    @staticmethod
    def of(variable: Variable, reader: Reader) -> Located:
        """Errors: Refused, the variable has no value at this instruction."""
        name, place = variable.name, variable.place
        if place is None:
            raise Refused(f"{name} has no value here: the compiler keeps it nowhere at this instruction")
        if place.register:
            register = reader.register(place.register)
            if register is None:
                raise Refused(f"{name} is in {place.register}, which the code never writes")
            bits = register.lanes[reader.lane].to_bytes(max(register.size, variable.type.size, 1), "little")
            return Located(name, variable.type, reader, bits=bits)
        return Located(name, variable.type, reader, at=_address(name, variable.type, place, reader))

    @property
    def type_name(self) -> str:
        return type_text(self.type)

    @property
    def has_elements(self) -> bool:
        return self.type.kind in ("pointer", "array")

    # ---- Parts -------------------------------------------------------------------------------------------------------

    def member(self, name: str) -> Located:
        """`.name`, also of what a pointer points to. Errors: Refused."""
        whole = self[0] if self.type.kind == "pointer" else self
        if name not in whole.type.members:
            has = ", ".join(whole.type.members) or "none"
            raise Refused(f"{self.name}: {type_text(whole.type)} has no member {name}; members: {has}")
        offset, kind = whole.type.members[name]
        return whole._part(f"{self.name}.{name}", kind, offset)

    def __getitem__(self, index: object) -> Located:
        """An element of an array, or of what a pointer points to. Errors: Refused."""
        if not isinstance(index, int) or self.type.target is None or self.type.kind not in ("array", "pointer"):
            raise Refused(f"{self.name} is of type {type_text(self.type)}, which has no element {index}")
        name, kind = f"{self.name}[{index}]", self.type.target
        if self.type.kind == "pointer":
            at = Address("generic", int(self.number()) + index * kind.size, kind.size, _kind(kind), name)
            return Located(name, kind, self.reader, at=at)
        if not 0 <= index < self.type.count:
            raise Refused(f"{self.name} has {self.type.count} elements, 0 to {self.type.count - 1}")
        return self._part(name, kind, index * kind.size)

    def _part(self, name: str, kind: Type, offset: int) -> Located:
        if self.at is None:
            return Located(name, kind, self.reader, bits=self.bits[offset : offset + kind.size])
        at = self.at._replace(at=self.at.at + offset, size=kind.size, kind=_kind(kind), name=name)
        return Located(name, kind, self.reader, at=at)

    # ---- Values ------------------------------------------------------------------------------------------------------

    def address(self) -> Address:
        """Where it is; of a pointer where it points. Errors: Refused, it is in a register."""
        if self.type.kind == "pointer":
            return Address("generic", int(self.number()))
        if self.at is None:
            raise Refused(f"{self.name} is in a register, which has no address")
        return self.at

    def _bytes(self, size: int) -> bytes:
        return self.bits[:size] if self.at is None else self.reader.memory(self.at, size)

    def number(self) -> int | float:
        """Errors: Refused, it is a structure or an array."""
        if self.type.kind not in ("base", "pointer", "enum"):
            raise Refused(f"{self.name} is of type {type_text(self.type)}, which is no number")
        return _number(self._bytes(self.type.size), self.type)

    def text(self) -> str:
        """As gdb shows it. Errors: Refused, its memory is not there."""
        if self.type.kind == "void":
            raise Refused(f"{self.name} has no type that is known")
        shown = min(self.type.size, _most_bytes(self.type))
        return _text(self._bytes(shown), self.type)


def _kind(of: Type) -> str:
    """As PTX calls the type of elements in memory."""
    while of.kind == "array" and of.target:
        of = of.target
    letter = {_FLOAT: "f", _SIGNED: "s", _SIGNED_CHAR: "s"}.get(of.encoding, "u") if of.kind == "base" else "b"
    return f"{letter}{8 * of.size}" if of.size in (1, 2, 4, 8) else "b8"


def _address(name: str, kind: Type, place: Place, reader: Reader) -> Address:
    symbol = reader.symbol(place.symbol)
    if symbol is None:
        raise Refused(f"{name} is in {place.symbol}, which this launch does not have")
    return Address(symbol.space, symbol.at + place.offset, kind.size, _kind(kind), name)


def _most_bytes(kind: Type) -> int:
    """Of what is shown."""
    if kind.kind == "array" and kind.target:
        return min(kind.count, _SHOWN) * kind.target.size
    return kind.size


def _number(data: bytes, kind: Type) -> int | float:
    bits = int.from_bytes(data, "little")
    if kind.kind == "base" and kind.encoding == _FLOAT and kind.size in values.FLOAT_BY_BYTES:
        return values.as_float(bits, {2: "f16", 4: "f32", 8: "f64"}[kind.size])
    if kind.kind == "enum" or kind.encoding in (_SIGNED, _SIGNED_CHAR):
        return values.as_signed(bits, kind.size)
    return bits


def _text(data: bytes, kind: Type) -> str:
    if kind.kind == "array" and kind.target:
        size = kind.target.size
        parts = [_text(data[i * size : (i + 1) * size], kind.target) for i in range(min(kind.count, _SHOWN))]
        return "{" + ", ".join(parts) + (", ..." if kind.count > _SHOWN else "") + "}"
    if kind.kind == "struct":
        parts = [f"{name} = {_text(data[at : at + one.size], one)}" for name, (at, one) in kind.members.items()]
        return "{" + ", ".join(parts) + "}"
    number = _number(data, kind)
    if kind.kind == "pointer":
        return f"({type_text(kind)}) 0x{number:x}"
    if kind.kind == "enum":
        return kind.names.get(int(number), str(number))
    if kind.encoding == _BOOLEAN:
        return "true" if number else "false"
    if kind.encoding in (_SIGNED_CHAR, _UNSIGNED_CHAR) and kind.size == 1:
        return f"{number} {chr(int(number) & 0xFF)!r}"
    return values.text(number)
