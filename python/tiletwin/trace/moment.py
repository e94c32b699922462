"""What a recording holds of one moment: Buffer, Function, Value, Access; what its parts share in notebooks.

Not here:  steps and programs (programs.py), launches (model.py), rows of files (reader.py).
Invariant: objects are made of rows and never change; values are read from the file when they are asked for.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from tiletwin import ports
from tiletwin.elements import item_size, numpy_of, pointee_of, size_in_signature
from tiletwin.trace.format import unpack


class Shown:
    """A part of a recording, which notebooks show as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return ports.recording_page(self)


class Buffer(NamedTuple):
    """Memory of a launch: the storage that an argument's elements lie in."""

    name: str
    begin: int
    size: int
    type: str | None
    """Element type ("fp32"); None: unknown."""
    first: int
    """Address of the argument's first element."""
    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    """In elements."""

    @property
    def item_size(self) -> int:
        return size_in_signature(self.type)


class Function(NamedTuple):
    """A jit function's source."""

    name: str
    file: str
    first_line: int
    lines: list[str]

    def line(self, number: int) -> str:
        index = number - self.first_line
        return self.lines[index] if 0 <= index < len(self.lines) else ""


class Value(Shown):
    """What a variable held. Tensors have `type`, `shape` and `numpy()`; `python()` gives other values. `origin`: the
    name of the buffer that a pointer was made for, wherever it points; None: unknown."""

    def __init__(self, recording: Any, number: int, row: tuple) -> None:
        self._recording = recording  # model.Recording
        self.number = number
        self.kind, self.type, shape, self._codec, self._data, self.origin = row
        try:
            self.shape: tuple[int, ...] = tuple(int(n) for n in shape.split(",")) if shape else ()
        except (ValueError, AttributeError):
            raise recording.file.fail(f"value {number} has no shape: {shape!r}") from None

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"

    @property
    def is_pointer(self) -> bool:
        return self.is_tensor and self.type.startswith("pointer")

    def raw(self) -> bytes:
        """A tensor's elements, bit for bit: little-endian, row-major. Errors: TraceError."""
        if not self.is_tensor:
            raise TypeError(f"a {self.type} is no tensor")
        try:
            return unpack(self._codec, self.type, self.shape, self._data)
        except ValueError as error:
            raise self._recording.file.fail(f"value {self.number} is damaged: {error}") from None

    def numpy(self) -> Any:
        """A tensor's elements; bf16 and fp8 as float32, pointers as addresses (uint64)."""
        return numpy_of(self.raw(), self.type, self.shape)

    def python(self) -> Any:
        """The value as Python has it: an array, a number, a tuple, a dict of an aggregate's fields, a text."""
        if self.is_tensor:
            return self.numpy() if self.shape else self.numpy()[()].item()
        try:
            text = bytes(self._data).decode()
            if self.kind == "number":
                data = json.loads(text)
                return float(data) if self.type == "float" else data
            if self.kind == "tuple":
                return tuple(item.python() for item in self.parts().values())
            if self.kind == "object":
                return {name: part.python() for name, part in self.parts().items()}
            return text
        except (ValueError, TypeError) as error:
            raise self._recording.file.fail(f"value {self.number} is damaged: {error}") from None

    def parts(self) -> dict[str, Value]:
        """Elements of a tuple ("0", "1", ...), fields of an aggregate; nothing for others."""
        if self.kind not in ("tuple", "object"):
            return {}
        try:
            data = json.loads(bytes(self._data))
            pairs = data.items() if self.kind == "object" else enumerate(data)
            return {str(name): self._recording.value(number) for name, number in pairs if number < self.number}
        except (ValueError, TypeError, AttributeError) as error:
            raise self._recording.file.fail(f"value {self.number} is damaged: {error}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and (self._recording, self.number) == (other._recording, other.number)

    def __hash__(self) -> int:
        return hash((id(self._recording), self.number))

    def __repr__(self) -> str:
        return ports.value_text(self)


class Touched(NamedTuple):
    """Elements of one buffer: offsets in elements from the argument's first one, and where in the tile they are."""

    buffer: Buffer | None
    """None: memory that is no argument's."""
    offsets: Any
    """int64, one per lane."""
    lanes: Any
    """Index of the lanes in the flattened tile."""


class Access:
    """One operation on memory: a load, store or atomic."""

    def __init__(self, step: Any, row: tuple) -> None:
        self.step = step  # programs.Step
        self.operation, self.detail, self._addresses, self._mask, self._value, self._old, done = row
        self.done = bool(done)
        """False: the operation failed."""

    def _get(self, number: int | None) -> Value | None:
        return None if number is None else self.step.program.launch.recording.value(number)

    @property
    def name(self) -> str:
        """ "store", "atomic_rmw add"."""
        return f"{self.operation} {self.detail}".strip()

    @property
    def writes(self) -> bool:
        return not self.operation.endswith(("load", "gather", "poll"))

    @property
    def addresses(self) -> Value:
        value = self._get(self._addresses)
        assert value is not None
        return value

    @property
    def mask(self) -> Value | None:
        """None: every lane takes part."""
        return self._get(self._mask)

    @property
    def value(self) -> Value | None:
        """What was loaded or stored; None: the operation failed before."""
        return self._get(self._value)

    @property
    def old(self) -> Value | None:
        """What memory held before it was written."""
        return self._get(self._old)

    @property
    def element(self) -> str:
        return pointee_of(self.addresses.type)

    def active(self) -> Any:
        """Which lanes take part: bool, in the tile's shape."""
        shape = self.addresses.shape
        mask = self.mask
        if mask is None:
            return np.ones(shape, bool)
        return np.broadcast_to(mask.numpy().astype(bool), shape)

    def touched(self) -> list[Touched]:
        """The elements touched, buffer by buffer."""
        addresses = self.addresses.numpy().reshape(-1).astype(np.int64)
        lanes = np.flatnonzero(self.active().reshape(-1))
        found = []
        try:
            size = item_size(self.element)
        except KeyError:
            size = 1
        buffers, origin = self.step.program.launch.buffers, self.addresses.origin
        for buffer in [b for b in buffers if origin in (None, b.name)]:
            if not lanes.size:
                break
            at = addresses[lanes]
            inside = (at >= buffer.begin) & (at < buffer.begin + buffer.size)
            if inside.any():
                found.append(Touched(buffer, (at[inside] - buffer.first) // size, lanes[inside]))
                lanes = lanes[~inside]
        if lanes.size:
            found.append(Touched(None, addresses[lanes], lanes))
        return found
