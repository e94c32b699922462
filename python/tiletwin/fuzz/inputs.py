"""Contents of a program's buffers, from a seed.

Here:      array(), for generated programs and for the files of findings.
Not here:  which buffers a program has (generator.py).
Invariant: the bytes follow from the arguments alone, on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiletwin import _C
from tiletwin.fuzz.types import ELEMENTS, bits, kind
from tiletwin.kernels.tensors import TensorWrapper

_FLOATS = {"float16": np.float16, "bfloat16": np.float32, "float32": np.float32, "float64": np.float64}
_EDGES = {
    "float16": (6e-8, 6.1e-5, 65504.0, 0.99951, 2048.0),
    "bfloat16": (1e-40, 1.2e-38, 3.3e38, 0.996, 256.0),
    "float32": (1e-45, 1.1754944e-38, 1.1754942e-38, 3.4028235e38, 0.99999994, 16777216.0),
    "float64": (5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.9999999999999999, 9007199254740992.0),
}
_COMMON = (0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 3.0, float("inf"), float("-inf"), float("nan"))


def _integers(element: str, count: int, content: str, rng: np.random.Generator) -> np.ndarray:
    signed, width = kind(element) == "s", bits(element)
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    numpy = np.dtype(element)
    small = rng.integers(-8 if signed else 0, 9 if signed else 17, count).astype(numpy)
    if content != "edge":
        return small
    wide = rng.integers(low, high, count, dtype=numpy, endpoint=True)
    edges = np.array([low, low + 1, high, high - 1, 0, 1, high // 2, low // 2], dtype=object).astype(numpy)
    chosen = edges[rng.integers(0, len(edges), count)]
    which = rng.integers(0, 3, count)
    return np.where(which == 0, chosen, np.where(which == 1, wide, small)).astype(numpy)


def _floats(element: str, count: int, content: str, rng: np.random.Generator) -> np.ndarray:
    numpy = _FLOATS[element]
    if content == "small":
        return (rng.integers(-16, 17, count) / 4).astype(numpy)
    normal = rng.standard_normal(count)
    if content == "normal":
        return normal.astype(numpy)
    signs = rng.choice([-1.0, 1.0], count)
    edges = np.array([*_COMMON, *_EDGES[element]])[rng.integers(0, len(_COMMON) + len(_EDGES[element]), count)]
    wide = np.exp2(rng.uniform(-20, 12, count)) * signs
    which = rng.integers(0, 4, count)
    with np.errstate(over="ignore"):
        return np.where(which == 0, edges * signs, np.where(which == 1, wide, normal)).astype(numpy)


def _small_floats(element: str, count: int, content: str, rng: np.random.Generator) -> np.ndarray:
    if content == "edge":
        return rng.integers(0, 256, count).astype(np.uint8)
    table = np.frombuffer(_C.small_float_table(ELEMENTS[element].signature), dtype=np.float32)
    choices = np.flatnonzero(np.abs(table) <= 4).astype(np.uint8)
    return choices[rng.integers(0, len(choices), count)]


def array(element: str, count: int, content: str = "small", seed: int = 0) -> Any:
    """`count` elements, as a NumPy array or a wrapper around one that says the type.

    content: "small" (integers and quarters near 0: sums are exact), "normal", "edge" (also NaN, zeros of both signs,
    infinities, subnormals, extremes), "zero", "iota" (0, 1, 2, ... of an integer type).
    """
    rng = np.random.default_rng([seed, count, len(element)])
    if content == "iota":
        return np.arange(count, dtype=element)
    if content == "zero":
        numpy = {"int1": "bool", "bfloat16": "uint16"}.get(element, "uint8" if kind(element) == "8" else element)
        data = np.zeros(count, dtype=numpy)
    elif element == "int1":
        data = rng.integers(0, 2, count).astype(np.bool_)
    elif kind(element) in "su":
        data = _integers(element, count, content, rng)
    elif kind(element) == "8":
        data = _small_floats(element, count, content, rng)
    else:
        data = _floats(element, count, content, rng)
        if element == "bfloat16":
            data = (data.view(np.uint32) >> 16).astype(np.uint16)
    is_wrapped = element == "bfloat16" or kind(element) == "8"
    return TensorWrapper(data, ELEMENTS[element].signature) if is_wrapped else data


class _Addressed(np.ndarray):
    """An array that says where it lies, as the bases of descriptors do."""

    def data_ptr(self) -> int:
        return self.ctypes.data

    def element_size(self) -> int:
        return self.itemsize


def descriptor(base: Any, shape: tuple[int, ...], block: tuple[int, ...], padding: str = "zero") -> Any:
    """A tensor descriptor argument over the first elements of an array, row by row."""
    from tiletwin.tools.tensor_descriptor import TensorDescriptor

    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    is_wrapped = isinstance(base, TensorWrapper)
    data = (base.base if is_wrapped else base).view(_Addressed)
    base = TensorWrapper(data, base.dtype) if is_wrapped else data
    return TensorDescriptor(base, list(shape), strides, list(block), padding)
