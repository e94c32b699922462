"""What NumPy and mpmath say an operation of a random kernel gives: values with their types, promotion, rounding.

Not here:  the kernels' text and how it grows (expressions.py).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
from kernel_cases import load_json
from number_formats import (
    INTS,
    TL,
    convert,
    from_bits,
    held,
    hold,
    is_float,
    is_signed,
    round_fraction,
    rounded,
    to_bits,
)

TABLE = load_json("promotion.json")
SHORT = {long.replace("float", "fp").replace("bfp", "bf"): short for short, long in TL.items()}

WIDE = ("fp32", "fp64")


@dataclass(frozen=True)
class Value:
    text: str
    type: str
    elements: np.ndarray
    defined: np.ndarray
    final: bool = False
    """Compared with a tolerance; no operand of anything."""
    bound: np.ndarray | None = None
    """Largest absolute error."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape


@dataclass(frozen=True)
class Constant:
    """A Python number in the source: its type is weak."""

    number: int | float

    @property
    def text(self) -> str:
        return f"({self.number!r})" if self.number < 0 else repr(self.number)

    def column(self) -> str:
        if isinstance(self.number, float):
            return "1.5"
        return "-1" if self.number < 0 else "1"


def promoted(op: str, a: Value | Constant, b: Value | Constant) -> str | None:
    """Result type by the measured table; None: rejected."""
    if isinstance(a, Constant) or isinstance(b, Constant):
        constant, tensor = (a, b) if isinstance(a, Constant) else (b, a)
        assert isinstance(tensor, Value) and isinstance(constant, Constant)
        if isinstance(constant.number, int) and tensor.type in INTS:
            info = np.iinfo(held(tensor.type))
            if not info.min <= constant.number <= info.max:
                return None
        names = TABLE["tensor_scalar"][op][tensor.type].split()
        name = names[TABLE["scalars"].index(constant.column())]
    else:
        name = TABLE["tensor_tensor"][op][a.type].split()[TABLE["types"].index(b.type)]
    return None if "!" in name else SHORT[name]


def as_type(x: Value | Constant, t: str) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(x, Constant):
        if is_float(t):
            number = np.asarray(float(x.number))
            return hold(rounded(number, t), t), np.asarray(True)
        return np.asarray(x.number).astype(held(t)), np.asarray(True)
    values, defined = convert(x.elements, x.type, t)
    return values, defined & x.defined


def zero_ordered(greater: bool) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """max or min of numbers where -0 is below +0."""

    def choose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        first = (a > b) if greater else (a < b)
        if a.dtype.kind == "f":
            first |= (a == b) & (np.signbit(b) if greater else np.signbit(a))
        return np.where(first, a, b)

    return choose


def number_wins(greater: bool) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    choose = zero_ordered(greater)
    return lambda a, b: np.where(np.isnan(a), b, np.where(np.isnan(b), a, choose(a, b)))


def nan_wins(greater: bool) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    choose = zero_ordered(greater)
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.nan, choose(a, b)).astype(a.dtype)


def arithmetic(op: str, a: np.ndarray, b: np.ndarray, t: str) -> np.ndarray:
    """+, -, * in type t."""
    if t == "i1":
        return a & b if op == "*" else a ^ b
    operation = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
    with np.errstate(all="ignore"):
        result = operation(a, b)
    return hold(rounded(result.astype(np.float64), t), t) if t in ("fp16", "bf16") else result


def truncated_division(a: np.ndarray, b: np.ndarray, t: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(quotient, remainder, defined)."""
    defined = b != 0
    if is_signed(t):
        defined &= ~((a == np.iinfo(a.dtype).min) & (b == -1))
    safe = np.where(defined, b, 1).astype(a.dtype)
    quotient = a // safe
    remainder = a - quotient * safe
    if is_signed(t):
        adjust = (remainder != 0) & ((a < 0) != (safe < 0))
        quotient = quotient + adjust.astype(a.dtype)
        remainder = a - quotient * safe
    return quotient, remainder, defined


@functools.lru_cache(maxsize=100_000)
def correctly_rounded(function: str, bits: int, t: str) -> float:
    """A function of the number with these bits, rounded once to t."""
    unsigned = np.array([bits], np.uint32 if t == "fp32" else np.uint64)
    x = float(from_bits(unsigned, t)[0])
    special = SPECIAL[function](x)
    if special is not None:
        return special
    with mpmath.workprec(160):
        y = MATH[function](mpmath.mpf(x))
        sign, mantissa, exponent, _ = y._mpf_
        number = Fraction(-mantissa if sign else mantissa) * Fraction(2) ** max(min(exponent, 3000), -3000)
    return round_fraction(number, t)


MATH = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "erf": mpmath.erf,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
}


def exponential(x: float) -> float | None:
    if math.isnan(x):
        return math.nan
    if x == 0:
        return 1.0
    return math.inf if x > 2000 else 0.0 if x < -2000 else None


def logarithm(x: float) -> float | None:
    if math.isnan(x) or x < 0:
        return math.nan
    return -math.inf if x == 0 else 0.0 if x == 1 else math.inf if math.isinf(x) else None


def periodic(at_zero: Callable[[float], float]) -> Callable[[float], float | None]:
    return lambda x: math.nan if math.isnan(x) or math.isinf(x) else at_zero(x) if x == 0 else None


def root(at_zero: Callable[[float], float], at_infinity: float) -> Callable[[float], float | None]:
    def special(x: float) -> float | None:
        if x == 0:
            return at_zero(x)
        if math.isnan(x) or x < 0:
            return math.nan
        return at_infinity if math.isinf(x) else None

    return special


SPECIAL: dict[str, Callable[[float], float | None]] = {
    "exp": exponential,
    "exp2": exponential,
    "log": logarithm,
    "log2": logarithm,
    "sin": periodic(lambda x: x),
    "cos": periodic(lambda x: 1.0),
    "erf": lambda x: math.nan if math.isnan(x) else x if x == 0 else math.copysign(1.0, x) if abs(x) > 100 else None,
    "sqrt": root(lambda x: x, math.inf),
    "rsqrt": root(lambda x: math.copysign(math.inf, x), 0.0),
}


def mathematical(function: str, x: np.ndarray, t: str) -> np.ndarray:
    bits = to_bits(x, t)
    results = [correctly_rounded(function, int(b), t) for b in bits.reshape(-1)]
    with np.errstate(all="ignore"):
        return np.array(results, np.float64).astype(held(t)).reshape(x.shape)


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray, t: str) -> np.ndarray:
    """a * b + c, rounded once."""

    def one(x: float, y: float, z: float) -> float:
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            with np.errstate(all="ignore"):
                # Only the kind of a non-finite result matters here, and x * y cannot overflow if z decides.
                both = math.isfinite(x) and math.isfinite(y)
                return float((np.float64(0) if both else np.float64(x) * np.float64(y)) + np.float64(z))
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact != 0:
            return round_fraction(exact, t) or math.copysign(0.0, exact)
        product = math.copysign(1, x) * math.copysign(1, y)
        if x == 0 or y == 0:
            return math.copysign(0.0, product) + z if z == 0 else z
        return 0.0

    a, b, c = np.broadcast_arrays(a, b, c)
    flat = [one(float(x), float(y), float(z)) for x, y, z in zip(a.ravel(), b.ravel(), c.ravel())]
    return np.array(flat, np.float64).astype(held(t)).reshape(a.shape)
