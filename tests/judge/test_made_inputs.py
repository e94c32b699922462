"""Inputs that are made of examples mean what the examples mean: offsets, lengths."""

import pytest
import torch
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


def test_relations_keep_offsets_in_order_and_within_what_is_left():
    found = candidates([torch.randn(93, 4), OFFSETS], [93, 5])
    assert Relation("shortened", 93) not in found and Relation("permuted", 5) not in found
    assert Relation("permuted", 93) in found and Relation("shortened", 5) in found
