"""The functions of AMD's device libraries, by name; calling one in a kernel is an error: the target is NVIDIA's."""

from __future__ import annotations

from typing import Any, NoReturn

from tiletwin._refused import REFUSED
from tiletwin.language.declare import library_function

# name: number of arguments
ARGUMENTS: dict[str, int] = {
    **dict.fromkeys(
        "clz popc abs floor rsqrt ceil trunc exp2 exp fast_expf fast_tanhf sqrt rint llrint nearbyint isnan signbit "
        "isinf sin cos tan log2 cosh sinh tanh atan asin acos log log10 log1p acosh asinh atanh expm1 j0 j1 y0 y1 "
        "cyl_bessel_i0 cyl_bessel_i1 erf erfinv erfc erfcx lgamma ilogb round finitef isfinited".split(),
        1,
    ),
    **dict.fromkeys("fast_dividef copysign nextafter atan2 hypot ldexp fmod pow".split(), 2),
    "fma": 3,
}


_KEY = "triton.language.extra.hip.libdevice"


def _make(name: str) -> Any:
    def refused(*args: Any) -> NoReturn:
        raise NotImplementedError(f"{_KEY}.{name}: {REFUSED[_KEY]}")

    return library_function(name, ARGUMENTS[name], refused, f"AMD's `{name}`; always an error.")


def __getattr__(name: str) -> Any:
    if name not in ARGUMENTS:
        raise AttributeError(f"hip.libdevice has no function {name!r}")
    globals()[name] = _make(name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *ARGUMENTS})
