"""Which line of a kernel's text writes a result, where no run tells."""

import pytest
from judged import HEAD, judged, line_of
from tiletwin.judge.text_checks import only_write

_TEXT = """
@triton.jit
def _count(x, sums, counts, o, lock, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = tl.load(x + i, mask=i < n, other=0)
    place = counts + at
    tl.atomic_add(sums + at, 1.0, mask=i < n)
    tl.atomic_add(place, 1)
    tl.store(o + i, at, mask=i < n)
    tl.store(lock, 1)
    tl.store(lock, 0)


def count(x, bins):
    sums = torch.zeros(bins, device=x.device)
    counts = torch.zeros(bins, dtype=torch.int64, device=x.device)
    o, lock = torch.empty_like(x), torch.zeros(1, dtype=torch.int64, device=x.device)
    if x.numel():
        _count[(triton.cdiv(x.numel(), 64),)](x.contiguous(), sums, counts, o, lock, x.numel(), B=64)
    return sums, counts
"""
_REFERENCE = """
import torch
def count(x, bins):
    found = torch.zeros(bins, dtype=torch.int64).scatter_add_(0, x, torch.ones_like(x))
    return found.float(), found
def get_inputs():
    return [torch.randint(0, 9, (100,)), 9]
"""


@pytest.mark.parametrize(
    "argument, part", [("sums", "sums + at"), ("counts", "(place"), ("o", "o + i"), ("lock", ""), ("", ""), ("x", "")]
)
def test_a_write_is_told_by_the_argument_that_it_goes_to(argument, part):
    assert only_write(_TEXT, "_count", argument) == (line_of(part, _TEXT) if part else 0)


def test_of_one_write_no_argument_is_asked():
    text = "@triton.jit\ndef f(x, o):\n    tl.store(o, tl.load(x))\n"
    assert only_write(text, "f") == only_write(text, "f", "x") == 3
    assert only_write(text, "g") == only_write("(", "f") == 0


def test_of_two_atomic_operations_the_wrong_one_is_named(tmp_path):
    text = HEAD + _TEXT
    verdict = judged(tmp_path, text, _REFERENCE, cases=3)
    reason = next(one for one in verdict.reasons if one.rule == "judge-value")
    assert verdict.word == "wrong" and "result 1" in reason.text
    assert reason.line == line_of("tl.atomic_add(place", text)
