"""From Python values to the parameter block of a kernel, whatever runs it.

Here:      Parameter, Entry: which argument belongs to which; numbers and structures as bytes, pack.
Not here:  launches (modules.py, tiletwin/cuda/modules.py), the memory behind arrays (launch_memory.py), tensor maps
           (tensor_maps.py).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from tiletwin.sim.launch_memory import LaunchMemory
from tiletwin.sim.tensor_maps import TensorMap

FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
Sizes = int | Sequence[int]
"""One to three, along x, y and z."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


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
    alignment: int
    """Of what .ptr points to; 1: nothing is said."""

    @property
    def bits(self) -> int:
        """Of one element of its type."""
        digits, _, lanes = self.type.lstrip(LETTERS).partition("x")
        return int(digits or 0) * int(lanes or 1)

    @property
    def is_structure(self) -> bool:
        return self.bytes * 8 != self.bits

    @property
    def may_point(self) -> bool:
        """It has an address's size: compilers declare pointers as .u64, with or without .ptr."""
        return self.bytes == 8 and not self.is_structure and self.type != "f64"

    def __str__(self) -> str:
        return f".{self.type}[{self.bytes}] {self.name}" if self.is_structure else f".{self.type} {self.name}"


def sizes_of(value: Sizes, what: str) -> tuple[int, int, int]:
    """One to three sizes, whatever has `__index__`, as three; those that are missing are 1. what: "grid", "block".

    Raises:
        TypeError: it is neither a number nor a sequence of numbers.
        ValueError: too many sizes, or one that is too large or too small.
    """
    try:
        sizes = (operator.index(value),)  # type: ignore[arg-type]
    except TypeError:
        try:
            sizes = tuple(operator.index(size) for size in value)  # type: ignore[union-attr]
        except TypeError:
            raise TypeError(f"{what} has to be one to three whole numbers, not {value!r}") from None
    if not 1 <= len(sizes) <= 3 or min(sizes) < 0 or max(sizes) >= 1 << 32:
        raise ValueError(f"{what} has to be one to three sizes, not {value!r}")
    return (*sizes, 1, 1)[:3]  # type: ignore[return-value]


def count(value: SupportsIndex, what: str, bits: int = 32) -> int:
    """Errors: TypeError, it is no whole number; ValueError, one that is negative or has more bits."""
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{what} has to be a whole number, not {value!r}") from None
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{what} cannot be {number}")
    return number


def short_name(kernel: str, parameter: Parameter) -> str:
    """ "param_0" of "add_param_0": compilers put the entry's name in front."""
    return parameter.name.removeprefix(f"{kernel}_")


def ordered(
    kernel: str, parameters: Sequence[Parameter], arguments: Sequence[Any], named: Mapping[str, Any]
) -> list[Any]:
    """One value for each parameter. named: by the parameter's whole name, or without the kernel's in front.

    Raises:
        TypeError: too many values, too few, two for one parameter, or one for none.
    """
    wanted = ", ".join(map(str, parameters)) or "none"
    if len(arguments) > len(parameters) or (not named and len(arguments) < len(parameters)):
        raise TypeError(f"{kernel}() takes {len(parameters)} arguments ({wanted}), not {len(arguments)}")
    left = dict(named)
    values = list(arguments)
    for parameter in parameters[: len(arguments)]:
        for name in (parameter.name, short_name(kernel, parameter)):
            if name in left:
                raise TypeError(f"{kernel}() got two values for {name}: by position and by name")
    missing = []
    for parameter in parameters[len(arguments) :]:
        name = next((n for n in (parameter.name, short_name(kernel, parameter)) if n in left), None)
        if name is None:
            missing.append(short_name(kernel, parameter))
        else:
            values.append(left.pop(name))
    if left:
        raise TypeError(f"{kernel}() has no parameter {', '.join(left)}; it takes {wanted}")
    if missing:
        raise TypeError(f"{kernel}() lacks a value for {', '.join(missing)}; it takes {wanted}")
    return values


class Call(NamedTuple):
    """A call of an entry. values: one for each parameter. memory: arrays that it reaches by other ways."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared: int
    values: list[Any]
    memory: Iterable[Any]


class Entry:
    """One `.entry` of a module; how it is called is its engine's affair.

    Attributes:
        name: of the entry.
        parameters: what it takes, in order.
        required_threads: .reqntid; zeros where the text has none.
        parameter_bytes: of the parameter block.
    """

    _cluster: tuple[int, int, int] = (0, 0, 0)
    """Of a launch that gives none; zeros: the engine knows."""

    def __init__(self, module: Any, name: str, parameters: list[Parameter], required_threads: Any) -> None:
        self.module, self.name, self.parameters = module, name, parameters
        self.required_threads: tuple[int, int, int] = required_threads
        self.parameter_bytes: int = max((p.offset + p.bytes for p in parameters), default=0)

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(map(str, self.parameters))}) of {self.module.place}>"

    def _call(
        self,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        grid: Sizes,
        block: Sizes | None,
        cluster: Sizes | None,
        shared: int,
        memory: Iterable[Any],
    ) -> Call:
        """What the engine's `__call__` was given, checked.

        Raises:
            TypeError: an argument does not fit.
            ValueError: an argument does not fit.
        """
        if block is None:
            if not any(self.required_threads):
                raise ValueError(f"{self.name}: give block=(x, y, z): the kernel has no .reqntid")
            block = [max(1, n) for n in self.required_threads]
        cluster = self._cluster if cluster is None else cluster
        return Call(
            sizes_of(grid, "grid"), sizes_of(block, "block"), sizes_of(cluster, "cluster"), count(shared, "shared"),
            ordered(self.name, self.parameters, arguments, named), memory,
        )  # fmt: skip


def gpu_number(value: Any, kind: str) -> Any:
    """A number as a parameter of a storage type ("i32", "f16", ...) takes it: 16 bits of a float are passed as such."""
    if kind not in ("f16", "bf16"):
        return value
    with np.errstate(over="ignore"):
        if kind == "f16":
            return np.float16(value)
        bits = int(np.float32(value).view(np.uint32))
    return np.uint16((bits + (0x7FFF + (bits >> 16 & 1) if value == value else 0)) >> 16 & 0xFFFF)


def _whole_number(parameter: Parameter, value: Any) -> int:
    """Errors: TypeError, it is none."""
    is_float, is_bool = isinstance(value, np.floating), isinstance(value, np.bool_)
    if is_float and parameter.type.startswith("b") and value.itemsize == parameter.bytes:
        return int(value.view(f"u{value.itemsize}"))  # untyped bits of that size: a float's
    return int(value) if is_bool else operator.index(value)


def _number(what: str, parameter: Parameter, value: Any) -> bytes:
    if getattr(value, "shape", None) == () and hasattr(value, "item") and not isinstance(value, np.generic):
        value = value.item()  # an array of no dimensions
    is_float = parameter.type in FLOATS
    try:
        if getattr(value, "shape", ()) != () or isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        if is_float:
            if isinstance(value, np.generic) and value.dtype == FLOATS[parameter.type]:
                return value.tobytes()  # a NaN keeps its bits
            with np.errstate(over="ignore"):
                return FLOATS[parameter.type](float(value)).tobytes()
        number = _whole_number(parameter, value)
    except TypeError:
        wants = "a number" if is_float else "an integer"
        if parameter.may_point:
            wants += ", or an array for a pointer"
        raise TypeError(f"{what}: .{parameter.type} wants {wants}, not {_shown(value)}") from None
    low = -(1 << (parameter.bits - 1))  # also for .u32: compilers declare signed integers so
    if not low <= number < 1 << parameter.bits:
        raise ValueError(f"{what}: {number} does not fit into .{parameter.type}")
    return (number & ((1 << parameter.bits) - 1)).to_bytes(parameter.bytes, "little")


def _shown(value: Any) -> str:
    """A number as it is, anything else by its type: "2.5", "an array (numpy.ndarray)", "list"."""
    kind = type(value)
    if isinstance(value, (int, float, np.generic)):
        return repr(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"an array ({name})" if getattr(value, "shape", ()) != () else name


def _structure(what: str, parameter: Parameter, value: Any) -> bytes:
    """The bytes of a value that has as many as the parameter: bytes, a structure of NumPy or ctypes, an array."""
    given = None
    if isinstance(value, np.generic) or hasattr(value, "tobytes"):
        given = value.tobytes()
    elif not isinstance(value, (int, str)):
        try:
            given = memoryview(value).tobytes()
        except TypeError:
            pass
    if given is None or len(given) != parameter.bytes:
        got = _shown(value) if given is None else f"{len(given)} bytes ({type(value).__name__})"
        raise TypeError(
            f"{what} is a structure of {parameter.bytes} bytes: give bytes, a structure of NumPy or ctypes, or a "
            f"tensor map, of that size, not {got}"
        )
    return given


def is_number(value: object) -> bool:
    """Not an array, a tensor map, or anything else that has memory."""
    return isinstance(value, (int, float, complex, str, np.generic)) or (
        hasattr(type(value), "__index__") and not hasattr(value, "shape")
    )


def pack(kernel: str, parameters: Sequence[Parameter], size: int, values: Sequence[Any], memory: LaunchMemory) -> bytes:
    """The parameter block of `size` bytes. memory: gets the arrays among the values, one for each parameter.

    Raises:
        TypeError: a value of the wrong kind.
        ValueError: a number that does not fit, memory that cannot be reached.
    """
    block = bytearray(size)
    for parameter, value in zip(parameters, values, strict=True):
        what = f"{kernel}(): argument {parameter.name}"
        if isinstance(value, TensorMap) and (parameter.may_point or parameter.bytes == len(bytes(value))):
            memory.add(what, f"{parameter.name}'s tensor", value.array)
            data = bytes(value)
            if parameter.may_point:
                data = memory.add(what, parameter.name, value.memory).to_bytes(8, "little")
        elif parameter.is_structure:
            data = _structure(what, parameter, value)
        elif parameter.may_point and value is None:
            data = bytes(8)
        elif parameter.may_point and not is_number(value):
            address = memory.add(what, parameter.name, value)
            if address % max(1, parameter.alignment):
                raise ValueError(
                    f"{what}: the array begins at {address:#x}, which is no multiple of {parameter.alignment}, as "
                    f".ptr .align {parameter.alignment} promises: pass a copy that is aligned"
                )
            data = address.to_bytes(8, "little")
        else:
            data = _number(what, parameter, value)
        block[parameter.offset : parameter.offset + len(data)] = data
    return bytes(block)
