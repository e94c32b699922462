"""From Python values to the parameter block of a kernel, and the memory that it may touch.

Here:      Parameter, pack.
Not here:  launches (__init__.py); what an array is (the extension's array_info).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

INTEGERS = {8: "B", 16: "H", 32: "I", 64: "Q"}
FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
Bytes = (bytes, bytearray)


class Parameter(NamedTuple):
    """One .param of an entry."""

    name: str
    type: str
    """ "u64", "f32", "b8"."""
    bytes: int
    """Of the whole parameter; more than its type's for arrays and structures."""
    offset: int
    """In the parameter block."""
    is_pointer: bool
    """It is declared with .ptr."""

    @property
    def bits(self) -> int:
        return int("".join(c for c in self.type if c.isdigit()) or 0)

    @property
    def is_structure(self) -> bool:
        return self.bytes * 8 != self.bits

    def __str__(self) -> str:
        return f".{self.type}[{self.bytes}] {self.name}" if self.is_structure else f".{self.type} {self.name}"


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array_interface__") or hasattr(value, "data_ptr") or hasattr(value, "__dlpack__")


def _buffer(name: str, array: Any) -> tuple[tuple[str, int, int, bool], int]:
    """((name, first byte, one past the last, read only), address of the first element).

    Errors: TypeError, no array or one of unknown extent; ValueError, memory of a GPU.
    """
    from tiletwin import _C

    info = _C.array_info(array)
    if info["on_device"]:
        raise ValueError(f"{name} lies in a GPU's memory: the simulator runs on the CPU, pass {name}.cpu()")
    return (name, info["begin"], info["end"], info["read_only"]), info["data"]


def _scalar(kernel: str, parameter: Parameter, value: Any) -> bytes:
    what = f"{kernel}(): argument {parameter.name}"
    if parameter.type.startswith("f"):
        try:
            with np.errstate(over="ignore"):
                return FLOATS[parameter.bits](float(value)).tobytes()
        except (TypeError, ValueError):
            raise TypeError(f"{what}: .{parameter.type} wants a number, not {type(value).__name__}") from None
    if isinstance(value, float) and not value.is_integer():
        raise TypeError(f"{what}: .{parameter.type} wants an integer, not {value!r}")
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what}: .{parameter.type} wants an integer, not {type(value).__name__}") from None
    low = -(1 << (parameter.bits - 1))  # also for .u32: compilers declare signed integers so
    if not low <= number < 1 << parameter.bits:
        raise ValueError(f"{what}: {number} does not fit into .{parameter.type}")
    return struct.pack("<" + INTEGERS[parameter.bits], number & ((1 << parameter.bits) - 1))


def pack(
    kernel: str, parameters: Sequence[Parameter], size: int, arguments: Sequence[Any], memory: Iterable[Any]
) -> tuple[bytes, list[tuple[str, int, int, bool]], list[Any]]:
    """(the parameter block, the buffers that the kernel may touch, what has to live until the launch has ended).

    Errors: TypeError, a value of the wrong kind or the wrong number of them; ValueError, a number that does not fit.
    """
    if len(arguments) != len(parameters):
        wanted = ", ".join(map(str, parameters)) or "none"
        raise TypeError(f"{kernel}() takes {len(parameters)} arguments ({wanted}), not {len(arguments)}")
    block = bytearray(size)
    buffers: list[tuple[str, int, int, bool]] = []
    for parameter, value in zip(parameters, arguments, strict=True):
        if parameter.is_structure:
            data = value.tobytes() if hasattr(value, "tobytes") else bytes(value) if isinstance(value, Bytes) else b""
            if len(data) != parameter.bytes:
                raise TypeError(
                    f"{kernel}(): argument {parameter.name} is a structure of {parameter.bytes} bytes: give bytes or "
                    f"an array of that size, not {len(data)} bytes of {type(value).__name__}"
                )
        elif _is_array(value) and getattr(value, "shape", None) != ():
            if parameter.bits != 64 or parameter.type.startswith("f"):
                raise TypeError(f"{kernel}(): argument {parameter.name}: an array was given for .{parameter.type}")
            buffer, address = _buffer(parameter.name, value)
            buffers.append(buffer)
            data = struct.pack("<Q", address)
        else:
            data = _scalar(kernel, parameter, value)
        block[parameter.offset : parameter.offset + len(data)] = data
    kept = list(memory)
    buffers += [_buffer(f"memory[{i}]", array)[0] for i, array in enumerate(kept)]
    return bytes(block), buffers, [*arguments, *kept]
