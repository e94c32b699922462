"""Lanes that are masked off and have no `other`: comparable as long as what they hold makes no difference."""

import re

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from other_backends import Rewritten
from tiletwin import diff
from tiletwin.diff.backends import Traits

REASON = "lanes of a load that are masked off and have no `other`"


@triton.jit
def sums(x, o, total, n, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.load(x + c, mask=c < n)
    tl.store(total, tl.sum(tl.exp(v) * v, 0))
    tl.store(o + c, v / 3.0, mask=c < n)


def arguments():
    x = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    return {"x": x, "o": np.zeros(1000, np.float32), "total": np.zeros(1, np.float32), "n": 1000, "B": 1024}


class Filled(Rewritten):
    """As a GPU may: such lanes hold a number. It multiplies by 1 / 3, which is another rounding."""

    name = "filled"
    traits = Traits(approximates=True, undefined_is_zero=False)

    def __init__(self, number: float, divided: float = 3.0):
        def change(text: str) -> str:
            fill = f"%fill = arith.constant dense<{number:e}> : tensor<1024xf32>\n"
            text = re.sub(r"(?m)^( *)(%\w+ = tt.load %\w+, %\w+)( : .*)$", rf"\1{fill}\1\2, %fill\3", text)
            return text.replace("dense<3.000000e+00>", f"dense<{divided:e}>")

        super().__init__(change)


def verdicts(other) -> dict[str, tuple[str, str]]:
    report = diff.compare(sums, (1,), arguments(), backends=["interp", other])
    return {row.argument: (row.verdict, row.reason) for row in report.rows}


def test_they_hold_zero_on_the_simulator_and_sums_of_them_are_comparable():
    report = diff.compare(sums, (1,), arguments(), backends=["interp", "sim"])
    assert report.verdict == diff.SAME
    assert any(row.within for row in report.rows), "equal bits would prove nothing"


@pytest.mark.parametrize("number", [7.0, float(2**20)])
def test_where_they_matter_nothing_is_said(number):
    found = verdicts(Filled(number))
    assert found["total"] == (diff.NOT_COMPARABLE, REASON)
    assert found["o"][0] == diff.SAME


def test_what_they_do_not_reach_is_judged_as_ever():
    found = verdicts(Filled(7.0, divided=3.01))
    assert found["total"] == (diff.NOT_COMPARABLE, REASON)
    assert found["o"][0] == diff.DIFFERENT
