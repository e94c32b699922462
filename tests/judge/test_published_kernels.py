"""Kernels as people publish them: behind torch.autograd.Function, with sums that torch finishes."""

import pytest
from judged import HEAD, changed, judged_alone, line_of

CENTRED = (
    HEAD
    + """
@triton.jit
def _centre(x, w, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    v *= tl.load(w + i, mask=i < n, other=0.0)
    tl.store(o + tl.program_id(0) * n + i, v - tl.sum(v, 0) / n, mask=i < n)


def centre(x, w):
    x, w = x.contiguous(), w.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _centre[(x.shape[0],)](x, w, o, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o
"""
)
CENTRED_REFERENCE = """
import torch

JUDGE = {"vary": ["special", "strides"]}

def centre(x, w):
    y = x * w
    return y - y.sum(1, keepdim=True) / x.shape[1] * torch.ones(x.shape[1], device="DEVICE")

def get_inputs():
    return [torch.randn(20, 40, device="DEVICE").t().contiguous().t(), torch.randn(40, device="DEVICE")]
"""


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_reference_says_where_its_inputs_lie(device, tmp_path):
    reference = CENTRED_REFERENCE.replace("DEVICE", device)
    verdict = judged_alone(tmp_path, CENTRED, reference, cases=9)
    assert verdict["verdict"] == "right" and "strides [1, 20]" in verdict["cases"][0]["inputs"], verdict
    assert not [reason for reason in verdict["reasons"] if reason["rule"] == "judge-bounds"], verdict
    text = changed("x, w = x.contiguous()", "x, w = x", CENTRED)
    (wrong,) = [reason for reason in judged_alone(tmp_path, text, reference)["reasons"] if reason["verdict"]]
    assert wrong["line"] == line_of("tl.store", CENTRED), wrong
