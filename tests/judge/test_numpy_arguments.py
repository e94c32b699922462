"""Submissions that take NumPy's arrays, with negative strides among others."""

import pytest
from judged import changed, judged, line_of

REFERENCE = """
import torch
def double(x, y):
    y.copy_(2 * x)
    return x + 1
def get_inputs():
    return [torch.randn(7, 40), torch.zeros(7, 40)]
JUDGE = {"numpy": True, "vary": ["strides", "sizes"]}
"""
RIGHT = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def _double(x, y, o, n, xm, xn, ym, yn, B: tl.constexpr):
    m, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + m * xm + i * xn, mask=i < n)
    tl.store(y + m * ym + i * yn, 2 * v, mask=i < n)
    tl.store(o + m * n + i, v + 1, mask=i < n)


def double(x, y):
    assert isinstance(x, np.ndarray)
    (m, n), o = x.shape, np.empty(x.shape, x.dtype)
    strides = [step // x.itemsize for step in (*x.strides, *y.strides)]
    if x.size:
        _double[(m,)](x, y, o, n, *strides, B=triton.next_power_of_2(n))
    return o
"""


def ways(verdict):
    return {case.what: case.outcome for case in verdict.cases}


def test_arrays_of_every_layout(tmp_path):
    verdict = judged(tmp_path, RIGHT, REFERENCE, cases=16)
    assert verdict.word == "right" and not verdict.reasons, str(verdict)
    assert ways(verdict)["negative strides"] == ways(verdict)["transposed"] == "right"


def test_a_stride_whose_sign_is_lost_is_wrong_for_negative_ones_alone(tmp_path):
    verdict = judged(tmp_path, changed("[step //", "[abs(step) //", RIGHT), REFERENCE, cases=16)
    assert verdict.word == "wrong", str(verdict)
    assert [what for what, outcome in ways(verdict).items() if outcome != "right"] == ["negative strides"]
    (reason,) = [reason for reason in verdict.reasons if reason.verdict]
    assert reason.line == line_of("v = tl.load", RIGHT) and "out" in reason.text.lower()


@pytest.mark.parametrize("old, new", [("v + 1", "v + 2"), ("2 * v", "3 * v")])
def test_results_and_written_arguments_are_compared(tmp_path, old, new):
    verdict = judged(tmp_path, changed(old, new, RIGHT), REFERENCE, cases=2)
    (reason, *_) = [reason for reason in verdict.reasons if reason.verdict]
    assert (
        verdict.word == "wrong"
        and reason.rule == "judge-value"
        and reason.line == line_of(new, RIGHT.replace(old, new))
    )


def test_numpy_that_does_the_work_is_cheating(tmp_path):
    text = changed("return o", "return x + np.float32(1)", RIGHT)
    verdict = judged(tmp_path, text, REFERENCE, cases=2)
    assert verdict.word == "cheating" and any(reason.rule == "judge-untraced" for reason in verdict.reasons), str(
        verdict
    )


def test_what_numpy_has_not_is_refused(tmp_path):
    verdict = judged(tmp_path, RIGHT, changed('"numpy": True', '"numpy": True, "gradients": True', REFERENCE), cases=1)
    assert verdict.word == "not judged" and "gradients" in str(verdict)
