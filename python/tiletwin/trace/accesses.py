"""What a memory operation of an eager program touches: addresses, mask, values, and what memory held before.

Here:      the roles of operands per operation, addresses of a descriptor's block, reading memory that is known.
Not here:  who calls (python/src/EagerObserver.cpp), rows of the file (recorder.py).
Invariant: memory is read inside the launch's buffers only, and only where the mask is set.
"""

from __future__ import annotations

import ctypes
import math
import re
from typing import Any, NamedTuple

import numpy as np

from tiletwin import _C
from tiletwin.elements import item_size, pointee_of

Raw = tuple[str, tuple[int, ...], bytes]
"""Element type, shape, bytes."""


class Roles(NamedTuple):
    """Which operand is what; None: the operation has none. `writes`: memory may change."""

    mask: int | None
    value: int | None
    writes: bool


# The pointer is operand 0. A mask is the operand at that place if it is there at all.
POINTER_ROLES = {
    "tt.load": Roles(1, None, False),
    "tt.store": Roles(2, 1, True),
    "tt.atomic_rmw": Roles(2, 1, True),
    "tt.atomic_cas": Roles(None, 2, True),
    "tt.atomic_load": Roles(1, None, False),
    "tt.atomic_store": Roles(2, 1, True),
    "tt.atomic_poll": Roles(None, None, False),
}
# The descriptor is operand 0, then an index per dimension (gather, scatter: rows and a column), then the value.
DESCRIPTOR_WRITES = {
    "tt.descriptor_load": False,
    "tt.descriptor_gather": False,
    "tt.descriptor_store": True,
    "tt.descriptor_reduce": True,
    "tt.descriptor_scatter": True,
}
_KIND = re.compile(r"\b(?:atomic_rmw_op|kind) = (?:#\S+<(\w+)>|(\d+)|(\w+))")
_REDUCE_KINDS = ("none", "add", "min", "max", "inc", "dec", "and", "or", "xor")
_RMW_KINDS = ("", "and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch")


class Touched(NamedTuple):
    """Addresses of the elements, the mask (None: all), the element type, the value given (None: none), the buffer that
    the pointers were made for (None: unknown)."""

    addresses: Raw
    mask: Raw | None
    element: str
    value: Raw | None
    writes: bool
    origin: str | None = None


def _raw(tensor: Any) -> Raw:
    raw = _C.raw_value(tensor)
    assert raw is not None
    return raw


def _number(tensor: Any) -> int:
    type_name, _, data = _raw(tensor)
    return int.from_bytes(data[: item_size(type_name)], "little", signed=not type_name.startswith(("u", "pointer")))


def _bool(flags: np.ndarray) -> Raw:
    return "int1", flags.shape, np.ascontiguousarray(flags, dtype=np.uint8).tobytes()


def touched(operation: str, operands: tuple) -> Touched:
    """What an operation is about to touch."""
    if operation in DESCRIPTOR_WRITES:
        return _descriptor(operation, operands)
    roles = POINTER_ROLES[operation]
    addresses = _raw(operands[0])

    def at(index: int | None) -> Raw | None:
        return _raw(operands[index]) if index is not None and index < len(operands) else None

    return Touched(addresses, at(roles.mask), pointee_of(addresses[0]), at(roles.value), roles.writes,
                   _C.pointer_origin(operands[0]))  # fmt: skip


def _descriptor(operation: str, operands: tuple) -> Touched:
    (block, (base, *numbers)), *rest = operands
    writes = DESCRIPTOR_WRITES[operation]
    rank = len(block)
    extents = [_number(n) for n in numbers[:rank]]
    strides = [_number(n) for n in numbers[rank:]]
    pointer_type, _, data = _raw(base)
    element = pointee_of(pointer_type)
    if operation.endswith(("gather", "scatter")):
        rows_type, _, rows = _raw(rest[0])
        column = _number(rest[1])
        coordinates = [np.frombuffer(rows, f"<i{item_size(rows_type)}").astype(np.int64), column + np.arange(block[1])]
        given = rest[2:]
    else:
        coordinates = [_number(rest[d]) + np.arange(block[d], dtype=np.int64) for d in range(rank)]
        given = rest[rank:]
    shape = tuple(len(c) for c in coordinates)
    offsets = np.zeros(shape, dtype=np.int64)
    inside = np.ones(shape, dtype=bool)
    for d, along in enumerate(coordinates):
        view = [-1 if i == d else 1 for i in range(rank)]
        offsets += (along * strides[d]).reshape(view)
        inside &= ((along >= 0) & (along < extents[d])).reshape(view)
    addresses = np.uint64(int.from_bytes(data[:8], "little")) + (offsets * item_size(element)).astype(np.uint64)
    value = _raw(given[0]) if given and writes else None
    if value is not None and value[1] != shape:
        value = (value[0], shape, value[2])
    mask = None if inside.all() else _bool(inside)
    places = (pointer_type, shape, addresses.astype("<u8").tobytes())
    return Touched(places, mask, element, value, writes, _C.pointer_origin(base))


def detail(operation: str, attributes: str) -> str:
    """What kind of atomic it is: "add"; empty for other operations."""
    if operation not in ("tt.atomic_rmw", "tt.descriptor_reduce"):
        return ""
    match = _KIND.search(attributes)
    if match is None:
        return ""
    if match[2] is None:
        return match[1] or match[3]
    kinds = _RMW_KINDS if operation == "tt.atomic_rmw" else _REDUCE_KINDS
    return kinds[int(match[2])] if int(match[2]) < len(kinds) else ""


class Memory:
    """The memory of one launch, readable by address."""

    def __init__(self, buffers: list[tuple[str, int, int, int, int]]) -> None:
        self.buffers = [row for row in buffers if row[2] > row[1]]
        self._views: dict[int, np.ndarray] = {}

    def _view(self, begin: int, end: int) -> np.ndarray:
        view = self._views.get(begin)
        if view is None:
            view = np.ctypeslib.as_array((ctypes.c_uint8 * (end - begin)).from_address(begin))
            self._views[begin] = view
        return view

    def read(self, access: Touched) -> Raw | None:
        """What memory holds at the addresses; elements that are masked off or in no buffer read as 0. None: nothing
        of it is in a buffer."""
        _, shape, data = access.addresses
        size = item_size(access.element)
        addresses = np.frombuffer(data, np.uint64).reshape(-1)
        count = math.prod(shape)
        active = np.ones(count, bool)
        if access.mask is not None:
            active = np.frombuffer(access.mask[2], np.uint8).reshape(-1) != 0
            if active.size != count:
                active = np.broadcast_to(active, (count,))
        result = np.zeros((count, size), np.uint8)
        found = False
        for name, begin, end, _, _ in self.buffers:
            if access.origin not in (None, name):
                continue
            inside = active & (addresses >= np.uint64(begin)) & (addresses <= np.uint64(max(end - size, 0)))
            if not inside.any():
                continue
            found = True
            offsets = (addresses[inside] - np.uint64(begin)).astype(np.int64)
            view = self._view(begin, end)
            if (offsets % size).any():
                result[inside] = view[offsets[:, None] + np.arange(size)]
            else:  # elements where elements are expected
                whole = view[: len(view) // size * size].view(f"u{size}")
                result[inside] = whole[offsets // size].view(np.uint8).reshape(-1, size)
            active = active & ~inside
            if not active.any():
                break
        return (access.element, shape, result.tobytes()) if found else None
