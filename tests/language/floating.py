"""Exact arithmetic on float formats for tests: rounding in any direction, errors in units of the last place.

Here:      formats, rounding of mpmath numbers, distances.   Not here:  what is tested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf

mp.prec = 256


@dataclass(frozen=True)
class Format:
    """A binary float format: significand bits (with the leading one) and exponents of the extreme normal numbers."""

    name: str
    bits: int
    least: int
    greatest: int
    dtype: type

    @property
    def largest(self) -> mpf:
        return (2 - mpf(2) ** (1 - self.bits)) * mpf(2) ** self.greatest


F32 = Format("fp32", 24, -126, 127, np.float32)
F64 = Format("fp64", 53, -1022, 1023, np.float64)
F16 = Format("fp16", 11, -14, 15, np.float16)
BF16 = Format("bf16", 8, -126, 127, np.float32)
FORMATS = {f.name: f for f in (F32, F64, F16, BF16)}


def unit(x: mpf, form: Format) -> mpf:
    """The distance of neighbouring numbers of the format around x."""
    exponent = max(int(mp.floor(mp.log(abs(x), 2))), form.least) if x else form.least
    return mpf(2) ** (exponent - form.bits + 1)


def rounded(x: mpf, form: Format, mode: str = "rn") -> float:
    """x in the format: rn to nearest even, rz toward zero, rd down, ru up. Zero results are +0."""
    if x == 0:
        return 0.0
    sign, man, exp, bc = x._mpf_
    man = int(man)
    quantum = max(exp + bc - 1, form.least) - form.bits + 1
    if exp >= quantum:
        units, rest, half = man << (exp - quantum), 0, 1
    else:
        shift = quantum - exp
        units, rest, half = man >> shift, man & ((1 << shift) - 1), 1 << (shift - 1)
    up = {
        "rn": rest > half or (rest == half and units & 1),
        "rz": False,
        "rd": bool(sign and rest),
        "ru": bool(not sign and rest),
    }[mode] and rest
    units += bool(up)
    value = mpf(units) * mpf(2) ** quantum
    if value > form.largest:
        infinite = mode == "rn" or (mode == "ru" and not sign) or (mode == "rd" and sign)
        result = math.inf if infinite else float(form.largest)
    else:
        result = math.ldexp(units, quantum)
    return -result if sign else result


def error(got: float, true: mpf, form: Format) -> float:
    """How far `got` is from the true value, in units of the last place; infinity counts from the range's end."""
    if math.isnan(got):
        return math.inf
    if math.isinf(got):
        if (got > 0) != (true > 0):
            return math.inf
        past = form.largest + unit(form.largest, form) / 2
        return float(max(mpf(0), (past - abs(true)) / unit(form.largest, form)))
    return float(abs(mpf(got) - true) / unit(true, form))
