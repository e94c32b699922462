"""Element types in NumPy: how values are held, rounded, converted, stored as bits; written without tiletwin or torch.

Here:      Format (the float types), convert() by the rules of docs/semantics.md (20 to 24), bits.
Not here:  operations (expressions.py).
Invariant: values of fp16, bf16 and fp8 are held as float32, those of i1 as bool, all others in their own NumPy type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

INTS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
FP8 = ("fp8e5", "fp8e4nv")
TYPES = ("i1", *INTS, *FLOATS)
TL = {"i1": "int1", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
TL |= {"fp8e5": "float8e5", "fp8e4nv": "float8e4nv"}
TL |= {t: ("uint" if t[0] == "u" else "int") + t[1:] for t in INTS}


@dataclass(frozen=True)
class Format:
    """A binary float: `precision` bits with the hidden one, exponents from `least` (of 1.0 x 2**e)."""

    precision: int
    least: int
    largest: float
    has_infinity: bool = True


FORMATS = {
    "fp16": Format(11, -14, 65504.0),
    "bf16": Format(8, -126, float.fromhex("0x1.fep127")),
    "fp32": Format(24, -126, float.fromhex("0x1.fffffep127")),
    "fp64": Format(53, -1022, float.fromhex("0x1.fffffffffffffp1023")),
    # Conversions to fp8 saturate, so infinity does not arise from numbers.
    "fp8e5": Format(3, -14, 57344.0, has_infinity=False),
    "fp8e4nv": Format(4, -6, 448.0, has_infinity=False),
}


def is_float(t: str) -> bool:
    return t in FORMATS


def is_signed(t: str) -> bool:
    return t[0] == "i" and t != "i1"


def bits_of(t: str) -> int:
    if t.startswith("fp8"):
        return 8
    return 16 if t == "bf16" else int(t.lstrip("iufp"))


def held(t: str) -> np.dtype:
    """The NumPy type that holds values of t."""
    if t == "i1":
        return np.dtype(bool)
    if t in INTS:
        return np.dtype(TL[t])
    return np.dtype(np.float64 if t == "fp64" else np.float32)


def rounded(x: np.ndarray, t: str, toward_zero: bool = False) -> np.ndarray:
    """float64 values rounded once to t (to nearest even, or toward zero), as float64."""
    f = FORMATS[t]
    with np.errstate(all="ignore"):
        if t == "fp64":
            return x
        _, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
        place = np.maximum(exponent - f.precision, f.least - f.precision + 1)
        scaled = np.ldexp(x, -place)
        whole = np.trunc(scaled) if toward_zero else np.rint(scaled)
        result = np.where(np.isfinite(x), np.ldexp(whole, place), x)
        over = np.abs(result) > f.largest
        limit = f.largest if toward_zero or not f.has_infinity else math.inf
        if not f.has_infinity:
            over |= np.isinf(x)
        else:
            over &= np.isfinite(x)
        return np.copysign(np.where(over, limit, np.abs(result)), x)


def hold(x: np.ndarray, t: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(held(t))


def convert(x: np.ndarray, source: str, target: str, toward_zero: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """x.to(target): (values, which are defined)."""
    everywhere = np.ones(x.shape, bool)
    if source == target:
        return x, everywhere
    if target == "i1":
        return x != 0, everywhere
    if is_float(target):
        if source == "fp64" or is_float(source):
            return hold(rounded(x.astype(np.float64), target, toward_zero), target), everywhere
        # Integers up to 32 bits are exact in float64; wider ones round to fp32 or fp64 in one step.
        if target in ("fp32", "fp64"):
            return x.astype(held(target)), everywhere
        return hold(rounded(x.astype(np.float32).astype(np.float64), target), target), everywhere
    if is_float(source):
        wide = np.trunc(np.where(np.isfinite(x), x, 0).astype(np.float64))
        info = np.iinfo(held(target))
        fits = np.isfinite(x) & (wide >= float(info.min)) & (wide < float(int(info.max) + 1))
        return np.where(fits, wide, 0).astype(held(target)), fits
    return x.astype(held(target)), everywhere


def to_bits(x: np.ndarray, t: str) -> np.ndarray:
    """The unsigned bit patterns of held values."""
    if t == "i1":
        return x.astype(np.uint8)
    if t in INTS or t in ("fp32", "fp64"):
        return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").reshape(x.shape)
    if t == "fp16":
        return np.ascontiguousarray(x.astype(np.float16)).view(np.uint16).reshape(x.shape)
    if t == "bf16":
        return (np.ascontiguousarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(x.shape)
    table = from_bits(np.arange(256, dtype=np.uint8), t)
    flat = np.zeros(x.size, np.uint8)
    for i, v in enumerate(x.reshape(-1)):
        same = np.isnan(table) if np.isnan(v) else (table == v) & (np.signbit(table) == np.signbit(v))
        flat[i] = np.flatnonzero(same)[0]
    return flat.reshape(x.shape)


def from_bits(bits: np.ndarray, t: str) -> np.ndarray:
    """Held values of unsigned bit patterns."""
    if t == "i1":
        return bits != 0
    if t in INTS or t in ("fp32", "fp64"):
        return np.ascontiguousarray(bits).view(held(t)).reshape(bits.shape)
    if t == "fp16":
        return np.ascontiguousarray(bits).view(np.float16).astype(np.float32).reshape(bits.shape)
    if t == "bf16":
        return np.ascontiguousarray(bits.astype(np.uint32) << 16).view(np.float32).reshape(bits.shape)
    mantissa_bits, bias = (2, 15) if t == "fp8e5" else (3, 7)
    exponent, mantissa = (
        (bits & 0x7F).astype(np.int64) >> mantissa_bits,
        bits.astype(np.int64) & (1 << mantissa_bits) - 1,
    )
    normal = np.ldexp(1 + mantissa / (1 << mantissa_bits), exponent - bias)
    value = np.where(exponent == 0, np.ldexp(mantissa / (1 << mantissa_bits), 1 - bias), normal)
    if t == "fp8e5":
        value = np.where(exponent == 31, np.where(mantissa == 0, np.inf, np.nan), value)
    else:
        value = np.where((bits & 0x7F) == 0x7F, np.nan, value)
    return np.where(bits & 0x80, -value, value).astype(np.float32)


def round_fraction(x: Fraction, t: str) -> float:
    """An exact number rounded once to t, to nearest even."""
    f = FORMATS[t]
    if x == 0:
        return 0.0
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    place = Fraction(2) ** (max(exponent, f.least) - f.precision + 1)
    quotient = size / place
    whole, rest = divmod(quotient.numerator, quotient.denominator)
    twice = 2 * rest
    if twice > quotient.denominator or (twice == quotient.denominator and whole % 2):
        whole += 1
    value = whole * place
    result = math.inf if value > Fraction(f.largest) else float(value)
    return -result if x < 0 else result
