"""Legitimate differences give no false alarm: other orders of sums and atomics, other roundings of functions."""

import pytest
from legitimate_kernels import CASES
from other_backends import Correct, Rewritten, last_first
from tiletwin import diff
from tiletwin.diff import triton_process

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
    import numpy as np
    from tiletwin.diff import bounds, launches

    kernel, grid, args = CASES["softmax"]()
    compiled = kernel._launcher.prepare(**args)
    launch, _ = launches.take(kernel, compiled, args, grid)
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

    import numpy as np
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
