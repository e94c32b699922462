"""libdevice's functions with exact results: integers, bits, classification, and arithmetic with a named rounding.

Here:      one row a function, on Python numbers; `form` is the format of the float arguments (of the result where
there are none).   Not here:  functions with an error bound (libdevice_reals.py).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from floating import F32, F64, Format, rounded
from mpmath import mp, mpf

Function = Callable[..., Any]


def f32_bits(x: float) -> int:
    return int(np.float32(x).view(np.uint32))


def f64_bits(x: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def nearest_int(x: float) -> float:
    return float(np.rint(np.float64(x)))


def half_away(x: float) -> float:
    return math.copysign(
        math.floor(abs(x) + 0.5)
        if abs(x) < 2**52 and abs(x) != 0.49999999999999994
        else (abs(x) if abs(x) >= 2**52 else 0.0),
        x,
    )


TO_INT = {"rn": nearest_int, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}


def to_int(low: int, high: int, mode: Callable[[float], float]) -> Function:
    bits = (high - low).bit_length()

    def function(form: Format, x: float) -> int:
        if math.isnan(x):
            return (
                (-(1 << 63) if low < 0 else 1 << 63)
                if bits == 64
                else (0 if form is F32 else (-(1 << 31) if low < 0 else 1 << 31))
            )
        if math.isinf(x):
            return low if x < 0 else high
        return min(max(int(mode(x)), low), high)

    return function


def special(form: Format, function: Callable[..., Any], *args: float) -> float | None:
    """IEEE results that involve NaN or infinity, by NumPy; None for a finite number."""
    with np.errstate(all="ignore"):
        value = function(*[form.dtype(a) for a in args])
    finite = all(math.isfinite(a) for a in args)
    return float(value) if not finite or (math.isnan(value)) else None


def exact_sum(form: Format, mode: str, terms: list[mpf], zeros: list[float]) -> float:
    """The rounded sum; an exact zero takes the sign of its terms if they agree, else that of the direction."""
    with mp.workprec(4400):
        total = sum(terms, mpf(0))
        if total != 0:
            return rounded(total, form, mode)
    signs = {math.copysign(1, z) for z in zeros}
    if len(signs) == 1 and all(t == 0 for t in terms):
        return math.copysign(0.0, signs.pop())
    return -0.0 if mode == "rd" else 0.0


def add(mode: str) -> Function:
    return lambda form, a, b: (
        s if (s := special(form, np.add, a, b)) is not None else exact_sum(form, mode, [mpf(a), mpf(b)], [a, b])
    )


def sub(mode: str) -> Function:
    return lambda form, a, b: add(mode)(form, a, -b)


def signed_result(value: float, *args: float) -> float:
    """Zero and everything else with the product of the signs."""
    return math.copysign(value, math.prod(math.copysign(1, a) for a in args))


def mul(mode: str) -> Function:
    def function(form: Format, a: float, b: float) -> float:
        s = special(form, np.multiply, a, b)
        return s if s is not None else signed_result(rounded(mpf(a) * mpf(b), form, mode), a, b)

    return function


def div(mode: str) -> Function:
    def function(form: Format, a: float, b: float) -> float:
        s = special(form, np.divide, a, b)
        if s is not None or b == 0:
            return s if s is not None else signed_result(math.inf, a, b)
        return signed_result(rounded(mpf(a) / mpf(b), form, mode), a, b)

    return function


def square_root(mode: str) -> Function:
    def function(form: Format, a: float) -> float:
        s = special(form, np.sqrt, a)
        return s if s is not None else math.copysign(rounded(mp.sqrt(mpf(a)), form, mode), a)

    return function


def fma(mode: str) -> Function:
    def function(form: Format, a: float, b: float, c: float) -> float:
        if not all(math.isfinite(v) for v in (a, b, c)):
            with np.errstate(all="ignore"):  # a product of finite numbers is finite here
                product = np.float64(0) if math.isfinite(a) and math.isfinite(b) else np.float64(a) * np.float64(b)
                return float(product + np.float64(c))
        sign = math.copysign(1, a) * math.copysign(1, b)
        with mp.workprec(4400):
            return exact_sum(form, mode, [mpf(a) * mpf(b), mpf(c)], [math.copysign(0.0, sign), c])

    return function


def from_int(mode: str) -> Function:
    return lambda form, x: rounded(mpf(x), form, mode)


def narrow(mode: str) -> Function:
    def function(form: Format, x: float) -> float:
        return x if math.isnan(x) or math.isinf(x) else math.copysign(rounded(mpf(x), F32, mode), x)

    return function


def permute(form: Format, x: int, y: int, selector: int) -> int:
    """Three bits of the selector name a byte. The fourth, prmt's copy of the sign, is masked away."""
    source = ((y & 0xFFFFFFFF) << 32 | x & 0xFFFFFFFF).to_bytes(8, "little")
    return int.from_bytes(bytes(source[selector >> 4 * i & 7] for i in range(4)), "little")


def width(form: Format, x: int) -> int:
    return 64 if form is F64 else 32


def low24(x: int) -> int:
    return signed(x, 24)


def by_numpy(function: Callable[..., Any]) -> Function:
    def call(form: Format, *args: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*[form.dtype(a) if isinstance(a, float) else np.int32(a) for a in args]))

    return call


def ilogb(form: Format, x: float) -> int:
    if math.isnan(x) or x == 0:
        return -(2**31)
    return 2**31 - 1 if math.isinf(x) else math.frexp(x)[1] - 1


def logb(form: Format, x: float) -> float:
    if x == 0 or math.isinf(x) or math.isnan(x):
        return -math.inf if x == 0 else abs(x)
    return float(math.frexp(x)[1] - 1)


def scaled(form: Format, x: float, n: int) -> float:
    if x == 0 or not math.isfinite(x):
        return x
    with mp.workprec(256):
        return math.copysign(rounded(mpf(x) * mpf(2) ** max(min(n, 5000), -5000), form), x)


def remainder(form: Format, x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return math.remainder(x, y)


def fdim(form: Format, x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return by_numpy(np.subtract)(form, x, y) if x > y else 0.0


def round_to_integer(mode: Callable[[float], float]) -> Function:
    return lambda form, x: x if not math.isfinite(x) else math.copysign(float(mode(x)), x)


I32, U32 = (-(2**31), 2**31 - 1), (0, 2**32 - 1)
I64, U64 = (-(2**63), 2**63 - 1), (0, 2**64 - 1)

EXACT: dict[str, Function] = {
    "abs": lambda form, x: math.fabs(x) if isinstance(x, float) else abs(x),
    "brev": lambda form, x: int(f"{x & (1 << width(form, x)) - 1:0{width(form, x)}b}"[::-1], 2),
    "byte_perm": permute,
    "ceil": round_to_integer(math.ceil),
    "clz": lambda form, x: width(form, x) - (x & (1 << width(form, x)) - 1).bit_length(),
    "copysign": lambda form, x, y: math.copysign(x, y),
    "double2hiint": lambda form, x: f64_bits(x) >> 32,
    "double2loint": lambda form, x: f64_bits(x),
    "double_as_longlong": lambda form, x: f64_bits(x),
    "fast_dividef": div("rn"),
    "fdim": fdim,
    "ffs": lambda form, x: (x & -x).bit_length(),
    "finitef": lambda form, x: math.isfinite(x),
    "float_as_int": lambda form, x: f32_bits(x),
    "float_as_uint": lambda form, x: f32_bits(x),
    "floor": round_to_integer(math.floor),
    "fma": fma("rn"),
    "fmod": by_numpy(np.fmod),
    "hadd": lambda form, x, y: (x + y) >> 1,
    "hiloint2double": lambda form, hi, lo: struct.unpack("<d", struct.pack("<II", lo & 2**32 - 1, hi & 2**32 - 1))[0],
    "ilogb": ilogb,
    "int_as_float": lambda form, x: float(np.uint32(x & 2**32 - 1).view(np.float32)),
    "isfinited": lambda form, x: math.isfinite(x),
    "isinf": lambda form, x: math.isinf(x),
    "isnan": lambda form, x: math.isnan(x),
    "ldexp": scaled,
    "llrint": to_int(*I64, nearest_int),
    "llround": to_int(*I64, half_away),
    "logb": logb,
    "longlong_as_double": lambda form, x: struct.unpack("<d", struct.pack("<q", x))[0],
    "nearbyint": round_to_integer(nearest_int),
    "nextafter": by_numpy(np.nextafter),
    "popc": lambda form, x: (x & (1 << width(form, x)) - 1).bit_count(),
    "remainder": remainder,
    "rhadd": lambda form, x, y: (x + y + 1) >> 1,
    "rint": round_to_integer(nearest_int),
    "round": round_to_integer(half_away),
    "sad": lambda form, x, y, z: abs(x - y) + z,
    "saturatef": lambda form, x: 0.0 if not x > 0 else min(x, 1.0),
    "scalbn": scaled,
    "signbit": lambda form, x: math.copysign(1, x) < 0,
    "trunc": round_to_integer(math.trunc),
    "uint_as_float": lambda form, x: float(np.uint32(x).view(np.float32)),
}
for _mode in ("rn", "rz", "rd", "ru"):
    EXACT |= {
        f"add_{_mode}": add(_mode),
        f"div_{_mode}": div(_mode),
        f"fma_{_mode}": fma(_mode),
        f"mul_{_mode}": mul(_mode),
        f"rcp_{_mode}": lambda form, x, mode=_mode: div(mode)(form, 1.0, x),
        f"sqrt_{_mode}": square_root(_mode),
        f"sub_{_mode}": sub(_mode),
        f"double2float_{_mode}": narrow(_mode),
    }
    for _name in (
        "int2float",
        "uint2float",
        "ll2float",
        "ull2float",
        "int2double",
        "uint2double",
        "ll2double",
        "ull2double",
    ):
        EXACT[f"{_name}_{_mode}"] = from_int(_mode)
    for _name, _range in (("int", I32), ("uint", U32), ("ll", I64), ("ull", U64)):
        EXACT[f"float2{_name}_{_mode}"] = EXACT[f"double2{_name}_{_mode}"] = to_int(*_range, TO_INT[_mode])
