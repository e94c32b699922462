"""Submissions that work against the judge: they forge what the worker answers, hide work where it is not counted, or
keep the verifier from looking. None is right, and none is an error of the judge."""

import os
import tempfile

import pytest
from findings.finding_formats import checked_sarif
from judged import HEAD, judged
from tiletwin.findings import sarif
from tiletwin.judge import json_text

COPY = """
import ctypes, os, struct, threading
import numpy
@triton.jit
def _copy(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)
def copied(x):
    o = torch.empty_like(x)
    if x.numel():
        _copy[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), B=256)
    return o
"""
RELU = """
import torch
def relu(x):
    return torch.relu(x)
def get_inputs():
    return [torch.randn(40, 50)]
JUDGE = {"vary": ["sizes", "values"]}
"""
HONEST_RELU = """
@triton.jit
def _relu(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, tl.where(v < 0, 0.0, v), mask=i < n)
def relu(x):
    o = torch.empty_like(x)
    if x.numel():
        _relu[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), B=256)
    return o
"""
MEAN = "import torch\ndef mean(x):\n    return x.mean()\ndef get_inputs():\n    return [torch.rand(300)]\n"
FORGED = """
def forged(x):
    frame = {head!r}
    for number in range(3, 20):
        try:
            os.write(number, struct.pack("<QQ", len(frame), 0) + frame)
        except OSError:
            pass
    return torch.relu(x)
relu = forged
"""
"""Every descriptor gets a message."""
HIDDEN = """
def relu(x):
    copied(x), copied(torch.zeros_like(x))
    return torch.from_numpy(numpy.maximum(x.cpu().numpy(), 0)).cuda()
"""
"""Each number of the result is one that a kernel has written."""
MANY = "def relu(x):\n    for _ in range(70): copied(x)\n" + HIDDEN.partition("\n")[2].partition("\n")[2]
BYTES = """
@triton.jit
def _decode(b, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.zeros([B], tl.int32)
    for k in tl.static_range(4):
        v |= tl.load(b + 4 * i + k, mask=i < n, other=0).to(tl.int32) << (8 * k)
    tl.store(o + i, v.to(tl.float32, bitcast=True), mask=i < n)
def relu(x):
    hidden = numpy.maximum(x.cpu().numpy(), 0).view(numpy.uint8).reshape(-1)
    o = torch.empty_like(x)
    if x.numel():
        _decode[(triton.cdiv(x.numel(), 256),)](torch.from_numpy(hidden.astype(KIND)).cuda(), o, x.numel(), B=256)
    return o
"""
"""The result comes to the kernel byte by byte: small numbers, which are no evidence one by one."""
PATCHED = """
import tiletwin.judge.watching as watching
watching.__dict__["is_free"] = lambda f: True
vars(watching)["MOST_RECORDED"] = 0
def relu(x):
    copied(x)
    return torch.relu(x)
"""
THREAD = """
def relu(x):
    copied(x)
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.relu(x)))
    thread.start(); thread.join()
    return found[0]
"""
IN_PLACE = """
def launch(x, o):
    copied(x)
    o.copy_(torch.from_numpy(numpy.exp(x.cpu().numpy())))
"""
SCALAR = """
@triton.jit
def _store(o, v):
    tl.store(o, v)
def mean(x):
    o = torch.empty((), device=x.device)
    _store[(1,)](o, float(x.cpu().numpy().mean()))
    return o
"""
LONE_SCALAR = """
def mean(x):
    copied(x)
    return torch.tensor(x.cpu().numpy().mean(), device=x.device)
"""
OTHER_SIZES = """
honest = relu
def relu(x):
    if x.numel() == 2000:
        return honest(x)
    copied(x), copied(torch.zeros_like(x))
    return torch.from_numpy(numpy.tanh(x.cpu().numpy())).cuda()
"""


@pytest.mark.parametrize("head", [b"{}", b'{"failed": null, "storages": []}', b"[" * 5000, b"\xff\xfe", b"null"])
def test_forged_answers_are_broken(head, tmp_path):
    verdict = judged(tmp_path, HEAD + COPY + FORGED.format(head=head), RELU, cases=2)
    assert verdict.word == "broken" and verdict.reasons[0].rule == "judge-message", str(verdict)


@pytest.mark.parametrize(
    "text, reference",
    [
        pytest.param(HIDDEN, RELU, id="numbers of kernels"),
        pytest.param(BYTES.replace("KIND", "numpy.uint8"), RELU, id="bytes"),
        pytest.param(BYTES.replace("KIND", "numpy.float32"), RELU, id="bytes as floats"),
        pytest.param(THREAD, RELU, id="thread"),
        pytest.param(SCALAR, MEAN, id="scalar argument"),
        pytest.param(LONE_SCALAR, MEAN, id="scalar result"),
    ],
)
def test_hidden_work_is_cheating(text, reference, tmp_path):
    verdict = judged(tmp_path, HEAD + COPY + text, reference, cases=12)
    assert verdict.word == "cheating", str(verdict)


def test_a_result_that_is_written_into_an_argument_is_traced_too(tmp_path):
    reference = (
        "import torch\ndef reference(x, o):\n    o.copy_(x.exp())\n"
        "def get_inputs():\n    return [torch.rand(300), torch.rand(300)]\n"
    )
    verdict = judged(tmp_path, HEAD + COPY + IN_PLACE, reference, cases=2)
    assert verdict.word == "cheating" and verdict.reasons[0].rule == "judge-untraced", str(verdict)


def test_work_that_is_hidden_at_other_sizes_than_the_examples_is_found(tmp_path):
    reference = RELU.replace("torch.relu(x)", "torch.tanh(x)")
    right = HONEST_RELU.replace("tl.where(v < 0, 0.0, v)", "2 / (1 + tl.exp(-2 * v)) - 1")
    reference = reference.replace('"values"]', '"values"], "atol": 1e-5')
    assert judged(tmp_path, HEAD + COPY + right, reference, cases=10).word == "right"
    verdict = judged(tmp_path, HEAD + COPY + right + OTHER_SIZES, reference, cases=10)
    assert verdict.word == "cheating", str(verdict)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_right_kernel_stays_right(seed, tmp_path):
    assert judged(tmp_path, HEAD + COPY + HONEST_RELU, RELU, cases=12, seed=seed).word == "right"


@pytest.mark.parametrize("text", [MANY, PATCHED])
def test_launches_that_are_not_recorded_prove_nothing(text, tmp_path):
    verdict = judged(tmp_path, HEAD + COPY + text, RELU, cases=2)
    assert verdict.word == "not judged" and " launches" in verdict.reasons[0].text, str(verdict)


@pytest.mark.parametrize(
    "line, word",
    [
        ("x = " + "-" * 6000 + "1", "broken"),
        ("x = " + "(" * 300 + ")" * 300, "broken"),
        ("x = a" + ".b" * 5000, "broken"),
        ("def relu(x): raise ValueError('\\x1b[2J' + 'a' * 10**6)", "broken"),
        ("def relu(x): copied(x); return x.flatten()[:1].expand(10**12)", "wrong"),
        ("def relu(x): copied(x); return [[[x]]] * 3", "wrong"),
        ("def relu(x): copied(x); return x.to(torch.complex64)", "wrong"),
        ("def relu(x): copied(x); return x.to(torch.uint64)", "wrong"),
        ("class E(ValueError): file, line = '/etc/hostname', 1\ndef relu(x): raise E()", "broken"),
    ],
)
def test_what_would_be_an_error_of_the_judge_is_a_verdict(line, word, tmp_path):
    verdict = judged(tmp_path, f"{HEAD}{COPY}\n{line}\n", RELU, cases=6)
    assert verdict.word == word, str(verdict)[:2000]
    text = str(verdict)
    assert len(text) < 40_000 and "\x1b" not in text
    log = sarif.log([json_text.of_reason(reason) for reason in verdict.reasons], [], "/")
    checked_sarif(log)
    with open("/etc/hostname") as file:
        assert file.readline().strip() not in str(log)


def test_threads_and_files_that_are_left_alone_do_not_stay(tmp_path, monkeypatch):
    text = "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()\nopen('left', 'w')\n"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(os.listdir("/proc"))
    verdict = judged(tmp_path, HEAD + COPY + HONEST_RELU + text, RELU, cases=2)
    assert verdict.word == "cheating", str(verdict)
    left = {number for number in set(os.listdir("/proc")) - before if number.isdigit() and _is_worker(number)}
    assert not left and sorted(os.listdir(tmp_path)) == ["reference.py", "submission.py"]


def _is_worker(number):
    """Whether a process is one that this process has started for the judge."""
    try:
        with open(f"/proc/{number}/cmdline", "rb") as file, open(f"/proc/{number}/stat") as stat:
            return b"tiletwin.judge" in file.read() and int(stat.read().rpartition(")")[2].split()[1]) == os.getpid()
    except OSError:
        return False
