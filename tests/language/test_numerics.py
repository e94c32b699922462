"""How exact the mathematical functions are: within documented bounds by default, correctly rounded with
TILETWIN_NUMERICS=ieee.

Here:      dense grids over every exponent, arguments whose results lie near a middle, the table of docs/semantics.md.
Not here:  special values and arguments of libdevice's functions (test_libdevice.py), dots (test_dots.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import elementwise_kernels as kernels
import numpy as np
import pytest
import torch
import triton.language as tl
from floating import F32, F64, Format, rounded
from libdevice_reals import REALS
from mpmath import mp, mpf
from test_libdevice import SEVERAL
from triton.language.extra import libdevice

Function = tuple[object, Callable[[mpf], mpf], Callable[[np.ndarray], np.ndarray]]


def erf64(x: np.ndarray) -> np.ndarray:
    return torch.erf(torch.from_numpy(x)).numpy()


# what the kernel calls; mpmath; NumPy in float64
FUNCTIONS: dict[str, Function] = {
    "exp": (tl.exp, mp.exp, np.exp),
    "exp2": (tl.exp2, lambda v: mpf(2) ** v, np.exp2),
    "log": (tl.log, mp.log, np.log),
    "log2": (tl.log2, lambda v: mp.log(v, 2), np.log2),
    "sin": (tl.sin, mp.sin, np.sin),
    "cos": (tl.cos, mp.cos, np.cos),
    "sqrt": (tl.sqrt, mp.sqrt, np.sqrt),
    "rsqrt": (tl.rsqrt, lambda v: 1 / mp.sqrt(v), lambda x: 1 / np.sqrt(x)),
    "erf": (tl.erf, mp.erf, erf64),
}
POSITIVE = ("log", "log2", "sqrt", "rsqrt")
# Arguments known for results that lie very near a number or a middle of two.
HARD = """0x1.9E9CBBFD6080Bp-31 0x1.83D4BCDEBB3F4p+2 0x1.62A88613629B5p+678 0x1.AB50B409C8AEEp+8
0x1.E0000000001C2p-20 0x1.598BAE9E632F6p-7 0x1.921FB54442D18p+0 0x1.921FB54442D18p+1
0x1.6AC5B262CA1FFp+849 0x1.0000000000001p0 0x1.fffffffffffffp-1 0x1.0000000000002p0 0x1.8p-53 0x1.0p-52
0x1.0p-1074 0x1.fffffffffffffp1023 0x1.0p-27 0x1.0p-54 0x1.00000000000ffp-30"""


def run(function: object, x: np.ndarray, block: int = 1024) -> np.ndarray:
    source = torch.from_numpy(np.ascontiguousarray(x))
    out = torch.zeros_like(source)
    kernels.unary[(-(-len(x) // block),)](source, out, len(x), function, block)
    return out.numpy()


def arguments(form: Format, count: int) -> np.ndarray:
    """A grid over all bit patterns, numbers beside powers of two, small ones, and where the functions do something."""
    random = np.random.default_rng(form.bits)
    unsigned = np.uint32 if form is F32 else np.uint64
    bits = np.dtype(unsigned).itemsize * 8
    step = (1 << bits) // count
    grid = np.array([(12345 + i * step) % (1 << bits) for i in range(count)], unsigned).view(form.dtype)
    with np.errstate(over="ignore"):
        hard = np.array([float.fromhex(h) for h in HARD.split()]).astype(form.dtype)
    eps = np.finfo(form.dtype).eps
    beside = np.concatenate([np.ldexp(1.0, np.arange(-60, 10)) * (1 + k * eps) for k in (-3, -2, -1, 0, 1, 2, 3, 5)])
    small = np.ldexp(1 + random.random(400), random.integers(-60, -10, 400))
    signed = np.concatenate([hard, beside.astype(form.dtype), small.astype(form.dtype)])
    usual = np.concatenate([random.uniform(-100, 100, count // 4), 1 + random.standard_normal(count // 8) * 1e-4])
    return np.concatenate([grid, signed, -signed, usual.astype(form.dtype)])


def defined(name: str, x: np.ndarray) -> np.ndarray:
    """Finite arguments with a result that mpmath takes reasonable time for."""
    fine = np.isfinite(x)
    if name in POSITIVE:
        fine &= x > 0
    if name.startswith("exp"):
        fine &= np.abs(x) < 2000
    if name == "erf":
        fine &= np.abs(x) < 1e30
    return x[fine]


@pytest.mark.parametrize("form", [F32, F64], ids=lambda form: form.name)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_ieee_is_correctly_rounded(name: str, form: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    function, exact, _ = FUNCTIONS[name]
    x = defined(name, arguments(form, 8000))
    got = run(function, x)
    with mp.workprec(400):
        wrong = [
            (v.hex(), mine)
            for v, mine in zip(x.tolist(), got.tolist(), strict=True)
            if rounded(exact(mpf(v)), form) != mine
        ]
    assert len(x) > 4000
    assert not wrong, f"{len(wrong)} of {len(x)}: {wrong[:4]}"
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    assert run(function, x[:256], 256).tobytes() == got[:256].tobytes()


@pytest.mark.parametrize("name", ["exp", "log2", "erf", "rsqrt"])
def test_ieee_reaches_libdevice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    x = defined(name, arguments(F64, 500))
    assert run(getattr(libdevice, name), x).tobytes() == run(FUNCTIONS[name][0], x).tobytes()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_f32_bounds_hold_over_all_exponents(name: str) -> None:
    """A million arguments; float64 is exact enough to judge them."""
    function, _, reference = FUNCTIONS[name]
    check_grid(name, function, reference)


def torch64(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: function(torch.from_numpy(x)).numpy()


VECTORS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cosh": np.cosh,
    "erfc": torch64(torch.erfc),
    "erfinv": torch64(torch.erfinv),
    "exp10": lambda x: np.power(10.0, x),
    "expm1": np.expm1,
    "log10": np.log10,
    "log1p": np.log1p,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", VECTORS)
def test_bounds_of_libdevice_hold_over_all_exponents(name: str) -> None:
    check_grid(name, getattr(libdevice, name), VECTORS[name])


def check_grid(name: str, function: object, reference: Callable[[np.ndarray], np.ndarray]) -> None:
    bits = (np.arange(1 << 20, dtype=np.uint64) * 4096 + 1357).astype(np.uint32)
    x = bits.view(np.float32)
    x = x[np.isfinite(x)]
    if name in POSITIVE:
        x = x[x > 0]
    got = run(function, x).astype(np.float64)
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64))
        assert (np.isnan(got) == np.isnan(want)).all()
        x, got, want = (v[~np.isnan(want)] for v in (x, got, want))
        nearest = want.astype(np.float32)
        unit = np.spacing(np.abs(nearest)).astype(np.float64)
        off = np.where(np.isinf(nearest), np.where(got == nearest, 0, 9), np.abs(got - want) / unit)
        off = np.where(np.isinf(nearest) & (got == np.sign(want) * np.finfo(np.float32).max), 0.5, off)
    assert off.max() <= documented()[name][0] + 1e-6, (x[off.argmax()].item().hex(), off.max())
    assert (off > 0.5 + 1e-6).mean() < 0.01  # nearly all results are the nearest number


def documented() -> dict[str, tuple[float, float]]:
    """function -> bounds for fp32 and fp64, in units of the last place, from docs/semantics.md."""
    text = (Path(__file__).parents[2] / "docs/semantics.md").read_text()
    table = {}
    for names, narrow, wide in re.findall(r"^\| ((?:`\w+` ?)+) \| ([\d.]+) \| ([\d.]+)[^|]* \|$", text, re.M):
        for name in re.findall(r"\w+", names):
            assert name not in table, f"{name} stands there twice"
            table[name] = float(narrow), float(wide)
    return table


def test_the_documented_bounds_are_the_tested_ones() -> None:
    tested = {name: (row.ulp32, row.ulp64) for name, row in REALS.items() if not name.startswith("fast_")}
    tested |= {name: row[1] for name, row in SEVERAL.items() if not name.startswith("fast_")}
    assert documented() == tested


# CUDA's programming guide: largest difference from the correctly rounded result, fp32 and fp64. Of the Bessel functions
# of the first and second kind it is that for |x| < 8; lgamma: outside of [-10, -2.3].
CUDA = """rsqrt 2 1  cbrt 1 1  rcbrt 1 1  hypot 3 2  rhypot 2 1  norm3d 3 2  rnorm3d 2 1  norm4d 3 2  rnorm4d 2 1
exp 2 1  exp2 2 1  exp10 2 1  expm1 1 1  log 1 1  log2 1 1  log10 2 1  log1p 1 1  sin 2 2  cos 2 2
tan 4 2  sinpi 1 2  cospi 1 2  asin 2 2  acos 2 2  atan 2 2  atan2 3 2  sinh 3 2  cosh 2 1  tanh 2 1
asinh 3 3  acosh 4 3  atanh 3 2  pow 4 2  erf 2 2  erfc 4 5  erfinv 2 5  erfcinv 2 6  erfcx 4 4
normcdf 5 5  normcdfinv 5 8  lgamma 6 4  tgamma 5 10  j0 9 7  j1 9 7  y0 9 7  y1 9 7  cyl_bessel_i0 6 6
cyl_bessel_i1 6 6  sqrt 0 0"""


def test_no_bound_is_wider_than_cudas() -> None:
    words = CUDA.split()
    limits = {words[i]: (float(words[i + 1]), float(words[i + 2])) for i in range(0, len(words), 3)}
    table = documented()
    assert set(table) - set(limits) == {"rsqrt_rn", "jn", "yn"}  # not stated there in these terms
    for name, limit in limits.items():
        # within u of the exact result: within u + 1/2 of the nearest number, so at most floor(u + 1/2) numbers away
        numbers = tuple(math.floor(u + 0.499) for u in table[name])
        assert all(mine <= theirs for mine, theirs in zip(numbers, limit)), (name, numbers, limit)
