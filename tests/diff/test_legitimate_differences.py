"""Legitimate differences give no false alarm: other orders of sums and atomics, other roundings of functions."""

import re

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from legitimate_kernels import CASES
from other_backends import Correct, Rewritten, last_first
from tiletwin import diff
from tiletwin.diff import bounds, taking, triton_process
from tiletwin.language.extra import libdevice

NEEDS_TRITON = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)
ONE_PROGRAM = {"both_axes"}
# Real Triton's interpreter is wrong there (test_real_triton.py).
WRONG_IN_TRITON = {"to_fp8"}


def compared(name, other):
    kernel, grid, args = CASES[name]()
    report = diff.compare(kernel, grid, args, backends=["interp", other])
    assert report.verdict == diff.SAME, report
    return report


@pytest.mark.parametrize("name", CASES)
def test_every_operation_correctly_rounded(name):
    compared(name, Correct())


@pytest.mark.parametrize("name", [name for name in CASES if name not in ONE_PROGRAM])
def test_programs_in_another_order(name):
    compared(name, Rewritten(last_first))


@pytest.mark.parametrize("name", CASES)
def test_compiled_code_on_the_simulator(name, monkeypatch):
    """Tensor cores, shuffles, approximate functions, fused products: all within the bounds, and no check speaks."""
    monkeypatch.setenv("TILETWIN_CHECK", "races,uninitialized")
    assert not compared(name, "sim").findings


@NEEDS_TRITON
@pytest.mark.parametrize("name", [name for name in CASES if name not in WRONG_IN_TRITON])
def test_real_triton(name):
    compared(name, "triton")


def test_the_cases_do_differ():
    """Most of them: a comparison of equal bits would prove nothing."""
    differing = {name for name in CASES if any(row.within for row in compared(name, Correct()).rows)}
    differing |= {name for name in CASES if name not in ONE_PROGRAM
                  and any(row.within for row in compared(name, Rewritten(last_first)).rows)}  # fmt: skip
    assert len(CASES) >= 20 and len(differing) >= 12, differing


def test_bounds_are_not_loose():
    """Bounds stay near what happens: in f32 sums of a few hundred terms within some 1e-5 of the numbers' size."""
    from tiletwin.diff import bounds

    kernel, grid, args = CASES["softmax"]()
    compiled = kernel._launcher.prepare(**args)
    launch, _ = taking.take(kernel, compiled, args, grid)
    limits = bounds.derive(launch, bounds.Latitude()).limits[1].reshape(32, 200)
    values = np.exp(args["x"] - args["x"].max(1, keepdims=True))
    values /= values.sum(1, keepdims=True)
    share = limits / values
    assert share.max() < 4e-5 and share.min() > 2**-24


@pytest.mark.parametrize("mistake", [1e-3, 1e-4])
@pytest.mark.parametrize("name", ["softmax", "rms_norm", "cross_entropy", "attention", "matmul_tf32", "layer_norm"])
def test_a_small_mistake_is_no_rounding(name, mistake):
    """Results that are off by 1e-3, 1e-4 in f32, 1e-2 in f16, are outside of their bounds."""
    import dataclasses

    from tiletwin.diff.backends import InterpBackend

    class Off(InterpBackend):
        name = "off"

        def run(self, launch):
            outcome = super().run(launch)
            for _, array in launch.arrays():
                data = outcome.memory[array.storage]
                if np.array_equal(data, launch.memory[array.storage]):
                    continue
                if array.type == "fp32":
                    data.view(np.float32)[:] *= 1 + mistake
                elif array.type == "fp16":
                    data.view(np.float16)[:] *= np.float16(1.01)
            return dataclasses.replace(outcome, backend=self.name)

    kernel, grid, args = CASES[name]()
    report = diff.compare(kernel, grid, args, backends=["interp", Off()], localise=False)
    assert report.verdict == diff.DIFFERENT, report
    assert sum(row.different for row in report.rows) > 0.5 * sum(r.elements - r.equal for r in report.rows), report


@triton.jit
def behind_a_remainder(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    rest = tl.load(x + i) % tl.load(y + i)
    tl.store(o + i, rest)
    tl.store(o + N + i, tl.rsqrt(rest))
    tl.store(o + 2 * N + i, 1.5 / rest)
    tl.store(o + 3 * N + i, tl.div_rn(1.5, rest))
    tl.store(o + 4 * N + i, tl.log(rest))
    tl.store(o + 5 * N + i, libdevice.rcbrt(rest))
    tl.store(o + 6 * N + i, libdevice.pow(rest, -1.0))


def test_poles_at_a_zero_that_may_have_either_sign():
    """-3 % 3 is -0 by fmod and +0 by x - trunc(x / y) y: one over it is an infinity of either sign."""
    x = np.array([-3, 3, 6, -0.75, 1e-30, 5, 7, 9], np.float32)
    y = np.array([3, 3, -2, 0.25, 1e-30, 4, 100, 0.5], np.float32)
    for backend in ("sim", Correct()):
        args = {"x": x, "y": y, "o": np.zeros(56, np.float32), "N": 8}
        with np.errstate(all="ignore"):
            report = diff.compare(behind_a_remainder, (1,), args, backends=["interp", backend])
        assert report.verdict != diff.DIFFERENT, report
    ours = report.rows[-1].values[0]
    assert np.isinf(ours[8:]).any() and np.array_equal(ours[:8], np.fmod(x, y))


@triton.jit
def over_an_exact_zero(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, 1.5 / tl.load(x + i))


def test_a_pole_at_a_zero_that_is_exact_is_judged():
    """The sign of what both sides load is known."""
    x = np.array([0.0, -0.0, 1, 2, 0, -0.0, -1, 4], np.float32)
    quotient = r"(%\w+) = arith.divf (%\w+), (%\w+) :(.*)"
    turned = r"%turned = arith.negf \3 :\4\n \1 = arith.divf \2, %turned :\4"
    other = Rewritten(lambda text: re.sub(quotient, turned, text))
    with np.errstate(all="ignore"):
        report = diff.compare(over_an_exact_zero, (1,), {"x": x, "o": np.zeros(8, np.float32), "N": 8},
                              backends=["interp", other])  # fmt: skip
    assert report.verdict == diff.DIFFERENT and report.rows[-1].different == 8, report


@triton.jit
def product_in_a_function(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, tl.exp2(v * v))


@triton.jit
def product_in_a_loop(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    c = tl.load(x + i) * 0.1
    for _ in range(2):
        c = c + 1.5
    tl.store(o + i, c)


@triton.jit
def product_in_more_places(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    w = (v * 0.3)[:, None] + tl.arange(0, 4)[None, :]
    tl.store(o + i[:, None] * 4 + tl.arange(0, 4)[None, :], w)


@triton.jit
def infinity_by_a_tiny_number(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tiny = tl.erf(tl.load(x + i) * 1e-40)
    tl.store(o + i, tiny * float("inf"))
    tl.store(o + N + i, tl.fma(tiny, tl.full((N,), float("-inf"), tl.float32), 1.0))


@pytest.mark.parametrize("backend", ["sim", Correct(), pytest.param("triton:sim", marks=NEEDS_TRITON)],
                         ids=["sim", "ieee", "triton:sim"])  # fmt: skip
@pytest.mark.parametrize("kernel, kind", [(product_in_a_function, np.float64), (product_in_a_loop, np.float32),
                                          (product_in_more_places, np.float32),
                                          (infinity_by_a_tiny_number, np.float32)])  # fmt: skip
def test_products_that_are_rounded_elsewhere_or_not_at_all(kernel, kind, backend):
    x = np.linspace(-7, 7, 64).astype(kind)
    with np.errstate(all="ignore"):
        report = diff.compare(kernel, (1,), {"x": x, "o": np.zeros(256, kind), "N": 64}, backends=["interp", backend])
    assert report.verdict != diff.DIFFERENT, report


@triton.jit
def product_alone(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) * tl.load(y + i))


def test_a_product_that_is_stored_is_rounded_once():
    x, y = np.random.default_rng(0).standard_normal((2, 64)).astype(np.float32)
    launch = diff.launch_of(product_alone, (1,), {"x": x, "y": y, "o": np.zeros(64, np.float32), "N": 64})
    assert not any(limit.any() for limit in bounds.derive(launch, bounds.Latitude()).limits.values())
