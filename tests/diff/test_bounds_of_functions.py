"""Functions, and PTX in inline assembly, that a GPU computes by approximate units: what they may be off is no
difference, more is one, and where nothing is known nothing is judged.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import diff
from tiletwin.diff import triton_process
from tiletwin.diff.backends import ON_GPU, InterpBackend
from tiletwin.language.extra import libdevice

TRITON = pytest.param("triton:sim", marks=pytest.mark.skipif(triton_process.python() is None, reason="no real Triton"))


class Off(InterpBackend):
    """The interpreter with a GPU's freedom, whose last argument is off by a factor."""

    name = "off"
    traits = ON_GPU  # type: ignore[assignment]

    def __init__(self, by: float) -> None:
        self.by = by

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        *_, (_, array) = launch.arrays()
        kind = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}[array.type]
        outcome.memory[array.storage].view(kind)[:] *= kind(1 + self.by)
        return dataclasses.replace(outcome, backend=self.name)


@triton.jit
def of_one(x, o, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, F(tl.load(x + i)))


@triton.jit
def of_two(x, y, o, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, F(tl.load(x + i), tl.load(y + i)))


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def judged(function: Any, inputs: list[np.ndarray], other: Any, kind: Any = np.float32) -> Any:
    """The row of the results, and the report if that is wanted."""
    size = inputs[0].size
    kernel = of_one if len(inputs) == 1 else of_two
    with np.errstate(all="ignore"):
        report = diff.compare(kernel, (1,), [*inputs, np.zeros(size, kind), function, size], backends=["interp", other],
                              localise=False)  # fmt: skip
    return report.rows[-1]


POLES = {
    "powf": (libdevice.fast_powf, [floats(0, -0.0, -2, 1, np.inf, 1, 2, 9), floats(0, -1, 3, np.inf, 0, 1, 3, 0.5)], 5),
    "tanf": (libdevice.fast_tanf, [floats(2**24, 1, 2, 3)], 1),
    "dividef": (libdevice.fast_dividef, [floats(np.inf, 1, -3, 5), floats(3.4e38, 4, 3, np.inf)], 1),
}  # fmt: skip


@pytest.mark.parametrize("name", POLES)
@pytest.mark.parametrize("backend", ["sim", TRITON])
def test_where_nothing_is_known(name: str, backend: str) -> None:
    """The simulator's units give NaN or infinity there. Of the other numbers the results are judged."""
    function, inputs, most = POLES[name]
    row = judged(function, inputs, backend)
    assert not row.different and 1 <= row.not_comparable <= most, row
    wrong = judged(function, inputs, Off(1e-3))
    assert wrong.different >= 1, wrong


def test_powers_at_the_end_of_the_range() -> None:
    """One side may overflow; beyond, both are infinite or zero, and judged."""
    x = floats(*np.linspace(2**31.99, 2**32.01, 62), 2.0**40, 2.0**-40)
    for function, y in ((libdevice.fast_powf, np.full(64, 4, np.float32)), (libdevice.pow, np.full(64, 4, np.int32))):
        row = judged(function, [x, y], "sim")
        assert not row.different and row.verdicts is not None and not row.verdicts[62:].any(), row
        infinite = judged(function, [x, y], Infinite())
        assert infinite.verdicts[62:].tolist() == [0, 2] and (infinite.verdicts[:62] != 2).all(), infinite


def test_products_of_a_huge_exponent() -> None:
    """2^(y log2 x) of a logarithm that is off by 2^-22: with y it grows to a part of the result, and beyond."""
    x = (1 + np.linspace(-1, 1, 256) * 2**-16).astype(np.float32)
    y = np.geomspace(1, 2.0**21, 256).astype(np.float32)
    row = judged(libdevice.fast_powf, [x, y], "sim")
    assert not row.different and not row.not_comparable and row.within > 100, row
    wrong = judged(libdevice.fast_powf, [x, y], Off(-0.75))
    assert wrong.different > 230 and not wrong.not_comparable, wrong
    near = judged(libdevice.fast_powf, [floats(*np.linspace(1.5, 3, 16)), floats(*np.linspace(-2, 2, 16))], Off(1e-5))
    assert near.different >= 15, near


@pytest.mark.parametrize("kind, off", [(np.float32, 4e-6), (np.float64, 1e-14)])
def test_whole_powers(kind: type, off: float) -> None:
    """They are products of products: each is rounded."""
    rng = np.random.default_rng(0)
    x = (rng.uniform(0.3, 1.5, 512) * rng.choice([-1, 1], 512)).astype(kind)
    n = rng.integers(-31, 32, 512).astype(np.int32)
    x[0], n[0] = -1.4470255, 31
    row = judged(libdevice.pow, [x, n], "sim", kind)
    assert not row.different and not row.not_comparable and row.within > 50, row
    wrong = judged(libdevice.pow, [x, n], Off(off), kind)
    assert wrong.different > 400, wrong


def test_a_reciprocal_of_twenty_bits() -> None:
    x = np.geomspace(0.01, 9.3e18, 256)
    row = judged(libdevice.rcp64h, [x], "sim", np.float64)
    assert not row.different and not row.not_comparable and row.within, row
    assert judged(libdevice.rcp64h, [x], Off(1e-5), np.float64).different == 256


# ---- inline assembly ----


@triton.jit
def assembly(x, o, TEXT: tl.constexpr, SIGNS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.inline_asm_elementwise(TEXT, SIGNS, [tl.load(x + i)], o.dtype.element_ty, True, 1))


@triton.jit
def assembly_of_two(x, y, o, TEXT: tl.constexpr, SIGNS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(
        o + i, tl.inline_asm_elementwise(TEXT, SIGNS, [tl.load(x + i), tl.load(y + i)], o.dtype.element_ty, True, 1)
    )


def assembled(text: str, other: Any, kind: Any = np.float32, result: Any = None, scale: float = 1) -> Any:
    x = np.random.default_rng(0).uniform(0.1, 3, 64).astype(kind)
    sign = {np.float16: "h", np.float32: "f", np.float64: "d", np.int32: "r", np.int16: "h"}
    inputs, kernel = ([x, x[::-1].copy()], assembly_of_two) if "$2" in text else ([x], assembly)
    signs = ",".join([f"={sign[result or kind]}", *[sign[kind]] * len(inputs)])
    args = [*inputs, np.zeros(64, result or kind), text, signs, 64]
    return diff.compare(kernel, (1,), args, backends=["interp", other], localise=False).rows[-1]


# An instruction, and what is more than it may be off.
SINGLE = {
    "ex2.approx.f32": 2e-6, "ex2.approx.ftz.f32": 2e-6, "lg2.approx.f32": 1e-3, "lg2.approx.ftz.f32": 1e-3,
    "sqrt.approx.f32": 2e-6, "rsqrt.approx.f32": 2e-6, "rsqrt.approx.ftz.f32": 2e-6, "rcp.approx.f32": 2e-6,
    "rcp.approx.ftz.f32": 2e-6, "sin.approx.f32": 1e-3, "cos.approx.ftz.f32": 1e-3, "tanh.approx.f32": 3e-3,
    "div.approx.f32": 2e-6, "div.full.f32": 2e-6, "div.full.ftz.f32": 2e-6,
}  # fmt: skip


@pytest.mark.parametrize("name", SINGLE)
def test_a_single_approximate_instruction(name: str) -> None:
    text = f"{name} $0, $1, $2;" if name.startswith("div") else f"{{ {name} $0, $1; }}"
    row = assembled(text, "sim")
    assert not row.different and not row.not_comparable and row.within, row
    wrong = assembled(text, Off(SINGLE[name]))
    assert wrong.different > 48, wrong


@pytest.mark.parametrize("name", ["ex2.approx.f16", "tanh.approx.f16"])
def test_approximate_instructions_of_small_floats(name: str) -> None:
    row = assembled(f"{name} $0, $1;", "sim", np.float16)
    assert not row.different and not row.not_comparable, row
    assert assembled(f"{name} $0, $1;", Off(0.02), np.float16).different > 48


@pytest.mark.parametrize("text, result", [
    ("{ .reg .f32 t; ex2.approx.f32 t, $1; mul.f32 $0, t, t; }", np.float32),
    ("{ .reg .f32 t; lg2.approx.f32 t, $1; cvt.rni.s32.f32 $0, t; }", np.int32),
    ("{ .reg .f32 t; div.full.f32 t, $1, 0f40400000; mov.b32 $0, t; }", np.int32),
])  # fmt: skip
def test_longer_texts_with_an_approximate_instruction_are_not_judged(text: str, result: Any) -> None:
    row = assembled(text, Broken(), np.float32, result)
    assert not row.different and row.not_comparable == 64, row
    assert "an operation of which no bound is known (tt.elementwise_inline_asm)" in row.reason


def test_other_assembly_is_judged_to_the_bit() -> None:
    row = assembled("{ .reg .f32 t; mul.rn.f32 t, $1, $1; sqrt.rn.f32 $0, t; }", Off(2e-7))
    assert row.different > 48, row


@triton.jit
def to_integers(x, o, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, F(tl.load(x + i)))


@pytest.mark.parametrize("name, kind", [("float2int_ru", np.int32), ("float2ll_rd", np.int64), ("ilogb", np.int32)])
def test_integers_of_tiny_numbers_are_not_judged_and_others_are(name: str, kind: Any) -> None:
    x = np.array([1e-40, -1e-40, 1.5, -2.5, 1e-37, 0, 100, 3], np.float32)
    args = [x, np.zeros(8, kind), getattr(libdevice, name), 8]
    report = diff.compare(to_integers, (1,), args, backends=["interp", "sim"])
    assert report.verdict != diff.DIFFERENT, report
    row = diff.compare(to_integers, (1,), args, backends=["interp", Broken()]).rows[-1]
    assert row.different == 6 and row.not_comparable == 2, row


class Broken(InterpBackend):
    """A GPU that has written something else everywhere."""

    name = "broken"
    traits = ON_GPU  # type: ignore[assignment]

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        *_, (_, array) = launch.arrays()
        outcome.memory[array.storage][:] = 0x55
        return dataclasses.replace(outcome, backend=self.name)


class Infinite(Off):
    """A GPU whose results are all infinite."""

    def __init__(self) -> None:
        super().__init__(0)

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        *_, (_, array) = launch.arrays()
        outcome.memory[array.storage].view(np.float32)[:] = np.inf
        return outcome
