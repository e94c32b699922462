"""Tensor maps, which kernels copy tiles with (TMA): what cuTensorMapEncodeTiled makes for a GPU.

    tiles = tiletwin.sim.tensor_map(x, box=(64, 32), swizzle="128B")  # x: float16, of shape (rows, 64 or more)
    kernel(tiles, out, grid=..., block=...)   # for a `const __grid_constant__ CUtensorMap`, or a pointer to one

Here:      DescribedMap, which describes an array to any engine; TensorMap, which the simulator takes; the words
           for the driver's numbers.
Not here:  what the driver refuses, and the 128 bytes (sim/Tensormap.h); how a map becomes an argument (arguments.py;
           on GPUs tiletwin/cuda/launch_memory.py).
Invariant: lists are in the driver's order: dimension 0, whose elements lie side by side, is the last of an array's
           shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiletwin.native import simulator
from tiletwin.sim.launch_memory import array_facts

ELEMENTS = {
    "uint8": 1, "uint16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8, "float16": 2, "float32": 4, "float64": 8,
    "bfloat16": 2, "float32_ftz": 4, "tfloat32": 4, "tfloat32_ftz": 4,
}  # fmt: skip
"""Bytes of each element type, in the order of CUtensorMapDataType."""
SWIZZLES = ("none", "32B", "64B", "128B")
WORDS = {
    "interleave": ("none", "16B", "32B"),
    "swizzle": SWIZZLES,
    "l2_promotion": ("none", "64B", "128B", "256B"),
    "oob_fill": ("zeros", "nan"),
}
"""What else a map is made of: words in the order of the driver's numbers, the default first."""

# From the names of the extension's array_info. Maps have no signed types of 8 and 16 bits, and no 8-bit floats: copies
# that change nothing need none.
_OF_ARRAY = {
    "u1": "uint8", "i8": "uint8", "u8": "uint8", "i16": "uint16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "u64": "uint64", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip


def _numbers(what: str, values: Any) -> tuple[int, ...]:
    """Errors: TypeError, no whole numbers; ValueError, negative ones."""
    try:
        found = tuple(int(v.__index__()) for v in values)
    except (TypeError, AttributeError):
        raise TypeError(f"tensor_map(): {what} wants whole numbers, dimension 0 first, not {values!r}") from None
    if any(not 0 <= n < 1 << 64 for n in found):
        raise ValueError(f"tensor_map(): {what} wants numbers that are not negative and below 2^64, not {values!r}")
    return found


def _word(what: str, value: Any) -> str:
    """One of the words: sizes may be numbers, None is the default."""
    words = WORDS[what]
    word = f"{value}B" if isinstance(value, int) and value else value or words[0]
    if word not in words:
        raise ValueError(f"tensor_map(): {what} is one of {', '.join(map(repr, words))}, not {value!r}")
    return word


def _layout(array: Any, element_bytes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(sizes, strides in bytes) of an array, dimension 0 first.

    Errors: TypeError, it does not tell; ValueError, there are holes between its elements.
    """
    shape = getattr(array, "shape", None)
    if shape is not None and callable(getattr(array, "stride", None)):  # torch
        steps = [step * array.element_size() for step in array.stride()]
    elif shape is not None and getattr(array, "strides", None) is not None:
        steps = list(array.strides)
    else:
        raise TypeError(f"tensor_map(): a {type(array).__name__} does not tell its strides: give sizes and strides")
    if steps and shape[-1] > 1 and steps[-1] != element_bytes:
        raise ValueError(
            "tensor_map(): elements along dimension 0, the last of the array's shape, have to lie side by side; they "
            f"are {steps[-1]} bytes apart"
        )
    return tuple(map(int, reversed(shape))), tuple(map(int, reversed(steps)))[1:]


def _element_type(own: str, dtype: str | None, has_layout: bool) -> str:
    """The element type of a map. own: the array's, as array_info says. has_layout: sizes and strides are given."""
    words = ", ".join(ELEMENTS)
    of_array = "uint8" if own.startswith("fp8") else _OF_ARRAY.get(own)
    if dtype is None and of_array is None:
        raise TypeError(f"tensor_map(): a map has no element type like the array's: give dtype, one of {words}")
    if dtype is None:
        return str(of_array)
    if dtype not in ELEMENTS:
        raise ValueError(f"tensor_map(): dtype is one of {words}, not {dtype!r}")
    if not has_layout and (of_array is None or ELEMENTS[dtype] != ELEMENTS[of_array]):
        raise ValueError(
            f"tensor_map(): {dtype} has {ELEMENTS[dtype]} bytes, which the array's elements have not: give sizes and "
            "strides"
        )
    return dtype


class DescribedMap:
    """A tensor map of an array, an argument for kernels that take a CUtensorMap by value or by pointer.

    Lists are in the order of cuTensorMapEncodeTiled: dimension 0, whose elements lie side by side, comes first.

    Args:
        array: its first element is the tensor's. It lives as long as the map.
        box: elements of a tile along each dimension, 1 to 256.
        sizes: elements of the tensor; default: the array's shape, reversed.
        strides: bytes from one element to the next along each dimension but the first, multiples of 16; default: the
            array's.
        element_strides: 1 to 8, default 1: which elements of the box are taken.
        dtype: of ELEMENTS; default: the array's.
        interleave: "16B" and "32B"; the simulator has no such copies.
        swizzle: "32B", "64B", "128B" (or 32, 64, 128), default none.
        l2_promotion: "64B", "128B", "256B": for a GPU's cache, changes nothing on the simulator.
        oob_fill: "zeros" (default) or, of floats, "nan": elements outside of the tensor.

    All of these are attributes, with defaults filled in.

    Raises:
        TypeError: what does not fit together.
        ValueError: what does not fit together. What else the driver refuses, a GPU says at the launch and the simulator
            says at once.
    """

    def __init__(
        self,
        array: Any,
        box: Sequence[int],
        *,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        element_strides: Sequence[int] | None = None,
        dtype: str | None = None,
        interleave: str | None = None,
        swizzle: str | int | None = None,
        l2_promotion: str | int | None = None,
        oob_fill: str | None = None,
    ) -> None:
        found = array_facts("tensor_map(): array", array)
        self.array = array
        self.dtype = _element_type(found["type"], dtype, sizes is not None and strides is not None)
        if sizes is None or strides is None:
            own = _layout(array, ELEMENTS[self.dtype])
            sizes, strides = own[0] if sizes is None else sizes, own[1] if strides is None else strides
        self.sizes, self.strides = _numbers("sizes", sizes), _numbers("strides", strides)
        self.box = _numbers("box", box)
        rank = len(self.sizes)
        self.element_strides = _numbers("element_strides", [1] * rank if element_strides is None else element_strides)
        for what, wanted in (("box", rank), ("element_strides", rank), ("strides", max(rank - 1, 0))):
            count = len(getattr(self, what))
            if count != wanted:
                raise ValueError(
                    f"tensor_map(): {what} has {count} numbers; a tensor of {rank} dimensions wants {wanted}"
                )
        self.interleave = _word("interleave", interleave)
        self.swizzle = _word("swizzle", swizzle)
        self.l2_promotion = _word("l2_promotion", l2_promotion)
        self.oob_fill = _word("oob_fill", oob_fill)
        self._complete(found)

    def _complete(self, found: dict[str, Any]) -> None:
        """Adds what an engine wants to have before a launch. found: array_facts of the array."""

    def numbers(self, address: int) -> tuple[Any, ...]:
        """What encode_tensor_map takes, the simulator's and that of a GPU's driver. address: of the first element."""
        lists = (self.sizes, self.strides, self.box, self.element_strides)
        words = (known.index(getattr(self, name)) for name, known in WORDS.items())
        return (list(ELEMENTS).index(self.dtype), address, *lists, *words)

    def __repr__(self) -> str:
        facts = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if k not in ("array", "memory"))
        return f"<tensor map: {facts}>"


class TensorMap(DescribedMap):
    """A tensor map of an array in the host's memory, with its 128 bytes. Kernels on the simulator and on GPUs take it.

    Attributes:
        memory: the bytes, where kernels find them that take a pointer.
    """

    memory: np.ndarray

    def _complete(self, found: dict[str, Any]) -> None:
        if found["on_device"]:
            raise ValueError(
                "tensor_map(): array lies in a GPU's memory: the simulator runs on the CPU, pass array.cpu()"
            )
        try:
            encoded = simulator().encode_tensor_map(self.numbers(found["data"]))
        except ValueError as error:
            raise ValueError(f"tensor_map(): {error}") from None
        room = np.zeros(2 * len(encoded), np.uint8)
        start = -room.ctypes.data % len(encoded)
        self.memory = room[start : start + len(encoded)]
        self.memory[:] = np.frombuffer(encoded, np.uint8)

    def __bytes__(self) -> bytes:
        return self.memory.tobytes()
