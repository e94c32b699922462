"""libdevice's real functions: what they are, by mpmath, and how exact they must be.

Here:      one row a function.   Not here:  functions with exact results (test_libdevice.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mpmath import mp, mpf

NAN, INF = math.nan, math.inf


def inverse_erfc(y: mpf) -> mpf:
    """Newton's method on log(erfc)."""
    if y > 1:
        return -inverse_erfc(2 - y)
    if y == 1:
        return mpf(0)
    if y > mpf("0.5"):  # through erf: 1 - y is exact here
        target, x = 1 - y, (1 - y) * mp.sqrt(mp.pi) / 2
        for _ in range(60):
            step = (mp.erf(x) - target) * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
            x -= step
            if abs(step) <= abs(x) * mpf(2) ** -150:
                break
        return x
    level = -mp.log(y)
    x = mp.sqrt(level)
    for _ in range(60):
        tail = mp.erfc(x)
        step = tail * mp.sqrt(mp.pi) / 2 * mp.exp(x * x) * mp.log(tail / y)
        x += step
        if abs(step) <= x * mpf(2) ** -150:
            break
    return x


def inverse_erf(y: mpf) -> mpf:
    if abs(y) < mpf(10) ** -20:
        return y * mp.sqrt(mp.pi) / 2 * (1 + mp.pi * y * y / 12)
    return mp.sign(y) * inverse_erfc(1 - abs(y))


def scaled_erfc(x: mpf) -> mpf:
    if x > 1000:
        t = 1 / (2 * x * x)
        return (1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t)))) / (x * mp.sqrt(mp.pi))
    if x < -200:
        return mpf(10) ** 5000
    return mp.exp(x * x) * mp.erfc(x)


def gamma(x: mpf) -> mpf:
    if x > 200:
        return mpf(10) ** 5000
    if x < -300:
        return mpf(10) ** -5000 * (1 if int(mp.floor(x)) % 2 == 0 else -1)
    return mp.gamma(x)


def exponential(base: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """Bounded: far outside the range the exact number does not matter."""
    return lambda x: base(max(min(x, mpf(4000)), mpf(-4000)))


def normal_cdf(x: mpf) -> mpf:
    return mp.erfc(-x / mp.sqrt(2)) / 2 if x > -100 else mpf(10) ** -5000


def erfc(x: mpf) -> mpf:
    return mp.erfc(x) if x < 100 else mpf(10) ** -5000


def sinh_like(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    return lambda x: f(max(min(x, mpf(2000)), mpf(-2000)))


def sin_pi(x: mpf) -> mpf:
    return mp.sinpi(x - 2 * mp.nint(x / 2))


def cos_pi(x: mpf) -> mpf:
    return mp.cospi(x - 2 * mp.nint(x / 2))


def everywhere(x: mpf) -> bool:
    return True


def positive(x: mpf) -> bool:
    return x > 0


def in_unit(x: mpf) -> bool:
    return abs(x) <= 1


def inside_unit(x: mpf) -> bool:
    return abs(x) < 1


def probability(x: mpf) -> bool:
    return 0 < x < 1


def not_pole(x: mpf) -> bool:
    return x > 0 or x != mp.floor(x)


@dataclass(frozen=True)
class Real:
    """f on `domain` (elsewhere NaN); at +0, -0, inf, -inf the `limits` (None: a regular value); errors up to
    ulp32 (fp32) or ulp64 (fp64), or `absolute` where that is given. Random arguments lie in [-spread, spread] too."""

    f: Callable[[mpf], mpf]
    limits: tuple[float | None, ...] = (None,) * 4
    domain: Callable[[mpf], bool] = everywhere
    ulp32: float = 0.51
    ulp64: float = 0.51
    spread: float = 10.0
    most: float = math.inf  # largest argument that mpmath can do in reasonable time
    absolute: tuple[float, float] = (0.0, 0.0)
    poles: tuple[tuple[float, float], ...] = ()  # (argument, result)


ODD = (0.0, -0.0, INF, -INF)
EVEN_NAN = (None, None, NAN, NAN)

REALS: dict[str, Real] = {
    "acos": Real(mp.acos, EVEN_NAN, in_unit, ulp64=1, spread=1),
    "acosh": Real(mp.acosh, (NAN, NAN, INF, NAN), lambda x: x >= 1, spread=100),
    "asin": Real(mp.asin, (0.0, -0.0, NAN, NAN), in_unit, ulp64=1, spread=1),
    "asinh": Real(mp.asinh, ODD),
    "atan": Real(mp.atan, (0.0, -0.0, None, None), ulp64=1),
    "atanh": Real(mp.atanh, (0.0, -0.0, NAN, NAN), inside_unit, spread=1, poles=((1, INF), (-1, -INF))),
    "cbrt": Real(lambda x: mp.sign(x) * mp.cbrt(abs(x)), ODD, spread=1e6),
    "cos": Real(mp.cos, EVEN_NAN, ulp64=1, spread=100),
    "cosh": Real(sinh_like(mp.cosh), (None, None, INF, INF), spread=100),
    "cospi": Real(cos_pi, EVEN_NAN, spread=100),
    "cyl_bessel_i0": Real(lambda x: mp.besseli(0, x), (None, None, INF, INF), spread=100, most=2000),
    "cyl_bessel_i1": Real(lambda x: mp.besseli(1, x), ODD, spread=100, most=2000),
    "erf": Real(mp.erf, (0.0, -0.0, 1.0, -1.0), ulp32=1.4, ulp64=1, spread=6),
    "erfc": Real(erfc, (None, None, 0.0, 2.0), spread=28),
    "erfcinv": Real(inverse_erfc, (INF, INF, NAN, NAN), lambda x: 0 < x < 2, spread=2, poles=((2, -INF),)),
    "erfcx": Real(scaled_erfc, (None, None, 0.0, INF), spread=30),
    "erfinv": Real(inverse_erf, (0.0, -0.0, NAN, NAN), inside_unit, spread=1, poles=((1, INF), (-1, -INF))),
    "exp": Real(exponential(mp.exp), (None, None, INF, 0.0), ulp32=1.05, ulp64=1, spread=100),
    "exp10": Real(exponential(lambda x: mpf(10) ** x), (None, None, INF, 0.0), spread=40),
    "exp2": Real(exponential(lambda x: mpf(2) ** x), (None, None, INF, 0.0), ulp32=0.9, ulp64=1, spread=150),
    "expm1": Real(exponential(mp.expm1), (0.0, -0.0, INF, -1.0), spread=50),
    "j0": Real(lambda x: mp.besselj(0, x), (None, None, 0.0, 0.0), most=1e4, spread=40, ulp64=2, absolute=(0, 1e-18)),
    "j1": Real(lambda x: mp.besselj(1, x), (0.0, -0.0, 0.0, -0.0), most=1e4, spread=40, ulp64=2, absolute=(0, 1e-18)),
    "lgamma": Real(
        lambda x: mp.re(mp.loggamma(x)), (INF, INF, INF, INF), not_pole, spread=20, most=1e20, ulp64=1, absolute=(0, 0)
    ),
    "log": Real(mp.log, (-INF, -INF, INF, NAN), positive, ulp32=0.8, ulp64=1, spread=5),
    "log10": Real(mp.log10, (-INF, -INF, INF, NAN), positive, spread=5),
    "log1p": Real(mp.log1p, (0.0, -0.0, INF, NAN), lambda x: x > -1, spread=5, poles=((-1, -INF),)),
    "log2": Real(lambda x: mp.log(x, 2), (-INF, -INF, INF, NAN), positive, ulp32=0.9, ulp64=1, spread=5),
    "normcdf": Real(normal_cdf, (None, None, 1.0, 0.0), spread=38, ulp64=1.5),
    "normcdfinv": Real(
        lambda p: -mp.sqrt(2) * inverse_erfc(2 * p),
        (-INF, -INF, NAN, NAN),
        probability,
        spread=1,
        ulp64=1,
        poles=((1, INF),),
    ),
    "rcbrt": Real(lambda x: mp.sign(x) / mp.cbrt(abs(x)), (INF, -INF, 0.0, -0.0), spread=1e6),
    "rsqrt": Real(lambda x: 1 / mp.sqrt(x), (INF, -INF, 0.0, NAN), positive, ulp64=1, spread=1e3),
    "rsqrt_rn": Real(lambda x: 1 / mp.sqrt(x), (INF, -INF, 0.0, NAN), positive, ulp32=0.5, spread=1e3),
    "sin": Real(mp.sin, (0.0, -0.0, NAN, NAN), ulp64=1, spread=100),
    "sinh": Real(sinh_like(mp.sinh), ODD, spread=100),
    "sinpi": Real(sin_pi, (0.0, -0.0, NAN, NAN), spread=100),
    "sqrt": Real(mp.sqrt, (0.0, -0.0, INF, NAN), positive, ulp32=0.5, ulp64=0.5, spread=1e6),
    "tan": Real(mp.tan, (0.0, -0.0, NAN, NAN), ulp64=1, spread=100),
    "tanh": Real(mp.tanh, (0.0, -0.0, 1.0, -1.0), spread=12),
    "tgamma": Real(gamma, (INF, -INF, INF, NAN), not_pole, spread=36, ulp64=0.6),
    "y0": Real(
        lambda x: mp.bessely(0, x), (-INF, -INF, 0.0, NAN), positive, most=1e4, spread=40, ulp64=2, absolute=(0, 1e-18)
    ),
    "y1": Real(
        lambda x: mp.bessely(1, x), (-INF, -INF, 0.0, NAN), positive, most=1e4, spread=40, ulp64=2, absolute=(0, 1e-18)
    ),
}
for fast in ("cos", "exp", "exp10", "log", "log10", "log2", "sin", "tan"):
    REALS[f"fast_{fast}f"] = REALS[fast]
