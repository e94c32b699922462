"""Every function of libdevice, for each list of argument types, on edge values and random ones, in both modes.

References: mpmath with a bound on the error (libdevice_reals.py), exact Python arithmetic (libdevice_exact.py), and for
functions of several reals the rows below.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import libdevice_kernels as kernels
import numpy as np
import pytest
import torch
from floating import F32, F64, FORMATS, Format, error
from kernel_cases import TORCH, load_json
from libdevice_exact import EXACT
from libdevice_reals import INF, NAN, REALS, gamma
from mpmath import mp, mpf
from tiletwin.language.extra.cuda.libdevice_symbols import PREDICATES, ROWS
from triton.language.extra import libdevice

TYPES = {"i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "fp32": np.float32, "fp64": np.float64}
EDGES = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -0.5, 2.0, 1.5, -2.5, 3.0, 0.1, -7.0, 100.25, 1e-20]
FORM_EDGES = {
    "fp32": [
        1e-45,
        -1.1e-38,
        1.17549435e-38,
        3.4028235e38,
        -3.4028235e38,
        16777217.0,
        2147483648.0,
        -2147483904.0,
        8.5e18,
        1.9e19,
    ],
    "fp64": [
        5e-324,
        2.2250738585072014e-308,
        2e-308,
        1.7976931348623157e308,
        -1.7e308,
        9007199254740993.0,
        2147483647.5,
        4294967295.5,
        9.3e18,
        1.9e19,
        -9223372036854775808.0,
        0.49999999999999994,
    ],
}


def overloads() -> list[tuple[str, tuple[str, ...], str]]:
    """(function, argument types, result type) of every row."""
    found = []
    for name, row in ROWS.items():
        for overload in row.split():
            arguments, result = overload.split("=")[0].split(">")
            found.append((name, tuple(arguments.split(",")), result))
    return found


def values_of(kind: str, random: np.random.Generator, spread: float, count: int) -> np.ndarray:
    """Edges of a type, then random values."""
    if kind.startswith("fp"):
        form = FORMATS[kind]
        with np.errstate(over="ignore"):
            size = np.exp2(random.uniform(form.least - 20, form.greatest, count // 4)) * random.uniform(
                1, 2, count // 4
            )
        parts = [
            np.array(EDGES + FORM_EDGES[kind]),
            random.uniform(-spread, spread, count // 2),
            size * random.choice([-1, 1], count // 4),
            np.round(random.uniform(-20, 20, count // 8)) / 2,
        ]
        return np.concatenate(parts).astype(TYPES[kind])
    info = np.iinfo(TYPES[kind])
    near = [
        info.min,
        info.min + 1,
        info.max,
        info.max - 1,
        info.max // 2,
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        255,
        0x3210,
        0x89AB,
        2**24,
        2**24 + 1,
    ]
    near += [v for v in (-1, -2, -8) if info.min < 0]
    return np.concatenate(
        [
            np.array([v for v in near if info.min <= v <= info.max], dtype=TYPES[kind]),
            random.integers(info.min, info.max, count // 2, dtype=TYPES[kind], endpoint=True),
        ]
    )


def run(name: str, arguments: list[np.ndarray], result: str, block: int = 256) -> np.ndarray:
    n = len(arguments[0])
    out = torch.zeros(n, dtype=torch.bool if name in PREDICATES else TORCH[result])
    tensors = [torch.from_numpy(np.ascontiguousarray(a)) for a in arguments]
    kernel = kernels.KERNELS[len(arguments)]
    kernel[(-(-n // block),)](*tensors, out, n, getattr(libdevice, name), block)
    return out.numpy()


def both_modes(name: str, arguments: list[np.ndarray], result: str, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    compiled = run(name, arguments, result)
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    few = [a[:40] for a in arguments]
    eager = run(name, few, result, 64)
    monkeypatch.delenv("TILETWIN_EAGER")
    assert eager.tobytes() == compiled[:40].tobytes(), "eager mode gives other bits"
    return compiled


def form_of(kinds: tuple[str, ...], result: str) -> Format:
    """The format the overload is about; integers of 64 bits count as fp64."""
    for kind in (*(k for k in kinds if k.startswith("fp")), result):
        if kind in FORMATS:
            return FORMATS[kind]
    return F64 if "64" in kinds[0] else F32


def check(name: str, arguments: list[np.ndarray], got: np.ndarray, want: list[Any], bounds: Any, form: Format) -> None:
    """want: numbers (equal with their sign, NaN with NaN) or mpmath ones; bounds: largest error in ULP, or absolute."""
    worst, problems = 0.0, []
    for i, true in enumerate(want):
        mine = got[i].item()
        if true is None:
            continue
        if isinstance(true, mpf):
            units, absolute = bounds
            off = error(mine, true, form)
            if absolute and abs(mpf(mine) - true) <= absolute:
                off = 0.0
            worst = max(worst, off)
            bad = off > units
        elif isinstance(true, float):
            bad = not (math.isnan(true) and math.isnan(mine)) and (
                mine != true or math.copysign(1, mine) != math.copysign(1, true)
            )
        else:
            bits = 1 if got.dtype == np.bool_ else got.dtype.itemsize * 8
            bad = (int(mine) - int(true)) % (1 << bits) != 0
        if bad:
            shown = mp.nstr(true, 20) if isinstance(true, mpf) else true
            problems.append(f"{name}({', '.join(repr(a[i].item()) for a in arguments)}) = {mine!r}, not {shown}")
    assert not problems, f"{len(problems)} of {len(want)} wrong (worst {worst:.3g} ULP), such as\n" + "\n".join(
        problems[:8]
    )


UNARY = [(n, a, r) for n, a, r in overloads() if n in REALS]


@pytest.mark.parametrize(("name", "kinds", "result"), UNARY, ids=lambda v: v if isinstance(v, str) else "_".join(v))
def test_real(name: str, kinds: tuple[str, ...], result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row, form = REALS[name], form_of(kinds, result)
    random = np.random.default_rng(len(name) + form.bits)
    x = values_of(kinds[0], random, row.spread, 400)
    x = x[~(np.isfinite(x) & (np.abs(x) > row.most))]
    got = both_modes(name, [x], result, monkeypatch)
    want: list[Any] = []
    for value in x.tolist():
        if math.isnan(value):
            want.append(NAN)
        elif value == 0 or math.isinf(value):
            place = (0 if value == 0 else 2) + (math.copysign(1, value) < 0)
            limit = row.limits[place]
            want.append(limit if limit is not None else row.f(mpf(value)))
        elif not row.domain(mpf(value)):
            # Logarithms of the absolute value of gamma are infinite at its poles.
            want.append(dict(row.poles).get(value, INF if name == "lgamma" else NAN))
        else:
            want.append(mpf(row.f(mpf(value))))
    bound = row.ulp32 if form is F32 else row.ulp64
    check(name, [x], got, want, (bound, row.absolute[form is F64]), form)


EXACT_ROWS = [(n, a, r) for n, a, r in overloads() if n in EXACT]


@pytest.mark.parametrize(
    ("name", "kinds", "result"), EXACT_ROWS, ids=lambda v: v if isinstance(v, str) else "_".join(v)
)
def test_exact(name: str, kinds: tuple[str, ...], result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(len(name))
    lists = [values_of(kind, random, 1000.0, 120 if len(kinds) > 1 else 400) for kind in kinds]
    if len(kinds) == 1:
        arguments = lists
    else:  # pairs of edges, then random combinations
        edges = [v[: (26, 26, 6)[i]] if len(kinds) < 3 else v[:9] for i, v in enumerate(lists)]
        grid = list(itertools.product(*edges))
        arguments = [
            np.concatenate([np.array([g[i] for g in grid], dtype=v.dtype), random.choice(v, 300)])
            for i, v in enumerate(lists)
        ]
    form = form_of(kinds, result)
    got = both_modes(name, arguments, result, monkeypatch)
    lists_of = [a.tolist() for a in arguments]
    want = [EXACT[name](form, *[v[i] for v in lists_of]) for i in range(len(got))]
    check(name, arguments, got, want, (0.0, 0.0), form)


def power(x: float, y: float, form: Format) -> Any:
    """IEEE's rules for pow by NumPy in f64, else the exact power."""
    with np.errstate(all="ignore"):
        plain = float(np.power(np.float64(x), np.float64(y)))
    if y == 0.5 and x in (0, -INF):  # a square root to NumPy
        plain = abs(x)
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0 or math.isnan(plain):
        return plain
    exponent = mpf(y) * mp.log(abs(mpf(x)), 2)
    if abs(exponent) > 5000:
        size = mpf(2) ** (5000 if exponent > 0 else -5000)
    else:
        size = mp.exp(mpf(y) * mp.log(abs(mpf(x))))
    return -size if x < 0 and y % 2 == 1 else size


def distance(*x: float) -> Any:
    if any(math.isinf(v) for v in x):
        return INF
    if any(math.isnan(v) for v in x):
        return NAN
    with mp.workprec(5000):
        square = sum(mpf(v) ** 2 for v in x)
    return mp.sqrt(square) if square else 0.0


def inverse_distance(*x: float) -> Any:
    d = distance(*x)
    return 1 / d if isinstance(d, mpf) else 0.0 if d == INF else INF if d == 0 else d


def angle(y: float, x: float) -> Any:
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        value = math.atan2(y, x)
        return value if math.isnan(value) or value == 0 else mpf_angle(value)
    return mp.atan2(mpf(y), mpf(x))


def mpf_angle(value: float) -> mpf:
    """A multiple of pi / 4 given in f64."""
    return mp.pi * round(value * 4 / math.pi) / 4


def bessel(f: Any, second: bool) -> Any:
    def function(n: int, x: float) -> Any:
        if n < 0 or math.isnan(x):
            return NAN
        if second and x < 0:
            return NAN
        if second and x == 0:
            return -INF
        if math.isinf(x):
            return mpf(0)
        return mpf(mp.re(f(n, mpf(x))))

    return function


# (reference, bounds in ULP for fp32 and fp64, absolute bound, largest size of arguments)
SEVERAL: dict[str, tuple[Any, tuple[float, float], tuple[float, float]]] = {
    "atan2": (angle, (0.51, 1.0), (0, 0)),
    "fast_powf": (None, (0.51, 0), (0, 0)),
    "hypot": (distance, (0.51, 0.51), (0, 0)),
    "jn": (bessel(mp.besselj, False), (0.51, 2), (0, 1e-18)),
    "norm3d": (distance, (0.51, 0.51), (0, 0)),
    "norm4d": (distance, (0.51, 1.0), (0, 0)),
    "pow": (None, (0.51, 1.0), (0, 0)),
    "rhypot": (inverse_distance, (0.51, 0.51), (0, 0)),
    "rnorm3d": (inverse_distance, (0.51, 0.51), (0, 0)),
    "rnorm4d": (inverse_distance, (0.51, 1.0), (0, 0)),
    "yn": (bessel(mp.bessely, True), (0.51, 2), (0, 1e-18)),
}
SEVERAL_ROWS = [(n, a, r) for n, a, r in overloads() if n in SEVERAL]


@pytest.mark.parametrize(
    ("name", "kinds", "result"), SEVERAL_ROWS, ids=lambda v: v if isinstance(v, str) else "_".join(v)
)
def test_several(name: str, kinds: tuple[str, ...], result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reference, bounds, absolute = SEVERAL[name]
    form = form_of(kinds, result)
    random = np.random.default_rng(5)
    lists = [values_of(kind, random, 20.0, 80) for kind in kinds]
    if name in ("jn", "yn"):
        orders = np.array([-1, 0, 1, 2, 3, 7, 20], dtype=np.int32)
        x = lists[1][~(np.isfinite(lists[1]) & ((np.abs(lists[1]) > 100) | (np.abs(lists[1]) < 1e-6)))]
        arguments = [np.repeat(orders, len(x)), np.tile(x, len(orders))]
    else:
        count = {2: 27, 3: 8, 4: 5}[len(kinds)]
        grid = list(itertools.product(*[v[:count] for v in lists]))
        arguments = [
            np.concatenate([np.array([g[i] for g in grid], dtype=v.dtype), random.choice(v, 300)])
            for i, v in enumerate(lists)
        ]
    got = both_modes(name, arguments, result, monkeypatch)
    columns = [a.tolist() for a in arguments]
    rows = list(zip(*columns, strict=True))
    want = [power(float(r[0]), float(r[1]), form) if reference is None else reference(*r) for r in rows]
    check(name, arguments, got, want, (bounds[form is F64], absolute[form is F64]), form)


def test_products_of_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """mul24 and mulhi, whose meaning depends on signs that only the symbol knows."""
    random = np.random.default_rng(1)
    for kind in ("i32", "u32", "i64", "u64"):
        x, y = (values_of(kind, random, 0, 300) for _ in range(2))
        columns = list(zip(x.tolist(), y.tolist(), strict=True))
        bits = int(kind[1:])
        high = both_modes("mulhi", [x, y], kind, monkeypatch)
        check("mulhi", [x, y], high, [a * b >> bits for a, b in columns], None, F32)
        if bits == 32:

            def low(v: int, kind: str = kind) -> int:
                v &= 0xFFFFFF
                return v - (1 << 24) if kind == "i32" and v >> 23 else v

            check(
                "mul24",
                [x, y],
                both_modes("mul24", [x, y], kind, monkeypatch),
                [low(a) * low(b) for a, b in columns],
                None,
                F32,
            )


def test_reciprocal_of_the_upper_word(monkeypatch: pytest.MonkeyPatch) -> None:
    x = values_of("fp64", np.random.default_rng(2), 100, 200)
    x = x[np.isfinite(x) & (np.abs(x) > 1e-300) & (np.abs(x) < 1e300)]
    got = both_modes("rcp64h", [x], "fp64", monkeypatch)
    assert (got.view(np.uint64) & 0xFFFFFFFF == 0).all()
    assert np.allclose(got * x, 1, rtol=2**-19, atol=0)


def test_every_function_is_tested() -> None:
    tested = set(REALS) | set(EXACT) | set(SEVERAL) | {"mul24", "mulhi", "rcp64h"}
    names = set(load_json("api.json")["modules"]["triton.language.extra.cuda.libdevice"])
    assert {name for name, _, _ in overloads()} == names - {"fast_tanhf"}
    assert names - {"fast_tanhf"} <= tested
    assert gamma(mpf(5)) == 24
