"""Elements of tiles, by the name of their type in the language ("fp32", "pointer<fp32>"): bytes, NumPy arrays, text.

Not here:  what the types are (dtypes.py), pictures (pages/), which text is shown where (eager/looks.py, trace/text.py).
Invariant: importing this imports no NumPy; arrays hold the elements' very bits, or numbers that stand for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiletwin import _C
from tiletwin.dtypes import dtype, str_to_ty

if TYPE_CHECKING:
    import numpy

_NAMES = [*dtype.SINT_TYPES, *dtype.UINT_TYPES, *dtype.FP_TYPES]
ITEM_SIZES = {name: max(dtype(name).primitive_bitwidth // 8, 1) for name in _NAMES}
"""Bytes of an element in memory; pointers have 8."""
SMALL_FLOATS = tuple(name for name in ITEM_SIZES if name.startswith("fp8"))
NUMPY_NAMES = {
    name: "bool" if name == "int1" else name.replace("fp", "float")
    for name in ITEM_SIZES
    if name != "bf16" and name not in SMALL_FLOATS
}


def is_pointer(type_name: str) -> bool:
    return type_name.startswith(("pointer", "*"))


def pointee_of(type_name: str) -> str:
    """fp32 of pointer<fp32>, and of a pointer to const fp32 or into another address space."""
    inner = type_name.removeprefix("*k").removeprefix("*").removeprefix("pointer<").removesuffix(">")
    return inner.split(",")[0].removeprefix("const ").strip()


def item_size(type_name: str) -> int:
    """Bytes of an element. Errors: KeyError, no such type."""
    return 8 if is_pointer(type_name) else ITEM_SIZES[type_name]


def size_in_signature(kind: str | None) -> int:
    """Bytes of an element of a type as signatures name it ("i32"); 1 if no type has that name."""
    try:
        return ITEM_SIZES[str_to_ty(kind or "").name]
    except (KeyError, ValueError):
        return 1


def numbers_in(data: Any, type_name: str) -> numpy.ndarray:
    """The elements of a row of bytes, which the array shares where NumPy knows their type; bf16 and fp8 become float32,
    pointers uint64."""
    import numpy

    if type_name == "bf16":
        return (numpy.frombuffer(data, numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
    if type_name in SMALL_FLOATS:
        table = numpy.frombuffer(_C.small_float_table(type_name), numpy.float32)
        return table[numpy.frombuffer(data, numpy.uint8)]
    return numpy.frombuffer(data, NUMPY_NAMES.get(type_name, "uint64"))


def numpy_of(data: bytes, type_name: str, shape: tuple[int, ...]) -> numpy.ndarray:
    """The same as an array of its own, in a tile's shape."""
    return numbers_in(data, type_name).copy().reshape(shape)


# ---- text ----


def number_text(number: Any, digits: int = 6) -> str:
    """One element with so many digits; a flag as 1 or 0."""
    kind = getattr(getattr(number, "dtype", None), "kind", "")
    if kind in ("b", "i", "u") or isinstance(number, int):
        return str(int(number))
    return f"{float(number):.{digits}g}"


def statistics(array: Any) -> str:
    """What a glance at many numbers misses: "min -1, max 3, mean 0.5, 2 NaN, 1 inf", where the first three are of the
    finite ones; "5 of 8 set" of flags."""
    import numpy

    flat = numpy.asarray(array).reshape(-1)
    if not flat.size:
        return "empty"
    if flat.dtype == bool:
        return f"{int(flat.sum())} of {flat.size} set"
    finite, counts = flat, {}
    if flat.dtype.kind == "f":
        finite = flat[numpy.isfinite(flat)].astype(numpy.float64)
        counts = {"NaN": int(numpy.isnan(flat).sum()), "inf": int(numpy.isinf(flat).sum())}
    parts = []
    if finite.size:
        # Which zero is the least depends on the CPU in NumPy: + 0 makes it the positive one.
        known = {"min": finite.min() + 0, "max": finite.max() + 0, "mean": finite.mean(dtype=numpy.float64)}
        parts = [f"{name} {number_text(value)}" for name, value in known.items()]
    return ", ".join([*parts, *(f"{count} {name}" for name, count in counts.items() if count)])
