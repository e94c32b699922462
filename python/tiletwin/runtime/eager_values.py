"""NumPy arrays and text of evaluated values; called from the extension with an element type's name in the language."""

from __future__ import annotations

from typing import Any

_NUMPY_NAMES = {
    "int1": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
    "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "fp16": "float16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip
_SMALL_FLOATS = ("fp8e5", "fp8e4nv", "fp8e4b15", "fp8e4b8", "fp8e5b16")


def _small_float_table(name: str) -> Any:
    """The float32 value of each of the 256 patterns of an 8-bit format."""
    from tiletwin import _C

    return _C.small_float_table(name)


def numpy_of(data: bytes, type_name: str, shape: tuple[int, ...]) -> Any:
    """The elements as a NumPy array of their own; bf16 and fp8 become float32, pointers uint64."""
    import numpy

    if type_name == "bf16":
        array = (numpy.frombuffer(data, numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
    elif type_name in _SMALL_FLOATS:
        table = numpy.frombuffer(_small_float_table(type_name), numpy.float32)
        array = table[numpy.frombuffer(data, numpy.uint8)]
    elif type_name in _NUMPY_NAMES:
        array = numpy.frombuffer(data, _NUMPY_NAMES[type_name]).copy()
    else:
        array = numpy.frombuffer(data, numpy.uint64).copy()
    return array.reshape(shape)


def repr_of(data: bytes, type_name: str, shape: tuple[int, ...]) -> str:
    """`tensor([0, 1, 2, 3], int32)`; pointers in hexadecimal."""
    import numpy

    array = numpy_of(data, type_name, shape)
    is_pointer = type_name.startswith("pointer") or type_name.startswith("*")
    formatter: Any = {"int": lambda v: hex(int(v))} if is_pointer else None
    text = numpy.array2string(array, separator=", ", prefix="tensor(", formatter=formatter)
    return f"tensor({text}, {type_name})"
