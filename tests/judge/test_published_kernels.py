"""Kernels as people publish them: behind torch.autograd.Function, with sums that torch finishes."""

import pytest
import torch
from judged import HEAD, changed, judged, judged_alone, line_of
from tiletwin.judge.comparing import compare
from tiletwin.judge.oracle import Expected

STEP = (
    HEAD
    + """
@triton.jit
def _step(p, g, m, rate, beta, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mean = beta * tl.load(m + i, mask=i < n) + (1 - beta) * tl.load(g + i, mask=i < n)
    tl.store(m + i, mean, mask=i < n)
    tl.store(p + i, tl.load(p + i, mask=i < n) - rate * mean, mask=i < n)


def launch(p, g, m, rate, beta=0.999):
    if p.numel():
        _step[(triton.cdiv(p.numel(), 64),)](p, g, m, rate, beta, p.numel(), B=64)
"""
)
STEP_REFERENCE = """
import torch

JUDGE = {"vary": ["sizes", "values"]}

def reference(p, g, m, rate, beta=0.999):
    m.mul_(beta).add_(g, alpha=1 - beta)
    p.sub_(rate * m)

def get_inputs():
    return [torch.randn(300), torch.randn(300) * 1e3, torch.randn(300) * 1e-3, 1e-3]
"""


@pytest.mark.parametrize(
    "reference", [STEP_REFERENCE, STEP_REFERENCE.replace("1e-3]", "1e-3, 0.999]")], ids=["default", "argument"]
)
def test_numbers_among_the_arguments_are_float32_in_a_kernel(reference, tmp_path):
    verdict = judged(tmp_path, STEP, reference, cases=12)
    assert verdict.word == "right", str(verdict)
    verdict = judged(tmp_path, changed("(1 - beta)", "(1.00001 - beta)", STEP), reference)
    assert verdict.word == "wrong" and "argument 2" in str(verdict), str(verdict)


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


@pytest.mark.parametrize("got, of_infinities, wrong", [(torch.inf, True, 0), (torch.inf, False, 1), (1.0, True, 1)])
def test_where_infinities_made_nan_an_infinity_will_do(got, of_infinities, wrong):
    nan = torch.tensor([torch.nan])
    expected = Expected("result", nan, nan.double(), torch.zeros(1, dtype=torch.float64), of_infinities)
    assert compare(expected, torch.tensor([got])).wrong == wrong
