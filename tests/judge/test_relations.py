"""Relations that the reference's results follow: found on it, and asked of a submission where no bound judges."""

import pytest
import torch
from judged import HEAD, judged
from tiletwin.judge.conventions import problem_of
from tiletwin.judge.oracle import answer
from tiletwin.judge.relations import Relation, candidates, followed

REFERENCE = """
import torch
def chaos(x):
    return torch.sin(torch.sin(x) * 1e8)
def get_inputs():
    return [torch.rand(24, 50) + 0.5]
JUDGE = {"vary": ["relations"]}
"""
KERNEL = """
@triton.jit
def _chaos(x, o, n, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    s = tl.sin(tl.load(x + r * n + c, mask=c < n, other=0.0)) * 1e8
    tl.store(o + r * n + c, tl.sin(s), mask=c < n)
def chaos(x):
    o = torch.empty_like(x)
    _chaos[(x.shape[0],)](x, o, x.shape[1], B=64)
    return o
"""


def answers(tmp_path, text: str, relation: Relation):
    path = tmp_path / "reference.py"
    path.write_text("import torch\n" + text)
    problem = problem_of(str(path), "")
    args = problem.examples(0)
    before, after = (answer(problem, given, 0, 0).results for given in (args, relation.changed(args)))
    return followed(relation, before, after)


@pytest.mark.parametrize(
    ("body", "relation", "holds"),
    [
        ("torch.softmax(x, -1)", Relation("permuted", 6), True),
        ("torch.softmax(x, -1)", Relation("permuted", 9), True),
        ("torch.softmax(x, -1)", Relation("shortened", 6), True),
        ("torch.softmax(x, -1)", Relation("shortened", 9), False),
        ("torch.softmax(x, -1)", Relation("doubled", 0), False),
        ("torch.cumsum(x, -1)", Relation("permuted", 9), False),
        ("torch.cumsum(x, -1)", Relation("shortened", 9), True),
        ("torch.cumsum(x, -1)", Relation("doubled", 0), True),
        ("x.square().sum(-1)", Relation("doubled", 0), True),
        ("x.sum(-1)", Relation("permuted", 9), True),
        ("x.argmax(-1)", Relation("permuted", 9), False),
    ],
)
def test_what_a_reference_follows(body, relation, holds, tmp_path):
    text = f"def f(x):\n    return {body}\ndef get_inputs():\n    return [torch.randn(6, 9)]\n"
    assert (answers(tmp_path, text, relation) is not None) == holds


def test_candidates_leave_small_sizes_and_numbers_alone():
    args = [torch.randn(2, 7), torch.zeros(7, dtype=torch.int64), 7]
    words = [(one.word, one.number) for one in candidates(args, [7, 2])]
    assert words == [("permuted", 7), ("shortened", 7), ("doubled", 0)]
    assert Relation("shortened", 7).changed(args)[2] == 4 and Relation("permuted", 7).changed(args)[2] == 7


def test_a_submission_that_follows_is_right(tmp_path):
    verdict = judged(tmp_path, HEAD + KERNEL, REFERENCE, cases=0)
    assert verdict.word == "right", str(verdict)
    assert "what has size 24: in another order" in [case.what for case in verdict.cases]


def test_a_result_that_depends_on_the_row_breaks_the_relation(tmp_path):
    text = KERNEL.replace("* 1e8\n", "* 1e8 + r * 37.0\n")
    verdict = judged(tmp_path, HEAD + text, REFERENCE, cases=0)
    (reason,) = [reason for reason in verdict.reasons if reason.verdict][:1]
    assert verdict.word == "wrong" and reason.rule == "judge-relation", str(verdict)
    assert "what has size 24: in another order" in reason.text and "that no bound judges" in reason.text
    again = judged(tmp_path, HEAD + text, REFERENCE, cases=0, case=reason.case)
    assert again.word == "wrong" and again.reasons[0].rule == "judge-relation", str(again)
