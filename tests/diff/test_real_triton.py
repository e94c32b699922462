"""What real Triton's interpreter does wrong, found by the tester; what it cannot do is not comparable, and counted."""

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import diff
from tiletwin.diff import triton_process

pytestmark = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)


@triton.jit
def to_bf16(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(tl.bfloat16))


@triton.jit
def add_bf16(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, v + v)


@triton.jit
def to_fp8(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(tl.float8e5, bitcast=False).to(tl.float32))


@triton.jit
def largest(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.maximum(tl.load(x + i), tl.load(y + i), propagate_nan=tl.PropagateNan.NONE))


@triton.jit
def assembly(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.inline_asm_elementwise("mul.f32 $0, $1, $1;", "=f,f", [tl.load(x + i)], tl.float32, is_pure=True, pack=1)
    tl.store(o + i, v)


@triton.jit
def with_a_parameter_of_an_options_name(x, o, num_stages: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) * num_stages)


@triton.jit
def converted(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(tl.float8e4nv).to(tl.float8e5).to(tl.float32))


def compared(kernel, args):
    return diff.compare(kernel, (1,), args, backends=["interp", "triton"])


X = np.linspace(-3, 3, 64).astype(np.float32)


def test_conversion_to_bf16_cuts_off():
    report = compared(to_bf16, {"x": X, "o": torch.zeros(64, dtype=torch.bfloat16), "N": 64})
    row = report.first()
    assert report.verdict == diff.DIFFERENT and row.argument == "o" and row.bound == "0", report
    # The truth: rounded to the nearest even. Real Triton drops the low bits.
    truth = torch.from_numpy(X).to(torch.bfloat16).float().numpy()
    cut = (X.view(np.uint32) & 0xFFFF0000).view(np.float32)
    at = row.first
    assert float(row.left) == pytest.approx(float(truth[at]), rel=1e-4)
    assert float(row.right) == pytest.approx(float(cut[at]), rel=1e-4)
    assert row.different == int((truth != cut).sum()) and row.worst_ulp == 1


def test_arithmetic_of_bf16_on_bits():
    x = torch.from_numpy(X).to(torch.bfloat16)
    report = compared(add_bf16, {"x": x, "o": torch.zeros_like(x), "N": 64})
    row = report.first()
    assert report.verdict == diff.DIFFERENT and row.different > 50, report
    assert float(row.left) == pytest.approx(2 * float(x[row.first]), rel=1e-4)


def test_rounding_to_fp8_loses_the_carry():
    report = compared(to_fp8, {"x": X, "o": np.zeros(64, np.float32), "N": 64})
    row = report.first()
    assert report.verdict == diff.DIFFERENT and row.bound == "0", report
    assert float(row.left) == float(torch.from_numpy(X).to(torch.float8_e5m2).float()[row.first])


def test_what_is_right_is_the_same():
    y = np.where(np.arange(64) % 5 == 0, np.nan, X[::-1]).astype(np.float32)
    report = compared(largest, {"x": X, "y": y, "o": np.zeros(64, np.float32), "N": 64})
    assert report.verdict == diff.SAME, report


def test_what_it_cannot_do_is_not_comparable():
    report = compared(assembly, {"x": X, "o": np.zeros(64, np.float32), "N": 64})
    assert report.verdict == diff.NOT_COMPARABLE and not report.rows
    assert "triton cannot run this launch: NotImplementedError" in report.notes[0], report
    ((reason, number),) = report.reasons.items()
    assert reason.startswith("triton cannot run a launch: NotImplementedError") and number == 1


def test_options_and_parameters_of_one_name():
    report = compared(with_a_parameter_of_an_options_name, {"x": X, "o": np.zeros(64, np.float32), "num_stages": 3,
                                                            "N": 64})  # fmt: skip
    assert report.verdict == diff.SAME, report


def test_a_crash_of_its_interpreter_is_no_difference():
    report = compared(converted, {"x": X, "o": np.zeros(64, np.float32), "N": 64})
    assert report.verdict == diff.NOT_COMPARABLE, report
