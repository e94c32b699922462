"""Tensor maps, which kernels copy tiles with (TMA): what cuTensorMapEncodeTiled makes for a GPU.

    tiles = tiletwin.sim.tensor_map(x, box=(64, 32), swizzle="128B")  # x: float16, of shape (rows, 64 or more)
    kernel(tiles, out, grid=..., block=...)   # for a `const __grid_constant__ CUtensorMap`, or a pointer to one

Here:      tensor_map, TensorMap, the words for the driver's numbers.
Not here:  what the driver refuses, and the 128 bytes (sim/Tensormap.h); how a map becomes an argument (arguments.py).
Invariant: lists are in the driver's order: dimension 0, whose elements lie side by side, is the last of an array's
           shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiletwin.sim.extension import extension
from tiletwin.sim.launch_memory import array_facts

ELEMENTS = {
    "uint8": 1, "uint16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8, "float16": 2, "float32": 4, "float64": 8,
    "bfloat16": 2, "float32_ftz": 4, "tfloat32": 4, "tfloat32_ftz": 4,
}  # fmt: skip
"""Bytes of each element type, in the order of CUtensorMapDataType."""
INTERLEAVES = ("none", "16B", "32B")
SWIZZLES = ("none", "32B", "64B", "128B")
L2_PROMOTIONS = ("none", "64B", "128B", "256B")
FILLS = ("zeros", "nan")

# From the names of the extension's array_info. Maps have no signed types of 8 and 16 bits, and no 8-bit floats: copies
# that change nothing need none.
_OF_ARRAY = {
    "u1": "uint8", "i8": "uint8", "u8": "uint8", "i16": "uint16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "u64": "uint64", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip


class TensorMap:
    """A tensor map as an argument of kernels. See `tensor_map`.

    Attributes:
        array: what it describes; it lives as long as the map.
        memory: the 128 bytes, where kernels find them that take a pointer.

    dtype, box, sizes, strides, swizzle and so on say what it was made of.
    """

    def __init__(self, array: Any, encoded: bytes, facts: dict[str, Any]) -> None:
        self.array = array
        room = np.zeros(2 * len(encoded), np.uint8)
        start = -room.ctypes.data % len(encoded)
        self.memory = room[start : start + len(encoded)]
        self.memory[:] = np.frombuffer(encoded, np.uint8)
        self.__dict__.update(facts)

    def __bytes__(self) -> bytes:
        return self.memory.tobytes()

    def __repr__(self) -> str:
        facts = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if k not in ("array", "memory"))
        return f"<tensor map: {facts}>"


def _numbers(what: str, values: Any) -> tuple[int, ...]:
    """Errors: TypeError, no whole numbers; ValueError, negative ones."""
    try:
        found = tuple(int(v.__index__()) for v in values)
    except (TypeError, AttributeError):
        raise TypeError(f"tensor_map(): {what} wants whole numbers, dimension 0 first, not {values!r}") from None
    if any(not 0 <= n < 1 << 64 for n in found):
        raise ValueError(f"tensor_map(): {what} wants numbers that are not negative and below 2^64, not {values!r}")
    return found


def _word(what: str, value: Any, words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """(one of the words, the words): sizes may be numbers, None is the first word."""
    word = f"{value}B" if isinstance(value, int) and value else value or words[0]
    if word not in words:
        raise ValueError(f"tensor_map(): {what} is one of {', '.join(map(repr, words))}, not {value!r}")
    return word, words


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


def tensor_map(
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
) -> TensorMap:
    """A tensor map of `array`, an argument for kernels that take a CUtensorMap by value or by pointer.

    Lists are in the order of cuTensorMapEncodeTiled: dimension 0, whose elements lie side by side, comes first.

    Args:
        array: in the host's memory; its first element is the tensor's.
        box: elements of a tile along each dimension, 1 to 256.
        sizes: elements of the tensor; default: the array's shape, reversed.
        strides: bytes from one element to the next along each dimension but the first, multiples of 16; default: the
            array's.
        element_strides: 1 to 8, default 1: which elements of the box are taken.
        dtype: of ELEMENTS; default: the array's.
        interleave: "16B" and "32B" are not implemented.
        swizzle: "32B", "64B", "128B" (or 32, 64, 128), default none.
        l2_promotion: "64B", "128B", "256B": for the GPU's cache, changes nothing here.
        oob_fill: "zeros" (default) or, of floats, "nan": elements outside of the tensor.

    Raises:
        TypeError: what the driver refuses, and why.
        ValueError: what the driver refuses, and why.
    """
    found = array_facts("tensor_map(): array", array)
    if found["on_device"]:
        raise ValueError("tensor_map(): array lies in a GPU's memory: the simulator runs on the CPU, pass array.cpu()")
    facts = described(
        array, found, box, sizes=sizes, strides=strides, element_strides=element_strides, dtype=dtype,
        interleave=interleave, swizzle=swizzle, l2_promotion=l2_promotion, oob_fill=oob_fill,
    )  # fmt: skip
    try:
        encoded = extension().encode_tensor_map(*numbers(facts, found["data"]))
    except ValueError as error:
        raise ValueError(f"tensor_map(): {error}") from None
    return TensorMap(array, encoded, facts)


def described(
    array: Any,
    found: dict[str, Any],
    box: Sequence[int],
    *,
    sizes: Sequence[int] | None,
    strides: Sequence[int] | None,
    element_strides: Sequence[int] | None,
    dtype: str | None,
    interleave: str | None,
    swizzle: str | int | None,
    l2_promotion: str | int | None,
    oob_fill: str | None,
) -> dict[str, Any]:
    """What a map is made of, with defaults filled in: dtype, sizes, strides, box, element_strides and the words.

    Args:
        found: array_facts of the array.

    Raises:
        TypeError: what does not fit together.
        ValueError: what does not fit together.
    """
    dtype = _element_type(found["type"], dtype, sizes is not None and strides is not None)
    if sizes is None or strides is None:
        own = _layout(array, ELEMENTS[dtype])
        sizes, strides = own[0] if sizes is None else sizes, own[1] if strides is None else strides
    lists = {"sizes": _numbers("sizes", sizes), "strides": _numbers("strides", strides), "box": _numbers("box", box)}
    rank = len(lists["sizes"])
    lists["element_strides"] = _numbers("element_strides", [1] * rank if element_strides is None else element_strides)
    for what, count in (("box", rank), ("element_strides", rank), ("strides", max(rank - 1, 0))):
        if len(lists[what]) != count:
            raise ValueError(
                f"tensor_map(): {what} has {len(lists[what])} numbers; a tensor of {rank} dimensions wants {count}"
            )
    words = {
        "interleave": _word("interleave", interleave, INTERLEAVES),
        "swizzle": _word("swizzle", swizzle, SWIZZLES),
        "l2_promotion": _word("l2_promotion", l2_promotion, L2_PROMOTIONS),
        "oob_fill": _word("oob_fill", oob_fill, FILLS),
    }
    return {"dtype": dtype, **lists, **{name: word for name, (word, _) in words.items()}}


_WORDS = {"interleave": INTERLEAVES, "swizzle": SWIZZLES, "l2_promotion": L2_PROMOTIONS, "oob_fill": FILLS}


def numbers(facts: dict[str, Any], address: int) -> tuple[Any, ...]:
    """The arguments of encode_tensor_map, of the simulator or of a GPU's driver, for what `described` gave."""
    lists = (facts[name] for name in ("sizes", "strides", "box", "element_strides"))
    words = (known.index(facts[name]) for name, known in _WORDS.items())
    return (list(ELEMENTS).index(facts["dtype"]), address, *lists, *words)
