"""Element types and tile types of generated programs, and Triton's rules for mixing them.

Here:      Type; facts about element types; which type an operator gives (docs/semantics.md, rules 1 to 8).
Not here:  values (inputs.py), operations (forms/).
Invariant: written after the measured rules and not after our front end, because programs assert these results.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Element:
    """kind: "b" for int1, "s" and "u" for integers, "f" for floats with arithmetic, "8" for 8-bit floats."""

    kind: str
    bits: int
    signature: str
    """As signatures of kernels write it."""


ELEMENTS = {
    "int1": Element("b", 1, "u1"),
    "int8": Element("s", 8, "i8"),
    "int16": Element("s", 16, "i16"),
    "int32": Element("s", 32, "i32"),
    "int64": Element("s", 64, "i64"),
    "uint8": Element("u", 8, "u8"),
    "uint16": Element("u", 16, "u16"),
    "uint32": Element("u", 32, "u32"),
    "uint64": Element("u", 64, "u64"),
    "float16": Element("f", 16, "fp16"),
    "bfloat16": Element("f", 16, "bf16"),
    "float32": Element("f", 32, "fp32"),
    "float64": Element("f", 64, "fp64"),
    "float8e5": Element("8", 8, "fp8e5"),
    "float8e4nv": Element("8", 8, "fp8e4nv"),
}
SIGNED = tuple(name for name, e in ELEMENTS.items() if e.kind == "s")
UNSIGNED = tuple(name for name, e in ELEMENTS.items() if e.kind == "u")
INTEGERS = SIGNED + UNSIGNED
FLOATS = tuple(name for name, e in ELEMENTS.items() if e.kind == "f")
SMALL_FLOATS = tuple(name for name, e in ELEMENTS.items() if e.kind == "8")
NUMBERS = INTEGERS + FLOATS
WIDE_FLOATS = ("float32", "float64")
ALL = tuple(ELEMENTS)


def kind(element: str) -> str:
    return ELEMENTS[element].kind


def bits(element: str) -> int:
    return ELEMENTS[element].bits


def is_integer(element: str) -> bool:
    return kind(element) in "su"


def is_float(element: str) -> bool:
    return kind(element) == "f"


@dataclass(frozen=True)
class Type:
    """A tile of `shape`, or a scalar where it is empty."""

    element: str
    shape: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        return prod(self.shape)

    def __str__(self) -> str:
        return f"tl.{self.element}"


def promoted(a: str, b: str) -> str | None:
    """The element type of `a + b` for two tensors; None: the language refuses it."""
    ka, kb = kind(a), kind(b)
    if "8" in (ka, kb):
        return _promoted_small(a, b)
    if "f" in (ka, kb):
        if ka == kb:
            return _promoted_floats(a, b)
        whole = a if ka == "f" else b
        return "float32" if whole == "bfloat16" else whole
    if "b" in (ka, kb):
        return b if ka == "b" else a
    if ka == kb:
        return a if bits(a) >= bits(b) else b
    unsigned, signed = (a, b) if ka == "u" else (b, a)
    return unsigned if bits(unsigned) >= bits(signed) else signed


def _promoted_floats(a: str, b: str) -> str:
    for wide in ("float64", "float32", "float16"):
        if wide in (a, b):
            return wide
    return "bfloat16"


def _promoted_small(a: str, b: str) -> str | None:
    if a == b:
        return a
    other = b if kind(a) == "8" else a
    if kind(a) == kind(b) or other == "float16":
        return "float16"
    return "float32" if other in ("bfloat16", "float32") else None


def summed(element: str) -> str:
    """The element type of tl.sum and the scans: integers below 32 bits are widened."""
    if kind(element) == "b":
        return "uint32"
    if is_integer(element) and bits(element) < 32:
        return "int32" if kind(element) == "s" else "uint32"
    return element


def extreme(element: str) -> str:
    """The element type of tl.max and tl.min."""
    if kind(element) in "bsu":
        return "int32" if bits(element) < 32 else element
    return element if bits(element) >= 32 else "float32"


def divided(element: str) -> str:
    """The element type of `a / b` for two tensors of one element type."""
    return "float64" if element == "float64" else "float32"
