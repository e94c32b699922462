"""Number formats and conversions between them as tables: an independent reference for casts and narrow products.

Here:      the value of every code of a format of at most 16 bits, rounding by search in that table, the GPU's rule for
           float to integer.
Not here:  kernels (test_casts.py, test_dots.py).
Invariant: every number of a table is exact in float64, and so are the middles between neighbours.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Format:
    """A float format: sign, exponent and fraction bits.

    top: what the largest exponent means: "ieee" (infinity and NaNs), "nan" (all ones is NaN), "numbers".
    fnuz: the code of -0 is the only NaN. largest: code of what too large numbers become when they saturate; None: they
    become infinite.
    """

    bits: int
    fraction: int
    bias: int
    top: str
    largest: int | None = None
    fnuz: bool = False

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def integer(self) -> type:
        return {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[self.bits]


FORMATS = {
    "fp8e5": Format(8, 2, 15, "ieee", 0x7B),
    "fp8e4nv": Format(8, 3, 7, "nan", 0x7E),
    "fp8e4b15": Format(8, 3, 15, "numbers", 0x7E),
    "fp8e4b8": Format(8, 3, 8, "numbers", 0x7F, fnuz=True),
    "fp8e5b16": Format(8, 2, 16, "numbers", 0x7F, fnuz=True),
    "fp16": Format(16, 10, 15, "ieee"),
    "bf16": Format(16, 7, 127, "ieee"),
}
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


@functools.cache
def values(name: str) -> np.ndarray:
    """The float64 value of every code of a format."""
    form = FORMATS[name]
    out = np.empty(1 << form.bits)
    ones = (1 << (form.bits - 1 - form.fraction)) - 1
    for code in range(1 << form.bits):
        exponent, fraction = (code & (form.sign - 1)) >> form.fraction, code & ((1 << form.fraction) - 1)
        if exponent:
            size = float(
                Fraction((1 << form.fraction) + fraction) * Fraction(2) ** (exponent - form.bias - form.fraction)
            )
        else:
            size = float(Fraction(fraction) * Fraction(2) ** (1 - form.bias - form.fraction))
        if form.top == "ieee" and exponent == ones:
            size = np.inf if fraction == 0 else np.nan
        if form.top == "nan" and code & (form.sign - 1) == form.sign - 1:
            size = np.nan
        out[code] = np.nan if form.fnuz and code == form.sign else -size if code & form.sign else size
    return out


@functools.cache
def finite(name: str) -> np.ndarray:
    """The finite numbers >= 0 in order of their codes."""
    form = FORMATS[name]
    positive = values(name)[: form.sign]
    positive = positive[np.isfinite(positive)]
    return positive if form.largest is None else positive[: form.largest + 1]


def nan_code(name: str) -> int:
    form = FORMATS[name]
    if form.fnuz:
        return form.sign
    return {"ieee": form.sign - 1, "nan": form.sign - 1, "numbers": form.largest or 0}[form.top]


def encode(name: str, x: np.ndarray, mode: str | None = None) -> np.ndarray:
    """The codes of float64 numbers, rounded once: to nearest even, or toward zero for "rtz"."""
    if name == "fp8e4b15":
        return encode_e4b15(x)
    form, table = FORMATS[name], finite(name)
    x = np.asarray(x, np.float64)
    size = np.abs(np.where(np.isnan(x), 0, x))
    code = np.searchsorted(table, size, side="right") - 1
    if mode != "rtz":
        beyond = 2 * table[-1] - table[-2]  # what one code more would be worth
        upper = np.append(table, beyond)[code + 1]
        middle = table[code] + (upper - table[code]) / 2
        code = np.where((size > middle) | ((size == middle) & (code % 2 == 1)), code + 1, code)
    last = len(table) - 1
    too_large = last if form.largest is not None or mode == "rtz" else last + 1
    code = np.where(code > last, too_large, code)
    keeps_infinity = form.top == "ieee" and (mode == "rtz" or form.largest is None)
    code = np.where(np.isinf(x), last + 1 if keeps_infinity else last, code)
    signed = code | np.where(np.signbit(x), form.sign, 0)
    if form.fnuz:
        signed = np.where(code == 0, 0, signed)
    return np.where(np.isnan(x), nan_code(name), signed).astype(form.integer)


def encode_e4b15(x: np.ndarray) -> np.ndarray:
    """fp8e4b15 is made from fp16 (wider floats: toward zero); halves away from zero, at most 1.75, NaN too."""
    x = np.asarray(x, np.float64)
    half = np.abs(values("fp16")[encode("fp16", x, "rtz")])
    half = np.where(np.isnan(half), np.inf, half)
    table = finite("fp8e4b15")
    code = np.searchsorted(table, half, side="right") - 1
    upper = np.append(table, np.inf)[code + 1]
    code = np.where(half - table[code] >= upper - half, code + 1, code)
    return (np.minimum(code, 0x7E) | np.where(np.signbit(x), 0x80, 0)).astype(np.uint8)


def to_float32(x: np.ndarray, mode: str | None = None) -> np.ndarray:
    """float64 rounded to float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.asarray(x, np.float64).astype(np.float32)
        if mode != "rtz":
            return near
        away = np.abs(near.astype(np.float64)) > np.abs(x)
        return np.where(away, np.nextafter(near, np.float32(0)), near)


def to_integer(x: np.ndarray, bits: int, signed: bool, wide: bool) -> np.ndarray:
    """float64 numbers to integers as the GPU does: truncated, saturated (8 bits: at 16), the low bits as uint64.

    NaN is 0, or the sign-bit pattern if source (`wide`: it has 64 bits) or destination has 64 bits.
    """
    width = max(bits, 16)
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    nan = 1 << (width - 1) if wide or bits == 64 else 0
    out = []
    for v in np.asarray(x, np.float64).tolist():
        if v != v:
            n = nan
        elif v in (float("inf"), float("-inf")):
            n = high if v > 0 else low
        else:
            n = min(max(int(v), low), high)
        out.append(n & ((1 << bits) - 1))
    return np.array(out, np.uint64)


def from_integers(name: str, numbers: list[int]) -> np.ndarray:
    """Integers rounded once to a format ("fp32", "fp64" or one of the table), as codes."""
    if name == "fp64":
        return np.array([float(n) for n in numbers], np.float64).view(np.uint64)
    out = []
    for n in numbers:
        size = abs(n)
        shift = max(0, size.bit_length() - 40)  # 40 bits and a sticky one: float64 holds them, one rounding remains
        sticky = (size >> shift << 1 | bool(size & ((1 << shift) - 1))) if shift else size << 1
        out.append((-1.0 if n < 0 else 1.0) * np.ldexp(float(sticky), shift - 1))
    exact = np.array(out, np.float64)
    return exact.astype(np.float32).view(np.uint32) if name == "fp32" else encode(name, exact)
