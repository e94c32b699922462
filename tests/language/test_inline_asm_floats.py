"""Inline PTX on floats, against NumPy and mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from floating import F32, rounded
from inline_asm_inputs import both_modes, inputs
from mpmath import mp, mpf


def flush(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)


def directed(mode: str, exact: Callable[..., mpf]) -> Callable[..., np.ndarray]:
    """f32, rounded by mpmath; NaN and infinities by NumPy's rules for the same operation."""

    def function(*columns: np.ndarray) -> np.ndarray:
        out = []
        for row in zip(*[c.tolist() for c in columns], strict=True):
            if all(math.isfinite(v) for v in row):
                with mp.workprec(900):
                    out.append(rounded(exact(*map(mpf, row)), F32, mode))
            else:
                out.append(None)
        return np.array(out, dtype=object)

    return function


def numpy1(f: Callable[..., Any]) -> Callable[..., np.ndarray]:
    def function(*columns: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(f(*columns))

    return function


def maximum_number(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a) & np.signbit(b), a, np.abs(a)), np.fmax(a, b))


def in_f64(f: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Computed in f64 and rounded to the first argument's type."""
    return numpy1(lambda *c: np.asarray(f(*[x.astype(np.float64) for x in c])).astype(c[0].dtype))


# (text, constraints, argument types, result type, reference on arrays (None: not compared), largest error in ULP)
FLOATS: list[tuple[str, str, str, str, Callable[..., np.ndarray], int]] = [
    ("add.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(np.add), 0),
    ("add.ftz.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(lambda a, b: flush(flush(a) + flush(b))), 0),
    ("add.rz.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", directed("rz", lambda a, b: a + b), 0),
    ("mul.rm.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", directed("rd", lambda a, b: a * b), 0),
    ("fma.rp.f32 $0, $1, $2, $3;", "=f,f,f,f", "fp32 fp32 fp32", "fp32", directed("ru", lambda a, b, c: a * b + c), 0),
    ("fma.rn.f32 $0, $1, $2, $3;", "=f,f,f,f", "fp32 fp32 fp32", "fp32", directed("rn", lambda a, b, c: a * b + c), 0),
    ("sub.rn.f64 $0, $1, $2;", "=d,d,d", "fp64 fp64", "fp64", numpy1(np.subtract), 0),
    ("mul.f64 $0, $1, 0d4004000000000000;", "=d,d", "fp64", "fp64", numpy1(lambda a: a * 2.5), 0),
    ("mul.f32 $0, $1, 0f40200000;", "=f,f", "fp32", "fp32", numpy1(lambda a: a * np.float32(2.5)), 0),
    ("mul.f32 $0, $1, -2.5;", "=r,r", "fp32", "fp32", numpy1(lambda a: a * np.float32(-2.5)), 0),
    ("mul.sat.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32",
     numpy1(lambda a, b: np.where(np.isnan(a * b), np.float32(0), np.clip(a * b, 0, 1)) + np.float32(0)), 0),
    ("div.rn.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(np.divide), 0),
    ("div.full.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(np.divide), 2),
    ("rcp.approx.ftz.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(lambda a: flush(np.float32(1) / flush(a))), 1),
    ("rcp.rn.f64 $0, $1;", "=d,d", "fp64", "fp64", numpy1(lambda a: 1 / a), 0),
    ("sqrt.rn.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.sqrt), 0),
    ("sqrt.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.sqrt), 1),
    ("rsqrt.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(lambda a: 1 / np.sqrt(a)), 1),
    ("ex2.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.exp2), 1),
    ("ex2.approx.ftz.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(lambda a: flush(np.exp2(a.astype(np.float64)).astype(np.float32))), 1),
    ("lg2.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.log2), 1),
    ("sin.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.sin), 1),
    ("cos.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.cos), 1),
    ("tanh.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.tanh), 1),
    ("abs.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.abs), 0),
    ("neg.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.negative), 0),
    ("max.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(maximum_number), 0),
    ("max.NaN.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32",
     numpy1(lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), maximum_number(a, b))), 0),
    ("min.f64 $0, $1, $2;", "=d,d,d", "fp64 fp64", "fp64", numpy1(lambda a, b: -maximum_number(-a, -b)), 0),
    ("copysign.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(lambda a, b: np.copysign(b, a)), 0),
    ("add.f16 $0, $1, $2;", "=h,h,h", "fp16 fp16", "fp16", numpy1(np.add), 0),
    ("mul.rn.f16 $0, $1, $2;", "=h,h,h", "fp16 fp16", "fp16", numpy1(np.multiply), 0),
    ("fma.rn.f16 $0, $1, $2, $3;", "=h,h,h,h", "fp16 fp16 fp16", "fp16", in_f64(lambda a, b, c: a * b + c), 0),
    ("fma.rn.relu.f16 $0, $1, $2, $3;", "=h,h,h,h", "fp16 fp16 fp16", "fp16",
     in_f64(lambda a, b, c: np.maximum(a * b + c, 0) + 0.0), 0),
    ("fma.rn.sat.f16 $0, $1, $2, $3;", "=h,h,h,h", "fp16 fp16 fp16", "fp16",
     in_f64(lambda a, b, c: np.nan_to_num(np.clip(a * b + c, 0, 1)) + 0.0), 0),
    ("min.f16 $0, $1, $2;", "=h,h,h", "fp16 fp16", "fp16", numpy1(lambda a, b: -maximum_number(-a, -b)), 0),
    ("ex2.approx.f16 $0, $1;", "=h,h", "fp16", "fp16", in_f64(np.exp2), 1),
    ("tanh.approx.f16 $0, $1;", "=h,h", "fp16", "fp16", in_f64(np.tanh), 1),
    ("cvt.f32.f16 $0, $1;", "=f,h", "fp16", "fp32", numpy1(lambda a: a.astype(np.float32)), 0),
    ("cvt.rn.f16.f32 $0, $1;", "=h,f", "fp32", "fp16", numpy1(lambda a: a.astype(np.float16)), 0),
    ("cvt.f64.f32 $0, $1;", "=d,f", "fp32", "fp64", numpy1(lambda a: a.astype(np.float64)), 0),
    ("cvt.rn.f32.f64 $0, $1;", "=f,d", "fp64", "fp32", numpy1(lambda a: a.astype(np.float32)), 0),
    ("cvt.rp.f32.f64 $0, $1;", "=f,d", "fp64", "fp32", directed("ru", lambda a: a), 0),
    ("cvt.rni.f32.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.rint), 0),
    ("cvt.rmi.f64.f64 $0, $1;", "=d,d", "fp64", "fp64", numpy1(np.floor), 0),
    ("cvt.rpi.f32.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.ceil), 0),
    ("cvt.rzi.f16.f16 $0, $1;", "=h,h", "fp16", "fp16", numpy1(np.trunc), 0),
    ("cvt.sat.f32.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(lambda a: np.nan_to_num(np.clip(a, 0, 1)) + np.float32(0)), 0),
    ("cvt.rn.f32.s32 $0, $1;", "=f,r", "i32", "fp32", numpy1(lambda a: a.astype(np.float32)), 0),
    ("cvt.rn.f32.u64 $0, $1;", "=f,l", "u64", "fp32", numpy1(lambda a: a.astype(np.float32)), 0),
    ("cvt.rz.f32.s32 $0, $1;", "=f,r", "i32", "fp32", directed("rz", lambda a: a), 0),
    ("cvt.rm.f32.u32 $0, $1;", "=f,r", "u32", "fp32", directed("rd", lambda a: a), 0),
    ("cvt.rn.f64.s64 $0, $1;", "=d,l", "i64", "fp64", numpy1(lambda a: a.astype(np.float64)), 0),
    ("cvt.rn.f16.s16 $0, $1;", "=h,h", "i16", "fp16", numpy1(lambda a: a.astype(np.float16)), 0),
    ("set.gtu.f32.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(lambda a, b: (~(a <= b)).astype(np.float32)), 0),
    ("{ .reg .pred p; setp.leu.f32 p, $1, $2; selp.f32 $0, $1, $2, p; }", "=f,f,f", "fp32 fp32", "fp32",
     numpy1(lambda a, b: np.where(~(a > b), a, b)), 0),
    ("{ .reg .pred p; setp.num.f32 p, $1, $2; selp.f32 $0, 1.0, 0.0, p; }", "=f,f,f", "fp32 fp32", "fp32",
     numpy1(lambda a, b: (~(np.isnan(a) | np.isnan(b))).astype(np.float32)), 0),
    ("{ .reg .pred p; testp.subnormal.f32 p, $1; selp.f32 $0, 1.0, 0.0, p; }", "=f,f", "fp32", "fp32",
     numpy1(lambda a: ((a != 0) & (np.abs(a) < np.finfo(np.float32).tiny)).astype(np.float32)), 0),
    ("slct.f32.f32 $0, $1, $2, $3;", "=f,f,f,f", "fp32 fp32 fp32", "fp32", numpy1(lambda a, b, c: np.where(c >= 0, a, b)), 0),
]  # fmt: skip


def steps(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Distance in representable values; 0 for NaN with NaN; signs of zeros count."""
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[got.dtype.itemsize]

    def line(x: np.ndarray) -> np.ndarray:
        raw = x.view(bits).astype(object)
        return np.where(raw < 0, -(raw + (1 << (got.dtype.itemsize * 8 - 1))) - 1, raw)

    both = np.isnan(got) & np.isnan(want)
    return np.where(both, 0, np.abs(line(got) - line(want)))


@pytest.mark.parametrize(
    ("text", "registers", "kinds", "result", "reference", "ulp"), FLOATS, ids=[row[0] for row in FLOATS]
)
def test_floats(
    text: str, registers: str, kinds: str, result: str, reference: Any, ulp: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = kinds.split()
    arguments = [inputs(kind, 256, seed) for seed, kind in enumerate(names)]
    got = both_modes(monkeypatch, text, registers, arguments, names, result, 1)
    want = reference(*arguments)
    compared = np.array([w is not None for w in want.tolist()])
    assert compared.sum() > 100
    exact = want[compared].astype(got.dtype)
    off = steps(got[compared], exact)
    zeros = (
        (got[compared] == 0) & (exact == 0) if want.dtype == object else np.zeros(compared.sum(), bool)
    )  # sign: not kept
    bad = np.flatnonzero((off > ulp) & ~zeros)
    rows = [a[compared] for a in arguments]
    assert not len(bad), [(*(r[i] for r in rows), got[compared][i], exact[i]) for i in bad[:5]]


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize(
    ("to", "letter"), [("s32", "r"), ("u32", "r"), ("s64", "l"), ("u64", "l"), ("s16", "h"), ("u8", "h")]
)
@pytest.mark.parametrize(("source", "source_letter"), [("fp32", "f"), ("fp64", "d"), ("fp16", "h")])
def test_float_to_integer(
    mode: str, to: str, letter: str, source: str, source_letter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bits, low = int(to[1:]), -(1 << (int(to[1:]) - 1)) if to[0] == "s" else 0
    high = low + (1 << bits) - 1
    result = {"r": to[0] + "32", "l": to[0] + "64", "h": to[0] + "16"}[letter].replace("s", "i")
    x = inputs(source, 256, 3)
    more = np.array([2.0**31, -(2.0**31), 2.0**63, 1e30, -1e30, 127.5, 255.5, 32767.5, -0.5])
    with np.errstate(over="ignore"):
        x[20 : 20 + len(more)] = more.astype(x.dtype)
    name = {"fp32": "f32", "fp64": "f64", "fp16": "f16"}[source]
    got = both_modes(
        monkeypatch, f"cvt.{mode}.{to}.{name} $0, $1;", f"={letter},{source_letter}", [x], [source], result, 1
    )
    rounding = {"rni": lambda v: int(np.rint(v)), "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode]
    for value, mine in zip(x.tolist(), got.tolist(), strict=True):
        if math.isnan(value):
            wide = bits == 64 or source == "fp64"
            want = -(1 << (bits - 1)) if wide else 0
        elif math.isinf(value):
            want = high if value > 0 else low
        else:
            want = min(max(rounding(value), low), high)
        assert (mine - want) % (1 << bits) == 0, (value, mine, want)


QUESTIONS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "finite": lambda x, tiny: np.isfinite(x),
    "infinite": lambda x, tiny: np.isinf(x),
    "number": lambda x, tiny: ~np.isnan(x),
    "notanumber": lambda x, tiny: np.isnan(x),
    "normal": lambda x, tiny: (x == 0) | (np.isfinite(x) & (np.abs(x) >= tiny)),
    "subnormal": lambda x, tiny: (x != 0) & (np.abs(x) < tiny),
}
"""What testp asks. Zeros count as normal numbers."""


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    ("kind", "name", "letter", "words", "digits"),
    [("fp32", "f32", "f", np.uint32, 23), ("fp64", "f64", "d", np.uint64, 52)],
)
def test_questions(
    question: str, kind: str, name: str, letter: str, words: Any, digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On both sides of every limit between two classes of numbers, with both signs."""
    bits = 8 * np.dtype(words).itemsize
    infinity, least = (1 << bits - 1) - (1 << digits), 1 << digits
    one = infinity - (1 << bits - 2)
    sizes = [0, 1, 2, least // 2, least - 1, least, least + 1, one, one + 1, infinity - 1, infinity]
    sizes += [infinity + 1, infinity + least // 2, infinity + least - 1]
    edges = np.array([size | sign << bits - 1 for sign in (0, 1) for size in sizes], dtype=words)
    drawn = np.random.default_rng(7).integers(0, 2**bits, 256 - len(edges), dtype=words)
    x = np.concatenate([edges, drawn]).view(np.float32 if kind == "fp32" else np.float64)
    text = f"{{ .reg .pred p; testp.{question}.{name} p, $1; selp.u32 $0, 1, 0, p; }}"
    got = both_modes(monkeypatch, text, f"=r,{letter}", [x], [kind], "u32", 1)
    want = QUESTIONS[question](x, np.finfo(x.dtype).tiny)
    bad = np.flatnonzero(got != want)
    assert not len(bad), [(hex(x.view(words)[i]), got[i], want[i]) for i in bad[:5]]


def flushed_quotient(a: float, b: float, upward: bool) -> float:
    """Rounded to 24 bits first, then zero where that lies below 2^-126."""
    exact, exponent = Fraction(a) / Fraction(b), math.frexp(a / b)[1] - 24
    scaled = exact / Fraction(2) ** exponent
    value = Fraction(math.ceil(scaled) if upward else math.floor(scaled)) * Fraction(2) ** exponent
    return float(value) if abs(value) >= Fraction(2) ** -126 else math.copysign(0.0, a / b)


@pytest.mark.parametrize("mode", ["rm", "rp"])
def test_flushed_quotients_below_the_least_normal_number(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    b = (np.exp2(random.integers(0, 60, 256)) * random.uniform(1, 2, 256)).astype(np.float32)
    near = (b.astype(np.float64) * 2.0**-126).astype(np.float32).view(np.int32) + random.integers(-2, 3, 256)
    a = near.astype(np.int32).view(np.float32) * random.choice(np.float32([-1, 1]), 256)
    got = both_modes(
        monkeypatch, f"div.{mode}.ftz.f32 $0, $1, $2;", "=f,f,f", [flush(a), b], ["fp32", "fp32"], "fp32", 1
    )
    rows = list(zip(flush(a).tolist(), b.tolist(), strict=True))
    want = np.float32([flushed_quotient(x, y, mode == "rp") if x else x for x, y in rows])
    assert (np.abs(want) == 2.0**-126).any() and (want == 0).any()
    assert not steps(got, want).any()
    x = np.float32(2.0**126) + np.arange(256, dtype=np.float32) * np.float32(2.0**103)
    x = x * random.choice(np.float32([-1, 1]), 256)
    got = both_modes(monkeypatch, f"rcp.{mode}.ftz.f32 $0, $1;", "=f,f", [x], ["fp32"], "fp32", 1)
    want = np.float32([flushed_quotient(1.0, y, mode == "rp") for y in x.tolist()])
    assert not steps(got, want).any()
