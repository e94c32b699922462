"""A launch that is about to run, as data: its arguments, and the bytes that they lead to.

Not here:  what a launch is (launches.py), the kernel's source for another process (sources.py).
Invariant: arguments that share a storage share its copy, which is made before the launch runs.
"""

from __future__ import annotations

import bisect
import ctypes
import re
from dataclasses import replace
from typing import Any

import numpy as np

from tiletwin import _C
from tiletwin.diff import sources
from tiletwin.diff.launches import ELEMENTS, Address, Array, Constant, Descriptor, Launch
from tiletwin.kernels.tensors import TensorWrapper
from tiletwin.memory import live_storages
from tiletwin.tools.tensor_descriptor import TensorDescriptor

MOST_FREE = 1 << 16
"""Smaller numbers are no addresses: systems leave these pages out."""


class NotRecordable(TypeError):
    """A launch with an argument that cannot be kept in a file."""


def _memory_at(begin: int, size: int) -> np.ndarray:
    if size == 0:
        return np.empty(0, dtype=np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(begin))


class Taker:
    """Turns the arguments of a launch into data. Storages are copied once."""

    def __init__(self) -> None:
        self.memory: list[np.ndarray] = []
        self.alignment: list[int] = []
        self.places: list[tuple[int, int]] = []

    def storage(self, begin: int, end: int) -> int:
        if (begin, end) in self.places:
            return self.places.index((begin, end))
        self.places.append((begin, end))
        self.memory.append(_memory_at(begin, end - begin).copy())
        self.alignment.append(begin % 64)
        return len(self.places) - 1

    def now(self) -> list[np.ndarray]:
        """The memory as it is now, copied."""
        return [_memory_at(begin, end - begin).copy() for begin, end in self.places]

    def array(self, value: Any) -> Array:
        facts = _C.array_info(value)
        if facts["on_device"]:
            raise NotRecordable("memory of a device")
        begin, end = facts["begin"], facts["end"]
        if begin == end and facts["data"]:
            raise NotRecordable(f"a {type(value).__name__} whose extents are not known")
        item = ELEMENTS[facts["type"]][1]
        base = value.base if isinstance(value, TensorWrapper) else value
        shape = tuple(int(n) for n in getattr(base, "shape", ((end - begin) // item,)))
        if hasattr(base, "untyped_storage"):
            kind, strides = "torch", tuple(base.stride())
        elif isinstance(base, np.ndarray):
            kind, strides = "numpy", tuple(s // base.itemsize for s in base.strides)
        else:
            kind, strides = "", tuple(int(np.prod(shape[d + 1 :])) for d in range(len(shape)))
        return Array(self.storage(begin, end), facts["data"] - begin, facts["type"], shape, strides, kind)

    def value(self, value: Any) -> Any:
        from tiletwin.dtypes import dtype
        from tiletwin.kernels.callables import JITCallable

        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, _C.constexpr):
            return self.value(value.value)
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, dtype):
            return Constant("dtype", value.name)
        if isinstance(value, (JITCallable, _C.builtin)):
            return Constant("function", value.__name__)
        if isinstance(value, TensorDescriptor):
            return Descriptor(
                self.array(value.base), tuple(value.shape), tuple(value.strides), tuple(value.block_shape),
                value.padding, value.round_f32_to_tf32,
            )  # fmt: skip
        if isinstance(value, (tuple, list)):
            return tuple(self.value(item) for item in value)
        try:
            return self.array(value)
        except TypeError as error:
            if hasattr(value, "__index__") and not hasattr(value, "shape"):
                return value.__index__()
            raise NotRecordable(f"a {type(value).__name__}: {error}") from None


def _follow(launch: Launch, taker: Taker) -> None:
    """Takes the memory of live tensors whose addresses are among the launch's integers of 8 bytes."""
    storages = live_storages()
    begins = [begin for begin, _, _ in storages]
    waiting = list({array.storage for _, array in launch.arrays() if array.type in ("i64", "u64")})
    for storage in waiting:
        base = taker.places[storage][0]
        shift = -base % 8
        whole = taker.memory[storage][shift:]
        numbers = whole[: whole.size // 8 * 8].view(np.uint64)
        for place in np.flatnonzero(numbers >= MOST_FREE):
            value = int(numbers[place])
            begin, end, tensor = storages[max(bisect.bisect_right(begins, value) - 1, 0)] if storages else (0, 0, None)
            if not begin <= value < end:
                continue
            known = len(taker.places)
            to = taker.storage(begin, end)
            launch.addresses.append(Address(storage, shift + 8 * int(place), to, value - begin))
            numbers[place] = 0
            if to == known:
                kind = _C.array_info(tensor)["type"]
                launch.reached.append(Array(to, 0, kind, ((end - begin) // ELEMENTS[kind][1],), (1,), "torch"))
                waiting += [to] if kind in ("i64", "u64") else []


def take(fn: Any, kernel: Any, arguments: dict[str, Any], grid: Any, follows: bool = False) -> tuple[Launch, Taker]:
    """A launch that is about to run. follows: with the memory that it finds by addresses in tensors, so that it can run
    where that lies elsewhere.

    Raises:
        NotRecordable: an argument cannot be kept, or the kernel works in Python only.
    """
    taker = Taker()
    values = {}
    for name, value in arguments.items():
        try:
            values[name] = taker.value(value)
        except NotRecordable as error:
            raise NotRecordable(f"{fn.__name__}: argument {name!r} cannot be kept: {error}") from None
    sizes = (*grid, 1, 1)[:3] if isinstance(grid, (tuple, list)) else (grid, 1, 1)
    launch = Launch(
        name=fn.__name__,
        file=fn.file,
        first_line=fn.first_line,
        grid=tuple(int(n) for n in sizes),  # type: ignore[arg-type]
        arguments=values,
        memory=taker.memory,
        alignment=taker.alignment,
        qualname=fn.fn.__qualname__,
        function=fn,
    )
    if kernel is not None:
        launch.signature = {name: _type_text(kind) for name, kind in kernel.src.signature.items()}
        launch.arguments = {name: _compiled(value, launch.signature.get(name)) for name, value in values.items()}
        launch.options = {k: v for k, v in kernel.options.items() if isinstance(v, (bool, int, float, str, type(None)))}
        launch.ttir = kernel.asm["ttir"]
    if follows and launch.reads_addresses():
        _follow(launch, taker)
    launch.sources, launch.files, launch.source_problem = sources.collect(fn, arguments)
    return launch, taker


def _compiled(value: Any, kind: Any) -> Any:
    """An argument with elements of the type that the kernel was compiled for; it may be another one of their size."""
    if isinstance(value, tuple) and isinstance(kind, list):
        return tuple(map(_compiled, value, kind))
    if isinstance(value, Descriptor):
        return replace(value, base=_compiled(value.base, kind))
    found = re.match(r"(?:\*|tensordesc<)(\w+)", str(kind))
    if found and isinstance(value, Array) and ELEMENTS.get(found[1], ("", 0))[1] == value.item:
        return replace(value, type=found[1])
    return value


def _type_text(kind: Any) -> Any:
    return [_type_text(k) for k in kind] if isinstance(kind, (tuple, list)) else str(kind)
