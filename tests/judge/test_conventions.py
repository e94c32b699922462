"""Ways in which two files are read: a launch function that writes its arguments, scripts of TritonBench's kind, what
the reference's dictionary says."""

import subprocess
import sys

import children
import pytest
from judged import HEAD, SOFTMAX, changed, judged
from tiletwin.judge.conventions import problem_of
from tiletwin.judge.inputs import Inputs
from tiletwin.judge.schema import BadProblem

LAUNCH = """
@triton.jit
def _twice(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


def launch(x, o):
    if x.numel():
        _twice[(triton.cdiv(x.numel(), 64),)](x, o, x.numel(), B=64)
"""
LAUNCH_REFERENCE = """
import torch
def reference(x, o):
    o.copy_(2 * x)
def get_inputs():
    return [torch.randn(200), torch.zeros(200)]
JUDGE = {"vary": ["sizes"]}
"""
TESTS = """
##################################################################################################################################################


def test_softmax():
    results = {}
    results["small"] = softmax(torch.randn(20, 33, device="cuda"))
    results["large"] = softmax(torch.randn(4, 300, device="cuda"))
    return results


result_gold = test_softmax()
"""


def test_a_launch_function_writes_what_the_reference_writes(tmp_path):
    verdict = judged(tmp_path, HEAD + LAUNCH, LAUNCH_REFERENCE, cases=6)
    assert verdict.word == "right" and verdict.entry == "launch", str(verdict)
    verdict = judged(tmp_path, HEAD + changed("2 * tl.load", "3 * tl.load", LAUNCH), LAUNCH_REFERENCE)
    assert verdict.word == "wrong" and "argument 1" in verdict.reasons[0].text, str(verdict)


@pytest.mark.parametrize(
    "text, code",
    [
        (SOFTMAX, 0),
        (changed("tl.max(v, 0)", "tl.max(v, 0) - 0.001 * r", SOFTMAX), 0),
        (changed("tl.sum(e, 0)", "tl.sum(e, 0) + 0.01 * r", SOFTMAX), 1),
    ],
)
def test_scripts_of_tritonbench(text, code, tmp_path):
    reference, submission = tmp_path / "reference.py", tmp_path / "submission.py"
    reference.write_text(SOFTMAX + TESTS)
    submission.write_text(text + TESTS)
    words = ["-m", "tiletwin", "judge", submission, "--reference", reference, "--cases", "4", "--seconds", "300"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=children.environment())
    assert done.returncode == code, done.stdout + done.stderr


@pytest.mark.parametrize(
    "text, said",
    [
        ("def f(x):\n    return x\n", "get_inputs"),
        ("def f(x): return x\ndef g(x): return x\ndef get_inputs(): return []\n", "which function"),
        ("def f(x): return x\ndef get_inputs(): return []\nJUDGE = {'vari': 1}\n", "vari"),
        ("def f(x): return x\ndef get_inputs(): return []\nJUDGE = {'vary': ['shapes']}\n", "shapes"),
        ("1 / 0\n", "ZeroDivisionError"),
    ],
)
def test_references_that_cannot_be_used(text, said, tmp_path):
    path = tmp_path / "reference.py"
    path.write_text(text)
    with pytest.raises(BadProblem, match=said):
        problem_of(str(path), "")


def test_cases_with_other_sizes_are_no_larger_than_a_verdict_can_afford(tmp_path):
    text = "def f(q, k):\n    return q @ k.mT\ndef get_inputs():\n    return [torch.randn(4, 8, 512, 32)] * 2\n"
    (tmp_path / "reference.py").write_text(f"import torch\n{text}")
    inputs = Inputs(problem_of(str(tmp_path / "reference.py"), "def f(q, k): pass"), "B = 64")
    sizes = [case for case in inputs.cases() if case.way == "sizes"]
    assert len(sizes) > 20
    assert max(sum(value.numel() for value in inputs.arguments(case)) for case in sizes) <= 1 << 18


@pytest.mark.parametrize(
    "given, said",
    [
        ('{"x": torch.randn(3)}', "gives a dict, not a list"),
        ("torch.randn(3)", "gives a Tensor, not a list"),
        ("[torch.empty(3).to(undefined)]", "get_inputs() fails: NameError"),
    ],
)  # fmt: skip
def test_inputs_that_are_no_list_of_arguments_are_told(given, said, tmp_path):
    reference = f"import torch\ndef softmax(x):\n    return x\ndef get_inputs():\n    return {given}\n"
    verdict = judged(tmp_path, SOFTMAX, reference)
    assert verdict.word == "not judged" and said in str(verdict), str(verdict)
