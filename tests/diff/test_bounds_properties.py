"""Bounds hold: random kernels give no false alarm when they round in other ways that are right; and bounds are tight:
what rounds by more than is right is found. The same of libdevice's functions, whose errors CUDA's tables give.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import noisy_kernels
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from noisy_kernels import Noisy, arguments
from other_backends import Correct
from tiletwin import diff
from tiletwin.diff.backends import ON_GPU, InterpBackend

KERNELS = 24
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))]


def compared(kernel: Any, args: list, other: Any) -> diff.Report:
    return diff.compare(kernel, (1,), args, backends=["interp", other], localise=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_right_runs_of_random_kernels_are_the_same(tmp_path: Path, seed: int) -> None:
    """Functions that are off by what they may be; every operation correctly rounded, with sums in f64."""
    made, within, unknown = noisy_kernels.module(tmp_path, KERNELS, seed), 0, 0
    for number in range(KERNELS):
        for other in (Noisy(number), Correct()):
            report = compared(getattr(made, f"random_{number}"), arguments(number), other)
            assert report.verdict != diff.DIFFERENT, report
            within += sum(row.within for row in report.rows)
            unknown += sum(row.not_comparable for row in report.rows)  # a quotient by what may be 0, after large steps
    assert within > 1000 and unknown < within / 10, (within, unknown)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_compiled_random_kernels_are_the_same(tmp_path: Path, seed: int) -> None:
    made = noisy_kernels.module(tmp_path, KERNELS, seed)
    for number in range(KERNELS):
        report = compared(getattr(made, f"random_{number}"), arguments(number), "sim")
        assert report.verdict != diff.DIFFERENT, report


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_what_rounds_by_more_is_found(tmp_path: Path, seed: int) -> None:
    """One function of a kernel is off by 2^-11, less than a step of bf16: in most kernels that shows."""
    made, found = noisy_kernels.module(tmp_path, KERNELS, seed), 0
    for number in range(KERNELS):
        report = compared(getattr(made, f"random_{number}"), arguments(number), Noisy(number, grossly=True))
        found += report.verdict == diff.DIFFERENT
    assert found >= KERNELS / 3, found


# ---- tf32: the least that shows a step ----


@triton.jit
def product_after_exp(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + i, tl.dot(tl.exp(tl.load(x + i)), tl.load(y + i)))


def near_steps(rng: np.random.Generator) -> np.ndarray:
    """Numbers whose exponentials lie just above steps of tf32: one unit less makes them fall by 2^-10."""
    steps = (1 + rng.integers(1, 1 << 10, (16, 16)) * 2.0**-10) * (1 + 2.0**-24)
    return np.log(steps).astype(np.float32)


def test_a_step_of_tf32_is_no_difference() -> None:
    rng = np.random.default_rng(0)
    args = [near_steps(rng), rng.standard_normal((16, 16)).astype(np.float32), np.zeros((16, 16), np.float32), 16]
    reports = [compared(product_after_exp, args, Noisy(seed)) for seed in range(4)]
    assert all(report.verdict == diff.SAME for report in reports), reports[0]
    apart = [float(np.abs(np.subtract(*row.values)).max()) for report in reports for row in report.rows if row.values]
    assert max(apart) > 2.0**-11, "no step was crossed"


def test_the_bound_of_tf32_counts_steps_only_where_they_are() -> None:
    """Of numbers in the middle between two steps none can fall to another one."""
    rng = np.random.default_rng(0)
    middle = (1 + (rng.integers(0, 1 << 10, (16, 16)) + 0.5) * 2.0**-10).astype(np.float32)
    args = [np.log(middle), np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32), 16]
    wrong = compared(product_after_exp, args, Off(1e-5))
    assert wrong.verdict == diff.DIFFERENT, wrong


class Off(InterpBackend):
    """The interpreter, with results of f32 that are off by a factor."""

    name = "off"

    def __init__(self, by: float) -> None:
        self.by = by

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        for number, data in enumerate(outcome.memory):
            if not np.array_equal(data, launch.memory[number]):
                data.view(np.float32)[:] *= np.float32(1 + self.by)
        return dataclasses.replace(outcome, backend=self.name)


# ---- libdevice ----


ONE = (
    "acos acosh asin asinh atan atanh cbrt cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcinv erfcx "
    "erfinv exp exp10 exp2 expm1 fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf "
    "fast_tanf j0 j1 lgamma log log10 log1p log2 normcdf normcdfinv rcbrt rsqrt sin sinh sinpi sqrt tan tanh "
    "tgamma y0 y1 "
).split()
SAMPLE = "erfinv fast_expf fast_sinf fast_tanf j0 j1 lgamma tgamma y0 y1".split()
TWO = "atan2 fast_dividef fdim fmod hypot pow remainder rhypot".split()
RANGES = {"[-12, 12]": np.linspace(-12, 12, 4096), "[-1, 1]": np.linspace(-1, 1, 4096),
          "large": np.geomspace(12, 3000, 4096)}  # fmt: skip


def same_on_the_simulator(kernel: Any, args: list) -> None:
    with np.errstate(all="ignore"):
        report = compared(kernel, args, "sim")
    if report.verdict == diff.NOT_COMPARABLE:  # numbers of f64 beyond f32, which bounds are
        row = report.rows[-1]
        unknown = row.values[0][row.verdicts == 3]
        assert unknown.dtype == np.float64 and (np.abs(unknown) > np.finfo(np.float32).max).all(), report
    else:
        assert report.verdict == diff.SAME, report


@pytest.mark.parametrize("kind", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.slow) for name in ONE]
)
def test_functions_of_libdevice(tmp_path: Path, name: str, kind: type) -> None:
    if kind is np.float64 and name.startswith("fast_"):
        pytest.skip("a function of f32")
    kernel = getattr(noisy_kernels.functions(tmp_path, [name], 1), name)
    for numbers in RANGES.values():
        x = numbers.astype(kind)
        same_on_the_simulator(kernel, [x, np.zeros_like(x), x.size])


@pytest.mark.parametrize("name", ["fast_powf", *(pytest.param(name, marks=pytest.mark.slow) for name in TWO)])
def test_functions_of_two_numbers(tmp_path: Path, name: str) -> None:
    kernel = getattr(noisy_kernels.functions(tmp_path, [name], 2), name)
    rng = np.random.default_rng(0)
    for size in (1, 12):
        x, y = (rng.uniform(-size, size, (2, 4096))).astype(np.float32)
        if "pow" in name:
            x = np.abs(x)
        same_on_the_simulator(kernel, [x, y, np.zeros_like(x), x.size])


@pytest.mark.parametrize("name", ["fast_sinf", "fast_expf", "lgamma", "j0", "y1", "fast_powf"])
def test_bounds_of_functions_are_not_loose(tmp_path: Path, name: str) -> None:
    """Results that are off by 1e-4 are outside of them."""
    x = np.random.default_rng(0).uniform(1, 6, 4096).astype(np.float32)
    inputs = [x, x[::-1].copy()] if "pow" in name else [x]
    kernel = getattr(noisy_kernels.functions(tmp_path, [name], len(inputs)), name)
    report = compared(kernel, [*inputs, np.zeros_like(x), x.size], Off(1e-4))
    assert report.verdict == diff.DIFFERENT and report.rows[-1].different > 0.9 * x.size, report


# ---- sums that overflow in one order and not in another ----


@triton.jit
def sums(x, o, p, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o, tl.sum(v))
    tl.store(p + i, tl.cumsum(v))


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("far", [True, False])
def test_sums_that_may_overflow(kind: type, far: bool) -> None:
    """Largest numbers of both signs: infinite from one end, zero from the other, NaN by halves."""
    x = np.zeros(16, kind)
    x[[0, 1, 14, 15]] = np.array([1, 1, -1, -1]) * np.finfo(kind).max / (1 if far else 8)
    report = compared(sums, [x, np.zeros(1, kind), np.zeros_like(x), 16], NoNumber())
    assert report.verdict == (diff.NOT_COMPARABLE if far else diff.DIFFERENT), report


class NoNumber(InterpBackend):
    name = "no number"

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        for data in outcome.memory[1:]:
            data[:] = 0xFF
        return dataclasses.replace(outcome, backend=self.name)


# ---- roots of numbers that a GPU takes for zeros ----


@triton.jit
def roots(x, o, p, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, tl.sqrt(v))
    tl.store(p + i, tl.rsqrt(v))


TINY = np.finfo(np.float32).tiny
SUBNORMAL = np.array([TINY / 2, 1e-45, -1e-45, -TINY / 2], np.float32)


def test_roots_of_subnormal_numbers() -> None:
    """A GPU's units take them for zeros: sqrt may be 0 or the root; of rsqrt and of negative ones nothing is known."""
    x = np.concatenate([SUBNORMAL, [TINY, 4, 0, -1]]).astype(np.float32)
    report = compared(roots, [x, np.zeros_like(x), np.zeros_like(x), x.size], "sim")
    _, root, reciprocal = report.rows
    assert report.verdict == diff.NOT_COMPARABLE and (root.values[1][:2] == 0).all(), report
    assert (root.within, root.not_comparable, reciprocal.not_comparable) == (2, 2, 4), report


@pytest.mark.parametrize("name, given", [("cbrt", np.isnan), ("expm1", np.logical_not)])
def test_libdevice_of_subnormal_numbers(tmp_path: Path, name: str, given: Any) -> None:
    """NVIDIA's cbrt of numbers that it takes for zeros is NaN, expm1 is 0; of normal numbers both are what they are."""
    x = np.concatenate([SUBNORMAL, [TINY, 4, 0, -1]]).astype(np.float32)
    kernel = getattr(noisy_kernels.functions(tmp_path, [name], 1), name)
    row = compared(kernel, [x, np.zeros_like(x), x.size], "sim").rows[-1]
    assert row.not_comparable == 4 and not row.different and given(row.values[1][:4]).all(), row


class ZerosOfAGpu(Off):
    traits = ON_GPU  # type: ignore[assignment]


@pytest.mark.parametrize("number, wrong", [(TINY, True), (4.0, True), (float(SUBNORMAL[0]), False)])
def test_roots_of_normal_numbers_are_not_zero(number: float, wrong: bool) -> None:
    x = np.full(8, number, np.float32)
    report = compared(roots, [x, np.zeros_like(x), np.zeros_like(x), x.size], ZerosOfAGpu(-1))
    assert (report.rows[1].verdict == diff.DIFFERENT) == wrong, report
