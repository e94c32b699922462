"""NaN, infinities and random numbers of a reference, and arguments with which it crashes: no mistakes of a kernel."""

import os
import time

import pytest
import torch
from judged import HEAD, changed, judged, scaled
from tiletwin.judge import surviving
from tiletwin.judge.comparing import compare
from tiletwin.judge.oracle import Expected, answer
from tiletwin.judge.problem import Problem
from tiletwin.judge.relations import Relation
from tiletwin.judge.schema import Schema
from tiletwin.judge.surviving import is_risky, why_not
from tiletwin.judge.untouched import replaced, untouched


def problem_of(call):
    return Problem("functions", "f", call, call, lambda seed: [], Schema())


def test_random_numbers_of_a_reference_are_said_and_not_judged(tmp_path):
    verdict = scaled("value * factor", "torch.nn.functional.dropout(x, factor)", tmp_path)
    assert verdict.word == "not judged" and "draws random numbers (bernoulli_)" in verdict.reasons[0].text


def test_where_nan_alone_is_wrong_the_verdict_says_how_to_leave_it_out(tmp_path):
    verdict = scaled("tl.maximum(value, 0.0)", "torch.relu(x)", tmp_path)
    assert verdict.word == "wrong"
    (said,) = [reason for reason in verdict.reasons if "only cases with NaN" in reason.text]
    assert not said.verdict and "'special'" not in said.text
    wrong = scaled("tl.maximum(value, 1.0)", "torch.relu(x)", tmp_path)
    assert not [reason for reason in wrong.reasons if "only cases with NaN" in reason.text]


def of(call, *args):
    return untouched(list(args), lambda made: answer(problem_of(call), made, 0, 0))[0]


def test_nan_that_is_masked_decides_nothing_and_that_of_a_maximum_does():
    x = torch.randn(6, 6)
    x[2, 5] = torch.nan
    late = torch.ones(6, 6, dtype=torch.bool).triu(1)
    mask = torch.zeros(6, 6).masked_fill(late, -torch.inf)
    expected, free = of(lambda x: torch.softmax(x + mask, -1), x)
    assert bool(free.all()) and bool(expected.exact.isfinite().all())
    assert of(lambda x: x.amax(-1), x)[1].tolist() == [True, True, False, True, True, True]
    assert of(lambda x: x.argmin(-1), x)[1].tolist() == [True, True, False, True, True, True]


def test_what_grows_with_an_infinite_number_may_be_infinite():
    x, w = torch.randn(20), torch.full((20,), torch.inf)
    expected, free = of(lambda x, w: x * w - x.mean() * w, x, w)
    assert bool(free.all()) and torch.equal(expected.exact, (x - x.mean()).sign().double() * torch.inf)
    assert not of(lambda w: w / w + w.isnan(), w)[1].any() or bool(of(lambda w: w / w, w)[0].exact.isfinite().all())


@pytest.mark.parametrize(
    "exact, got, is_of_infinities, wrong",
    [(torch.inf, torch.nan, True, 0), (torch.nan, torch.inf, True, 0), (torch.inf, -torch.inf, True, 1),
     (torch.inf, torch.nan, False, 1), (torch.inf, 3.0, True, 1), (3.0, torch.nan, True, 1),
     (1e37, torch.nan, False, 0), (-1e37, torch.inf, False, 0), (1e37, 1.0, False, 1), (1e27, torch.nan, False, 1)],
)  # fmt: skip
def test_infinities_may_meet_in_another_order(exact, got, is_of_infinities, wrong):
    value = torch.tensor([exact], dtype=torch.float64)
    expected = Expected("result", value.float(), value, torch.zeros(1, dtype=torch.float64), is_of_infinities)
    found = compare(expected, torch.tensor([got]))
    assert (found.wrong, found.open) == (wrong, 0)


_RECURRENCE = """
@triton.jit
def _after(a, x, b, y):
    return a * b, b * x + y


@triton.jit
def _scan(a, b, o, n, B: tl.constexpr):
    r, t = tl.program_id(0), tl.arange(0, B)
    at = r * n + t
    gates, x = tl.load(a + at, mask=t < n, other=1.0), tl.load(b + at, mask=t < n, other=0.0)
    gates, x = tl.associative_scan((gates, x), 0, _after)
    tl.store(o + at, gates * 0.5 + x, mask=t < n)


def recurrence(a, b):
    o = torch.empty_like(b)
    if b.numel():
        width = triton.next_power_of_2(b.shape[1])
        _scan[(b.shape[0],)](a.contiguous(), b.contiguous(), o, b.shape[1], B=width)
    return o
"""
_RECURRENCE_REFERENCE = """
import torch
JUDGE = {"vary": ["values", "special"]}
def recurrence(a, b):
    h, rows = torch.full_like(b[:, 0], 0.5), []
    for t in range(b.shape[1]):
        h = a[:, t] * h + b[:, t]
        rows.append(h)
    return torch.stack(rows, 1)
def get_inputs():
    return [torch.sigmoid(torch.randn(40, 50)), torch.randn(40, 50)]
"""


def test_a_scan_of_gates_that_overflows_or_meets_an_infinity_is_right(tmp_path):
    verdict = judged(tmp_path, HEAD + _RECURRENCE, _RECURRENCE_REFERENCE, cases=14, seconds=600.0)
    assert verdict.word == "right" and len(verdict.cases) > 10, str(verdict)
    assert verdict.atol < 1e-4 and "e+" not in str(verdict).partition("allclose")[2].partition("\n")[0], str(verdict)
    assert "begins here" not in str(verdict)
    wrong = changed("b * x + y", "b * x + y * a", HEAD + _RECURRENCE)
    assert judged(tmp_path, wrong, _RECURRENCE_REFERENCE).word == "wrong"


def test_what_stands_in_place_of_a_nan_fits_its_type():
    value = torch.tensor([1.0, torch.nan, -3.0], dtype=torch.float16)
    assert replaced([value, 3], 1e4)[0].tolist() == [1.0, pytest.approx(16376, rel=1e-3), -3.0]


@pytest.mark.parametrize("kind", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_torch_computes_nothing_in_float8_and_such_arguments_become_others(kind):
    value = torch.tensor([1.5, -3.0]).to(kind)
    assert Relation("doubled", 0).changed([value, 4])[0].double().tolist() == [3.0, -6.0]
    special = torch.tensor([1.0, torch.nan, -3.0]).to(kind)
    assert replaced([special], 1.0)[0].double().tolist() == [1.0, 2.0, -3.0]
    expected, free = of(lambda x: x.float() * 2, torch.tensor([torch.nan, 2.0]).to(kind))
    assert free.tolist() == [False, True] and bool(expected.exact.isfinite().all())


def test_a_reference_that_crashes_is_noticed_and_one_that_fails_is_no_crash():
    assert why_not(lambda: None) == ""
    assert why_not(lambda: 1 / 0) == "it raises an exception"
    assert why_not(os.abort) == "it crashes (SIGABRT)"
    assert is_risky([torch.zeros(3, dtype=torch.int64)]) and not is_risky([torch.zeros(3), 4])


def test_offsets_with_which_torch_crashes_are_left_out():
    rows, at, weight = torch.randint(0, 9, (60,)), torch.zeros(0, dtype=torch.int64), torch.randn(9, 4)
    problem = problem_of(lambda i, at, w: torch.nn.functional.embedding_bag(i, w, at, mode="mean"))
    assert why_not(lambda: answer(problem, [rows, at, weight], 0, 0)) == "it crashes (SIGSEGV)"
    assert why_not(lambda: answer(problem, [rows, torch.tensor([0, 7]), weight], 0, 0)) == ""


def test_a_reference_that_does_not_end_is_no_crash(monkeypatch):
    monkeypatch.setattr(surviving, "MOST_SECONDS", 1)
    assert why_not(lambda: time.sleep(30)) == "it takes more than 1 s"
