"""Kernels as people publish them: behind torch.autograd.Function, with sums that torch finishes."""

import pytest
import torch
from judged import HEAD, changed, judged, judged_alone, line_of
from tiletwin.judge import frames
from tiletwin.judge.comparing import compare
from tiletwin.judge.oracle import Expected

PRODUCT = (
    HEAD
    + """
@triton.jit
def _forward(a, b, sums, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    product = tl.load(a + i, mask=i < n, other=0.0) * tl.load(b + i, mask=i < n, other=0.0)
    tl.store(sums + tl.program_id(0), tl.sum(product, 0))


@triton.jit
def _backward(a, b, g, da, db, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(da + i, tl.load(b + i, mask=i < n) * tl.load(g), mask=i < n)
    tl.store(db + i, tl.load(a + i, mask=i < n) * tl.load(g), mask=i < n)


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        a, b = a.contiguous(), b.contiguous()
        ctx.save_for_backward(a, b)
        sums = torch.empty(triton.cdiv(a.numel(), 64), device=a.device)
        if a.numel():
            _forward[(sums.numel(),)](a, b, sums, a.numel(), B=64)
        return sums.sum()

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        da, db = torch.empty_like(a), torch.empty_like(b)
        if a.numel():
            _backward[(triton.cdiv(a.numel(), 64),)](a, b, g, da, db, a.numel(), B=64)
        return da, db


product = Product.apply
"""
)
PRODUCT_REFERENCE = """
import torch

JUDGE = {"gradients": True, "vary": ["aliases", "sizes"]}

def product(a, b):
    return (a * b).sum()

def get_inputs():
    return [torch.randn(9, 50), torch.randn(9, 50)]
"""


def test_an_argument_that_is_passed_twice_has_one_gradient(tmp_path):
    verdict = judged(tmp_path, PRODUCT, PRODUCT_REFERENCE, cases=12)
    assert verdict.word == "right", str(verdict)
    assert "aliases" in {case.way for case in verdict.cases if case.outcome == "right"}


def test_tensors_that_agree_in_all_are_one_behind_a_message():
    x = torch.arange(12.0).reshape(3, 4)
    packer = frames.Packer()
    tree = packer.tree([x, x, x.t(), [x]])
    a, b, c, (d,) = frames.unpacked(tree, packer.storages)
    assert a is b and a is d and a is not c and torch.equal(c, x.t())


def test_a_sum_that_torch_finishes_is_named_with_its_line(tmp_path):
    verdict = judged(tmp_path, PRODUCT, PRODUCT_REFERENCE, cases=1)
    (note,) = [reason for reason in verdict.reasons if reason.rule == "judge-untraced"]
    assert verdict.word == "right" and not note.verdict
    assert "aten::sum" in note.text and note.line == line_of("return sums.sum()", PRODUCT), str(verdict)
    assert not [reason for reason in verdict.reasons if " 0 % " in reason.text], str(verdict)


@pytest.mark.parametrize(
    "old, new, line",
    [
        ("tl.load(b + i, mask=i < n) * tl.load(g)", "tl.load(b + i, mask=i < n)", "tl.store(da"),
        ("b + i, mask=i < n, other=0.0", "b + i, mask=i < n - 1, other=0.0", ""),
    ],
)
def test_only_what_is_wrong_is_called_wrong(old, new, line, tmp_path):
    text = changed(old, new, PRODUCT)
    verdict = judged(tmp_path, text, PRODUCT_REFERENCE, cases=1)
    (wrong,) = [reason for reason in verdict.reasons if reason.verdict]
    assert wrong.rule == "judge-value" and wrong.line == (line_of(line, text) if line else 0), str(verdict)


BLOCKS = """
import torch

def product(a, b):
    return torch.nn.functional.pad((a * b).view(-1), (0, -a.numel() % 64)).view(-1, 64).sum(1)

def get_inputs():
    return [torch.randn(9, 50), torch.randn(9, 50)]
"""
LOOK = """@triton.jit
def _look(sums, o):
    tl.store(o, tl.load(sums))


"""


def test_a_kernel_that_reads_a_result_is_not_named_as_its_writer(tmp_path):
    text = changed("class Product", LOOK + "class Product", changed("product, 0)", "product, 0) + 1", PRODUCT))
    text = changed("return sums.sum()", "_look[(1,)](sums, torch.empty(1, device=a.device))\n        return sums", text)
    verdict = judged(tmp_path, text, BLOCKS, cases=1)
    (wrong,) = [reason for reason in verdict.reasons if reason.verdict]
    assert wrong.kernel == "_forward" and wrong.line == line_of("tl.store(sums", text), str(verdict)


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


def test_inputs_that_a_submission_is_not_meant_for_can_be_left_out_and_the_reason_says_how(tmp_path):
    text = changed("w.contiguous()", "w", CENTRED)
    reference = CENTRED_REFERENCE.replace("DEVICE", "cpu")
    verdict = judged(tmp_path, text, reference, cases=9)
    assert verdict.word == "wrong" and '"vary": [...]} without "strides"' in str(verdict), str(verdict)
    assert judged(tmp_path, text, reference.replace(', "strides"', ""), cases=9).word == "right"


@pytest.mark.parametrize("got, of_infinities, wrong", [(torch.inf, True, 0), (torch.inf, False, 1), (1.0, True, 1)])
def test_where_infinities_made_nan_an_infinity_will_do(got, of_infinities, wrong):
    nan = torch.tensor([torch.nan])
    expected = Expected("result", nan, nan.double(), torch.zeros(1, dtype=torch.float64), of_infinities)
    assert compare(expected, torch.tensor([got])).wrong == wrong


def test_an_error_of_a_kernel_names_its_place_once(tmp_path):
    text = changed("mask=i < n, other=0.0)\n    v *=", "mask=i < 2 * n)\n    v *=", CENTRED)
    verdict = judged(tmp_path, text, CENTRED_REFERENCE.replace("DEVICE", "cpu"), cases=1)
    (wrong,) = [reason for reason in verdict.reasons if reason.verdict]
    assert wrong.line == line_of("v = tl.load", text) and wrong.text.startswith("OutOfBoundsError: tl.load: ")
    assert "\n" not in wrong.text and str(verdict).count("tl.load(x + tl.program_id") == 1, str(verdict)


@pytest.mark.parametrize(
    "kind, exact, wrong",
    [
        (torch.bfloat16, 2e38, 0), (torch.bfloat16, 2e27, 1), (torch.float32, 2e38, 0), (torch.float32, 2e27, 1),
        (torch.float16, 6e4, 1), (torch.float64, 1e308, 1),
    ],
)  # fmt: skip
def test_a_product_may_overflow_in_float32_before_a_sum_makes_it_smaller(kind, exact, wrong):
    exact = torch.tensor([exact], dtype=torch.float64)
    expected = Expected("result", exact.to(kind), exact, torch.zeros(1, dtype=torch.float64))
    assert compare(expected, torch.tensor([torch.inf], dtype=kind)).wrong == wrong
