"""Inputs that are made of examples mean what the examples mean: offsets, lengths, numbers that are no sizes."""

import pytest
import torch
from judged import scaled
from tiletwin.judge import scalars
from tiletwin.judge.inputs import Inputs
from tiletwin.judge.problem import Problem
from tiletwin.judge.relations import Relation, candidates
from tiletwin.judge.schema import Schema

OFFSETS = torch.tensor([0, 5, 5, 22, 93])


def problem_of(call, *args):
    return Problem("functions", "f", call, call, lambda seed: list(args), Schema())


@pytest.mark.parametrize("new", [0, 1, 7, 300])
def test_offsets_begin_at_zero_and_end_at_what_they_divide(new):
    inputs = Inputs(problem_of(lambda x, at: x, torch.randn(93, 4), OFFSETS), "")
    at = inputs.resized({93: new})[1]
    assert at[0] == 0 and at[-1] == new and bool((at[1:] >= at[:-1]).all())


@pytest.mark.parametrize("new, most", [(7, 7), (300, 80)])
def test_lengths_are_no_larger_than_the_size_and_than_those_of_the_example(new, most):
    inputs = Inputs(problem_of(lambda x, n: x, torch.randn(3, 80), torch.tensor([80, 33, 7])), "")
    assert int(inputs.resized({80: new, 3: 50})[1].max()) <= most


def test_indices_whose_largest_is_another_size_by_chance_stay_indices():
    targets = torch.tensor([40, *range(0, 39)])
    inputs = Inputs(problem_of(lambda x, t: x, torch.randn(40, 50), targets), "")
    assert int(inputs.resized({50: 7, 40: 400})[1].max()) == 6


def test_relations_keep_offsets_in_order_and_within_what_is_left():
    found = candidates([torch.randn(93, 4), OFFSETS], [93, 5])
    assert Relation("shortened", 93) not in found and Relation("permuted", 5) not in found
    assert Relation("permuted", 93) in found and Relation("shortened", 5) in found


def test_numbers_that_are_no_sizes_become_others():
    args = [torch.randn(2, 40), 0.25, 40, 2, 1, True, 8, None, float("inf")]
    made = {}
    for _, word in scalars.cases(args, [2, 40]):
        changed = scalars.changed(args, [2, 40], word)
        ((number, value),) = [(i, b) for i, (a, b) in enumerate(zip(args, changed)) if a is not b]
        made.setdefault(number, []).append(value)
    assert made == {1: [0.125, 0.75, 0.5], 3: [1], 4: [2], 5: [False], 6: [4, 7]}


def test_a_number_of_the_example_in_the_text_is_wrong_and_not_cheating(tmp_path):
    assert scaled("value * factor", "x * factor", tmp_path).word == "right"
    verdict = scaled("value * 0.5", "x * factor", tmp_path)
    assert verdict.word == "wrong", str(verdict)
    assert {case.way for case in verdict.cases if case.outcome == "wrong"} == {"scalars"}
    assert "argument 1 is" in verdict.reasons[0].inputs and "in place of 0.5" in verdict.reasons[0].inputs


def test_a_number_that_changes_nothing_is_not_varied(tmp_path):
    verdict = scaled("value * 2", "x * 2", tmp_path)
    assert verdict.word == "right" and "scalars" not in {case.way for case in verdict.cases}
