"""Threads of one program that load what others of it store over: found by rule, whatever the numbers are."""

import pytest
from judged import HEAD, changed, judged, line_of

REFERENCE = """
import torch
def reverse(x):
    return x.flip(-1)
def get_inputs():
    return [torch.randn(4, 256)]
JUDGE = {"vary": []}
"""
IN_PLACE = """
@triton.jit
def _reverse(o, n, B: tl.constexpr):
    row, i = o + tl.program_id(0) * n, tl.arange(0, B)
    v = tl.load(row + i, mask=i < n)
    tl.store(row + n - 1 - i, v, mask=i < n)


def reverse(x):
    o = x.clone()
    _reverse[(x.shape[0],)](o, x.shape[1], B=256)
    return o
"""
SORTED = """
@triton.jit
def _reverse(o, n, B: tl.constexpr):
    row, i = o + tl.program_id(0) * n, tl.arange(0, B)
    v = tl.load(row + i)
    tl.store(row + i, tl.flip(v, 0))


def reverse(x):
    o = x.clone()
    _reverse[(x.shape[0],)](o, x.shape[1], B=256)
    return o
"""


def test_a_load_and_a_later_store_by_another_thread_need_a_barrier(tmp_path):
    verdict = judged(tmp_path, HEAD + IN_PLACE, REFERENCE, cases=1)
    (reason,) = [reason for reason in verdict.reasons if reason.verdict]
    assert verdict.word == "wrong" and reason.rule == "races" and "another warp" in reason.text, str(verdict)
    assert reason.line == line_of("tl.load(row", HEAD + IN_PLACE) and "line 9" in reason.text
    assert verdict.cases[0].outcome == "right", "the numbers are"


@pytest.mark.parametrize(
    "text",
    [
        changed("    tl.store(", "    tl.debug_barrier()\n    tl.store(", IN_PLACE),
        changed("v = tl.load(row + i, mask=i < n)", "v = tl.load(row + i)\n    v += tl.sum(v) * 0", IN_PLACE),
        changed("B=256)", "B=256, num_warps=1)", IN_PLACE),
        SORTED,
    ],
    ids=["a barrier", "a sum of all that is loaded", "one warp", "values go to other threads first"],
)
def test_what_is_in_order_is_right(text, tmp_path):
    verdict = judged(tmp_path, HEAD + text, REFERENCE, cases=1)
    assert verdict.word == "right" and not verdict.reasons, str(verdict)


def test_what_was_not_looked_at_is_said(tmp_path):
    reference = changed("torch.randn(4, 256)", "torch.randn(2048, 256)", REFERENCE)
    verdict = judged(tmp_path, HEAD + IN_PLACE, reference, cases=1)
    assert verdict.word == "right" and any("barriers are missing" in reason.text for reason in verdict.reasons)
