"""KernelBench's files, whose sizes are made for GPUs, and TritonBench's scripts, whose tests are run as they are."""

import ast
from types import ModuleType

import pytest
from judged import HEAD, changed, judged, judged_alone
from tiletwin.judge.file_sizes import FileSizes

MODEL = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(x) + self.gemm.bias

batch_size = 4096 * 8
in_features, answer = 3, 42
rows = out_features = 40001
shape = (batch_size, 4)
scale = 2.0

def get_inputs():
    return [torch.rand(shape[0], out_features)]

def get_init_inputs():
    return [in_features, out_features]
"""
"""40,000 million numbers of an input."""
NEW = """
@triton.jit
def _add(x, b, o, n, columns, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    v = tl.where(v < 0, 0.0, v)
    tl.store(o + i, v + tl.load(b + i % columns, mask=i < n), mask=i < n)


class ModelNew(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features)

    def forward(self, x):
        o = torch.empty_like(x)
        if x.numel():
            _add[(triton.cdiv(x.numel(), 64),)](x, self.gemm.bias, o, x.numel(), x.shape[1], B=64)
        return o
"""
SCRIPT = """
import triton
import triton.language as tl


@triton.jit
def _square(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v * v, mask=i < n)


@triton.jit
def _double(x, g, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, 2 * tl.load(x + i, mask=i < n) * tl.load(g + i, mask=i < n), mask=i < n)


def square_class():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            o = torch.empty_like(x)
            _square[(triton.cdiv(x.numel(), 32),)](x, o, x.numel(), B=32)
            return o

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            o = torch.empty_like(x)
            _double[(triton.cdiv(x.numel(), 32),)](x, g.contiguous(), o, x.numel(), B=32)
            return o

    return Square


def squared(x, *, n=None):
    o = torch.empty_like(x)
    _square[(triton.cdiv(n, 32),)](x, o, n, B=32)
    return o


##################################################################################################################################################


import torch

def test_square():
    x = torch.randn(77, device="cuda", requires_grad=True)
    result = square_class().apply(x)
    result.sum().backward()
    print("a" * 100)
    return {"result": result, "gradient": x.grad.cpu().numpy(), "named": squared(x.detach(), n=40)[:40]}

result_gold = test_square()
"""


def load(tree: ast.Module) -> ModuleType:
    module = ModuleType("reference")
    exec(compile(tree, "reference.py", "exec"), module.__dict__)
    return module


def test_constants_of_a_file_that_are_sizes():
    sizes = FileSizes(MODEL, load)
    assert sizes.values == {"batch_size": 32768, "rows": 40001}
    assert sizes.names == ["batch_size", "rows"]
    # A batch may be empty, and weights may not.
    assert sizes.cost((("batch_size", 0),)) is not None and sizes.cost((("rows", 0),)) is None
    small = dict(sorted(sizes.smaller(1 << 16)))
    assert small["rows"] % 2 == 1 and small["batch_size"] * small["rows"] <= 1 << 16 and min(small.values()) >= 16
    module = sizes.module(tuple(small.items()))
    assert (
        list(module.get_inputs()[0].shape) == [small["batch_size"], small["rows"]]
        and module.out_features == module.rows
    )
    assert sizes.cost((("rows", -1),)) is None
    assert not sizes.note


def test_what_is_not_varied_because_the_file_fails_is_said():
    asks = changed("return torch.relu(x) + self.gemm.bias", "return torch.relu(x) * x.max().item()", MODEL)
    sizes = FileSizes(asks, load)
    assert not sizes.names and "sizes are not varied" in sizes.note and "RuntimeError: " in sizes.note
    wants = changed("        super()", "        assert out_features == 40001, 'others'\n        super()", MODEL)
    sizes = FileSizes(wants, load)
    assert sizes.names == ["batch_size"] and sizes.note.endswith("rows (AssertionError: others)"), sizes.note


def test_a_verdict_says_which_sizes_were_not_varied(tmp_path):
    small = changed("4096 * 8", "8", changed("40001", "33", MODEL))
    asks = changed(
        "return torch.relu(x) + self.gemm.bias", "return torch.relu(x) + self.gemm.bias * float(x[0, 0] > -9)", small
    )
    verdict = judged(tmp_path, HEAD + NEW, asks, cases=2)
    (note,) = [reason for reason in verdict.reasons if reason.rule == "judge-sizes"]
    assert verdict.word == "right" and "not varied" in note.text, str(verdict)


@pytest.mark.parametrize(
    "text, word",
    [
        (NEW, "right"),
        (changed("    v = tl.where(v < 0, 0.0, v)\n", "", NEW), "wrong"),
        (changed("(triton.cdiv(x.numel(), 64),)", "(x.numel() // 64,)", NEW), "wrong"),
        (changed("i % columns", "i", NEW), "wrong"),
        (changed("if x.numel():", "assert x.shape == (32768, 40001)\n        if x.numel():", NEW), "not judged"),
    ],
)
def test_a_model_whose_sizes_are_for_a_gpu_is_run_with_smaller_ones(text, word, tmp_path):
    verdict = judged(tmp_path, HEAD + text, MODEL, cases=16)
    assert verdict.word == word, str(verdict)
    (note,) = [reason for reason in verdict.reasons if reason.rule == "judge-smaller"]
    assert "rows 40001 → " in note.text and "batch_size 32768 → " in note.text


@pytest.mark.parametrize(
    "text, word",
    [
        (SCRIPT, "right"),
        (changed("2 * tl.load(x + i, mask=i < n)", "3 * tl.load(x + i, mask=i < n)", SCRIPT), "wrong"),
        (changed("tl.store(o + i, v * v, mask=i < n)", "tl.store(o + i, v * v, mask=i < n - 1)", SCRIPT), "wrong"),
        (changed("return o\n\n        @", "return x * x\n\n        @", SCRIPT), "cheating"),
        (changed("            (x,) = ctx.saved_tensors\n", "            1 / 0\n", SCRIPT), "broken"),
    ],
)  # fmt: skip
def test_tests_of_a_script_run_as_they_are(text, word, tmp_path):
    verdict = judged_alone(tmp_path, text, SCRIPT)
    assert verdict["verdict"] == word and verdict["convention"] == "tritonbench", verdict
    assert "its tests, as they are" in verdict["cases"][0]["what"]


def test_tests_that_fail_with_the_reference_are_told(tmp_path):
    broken = changed("squared(x.detach(), n=40)", "squared(x.detach(), n=80)", SCRIPT)
    verdict = judged_alone(tmp_path, SCRIPT, broken)
    assert verdict["verdict"] == "not judged" and "OutOfBoundsError" in verdict["reasons"][0]["text"], verdict
