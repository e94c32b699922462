"""Inputs that are made of examples mean what the examples mean: offsets, lengths, numbers that are no sizes."""

import pytest
import torch
from judged import HEAD, SCALED, SCALED_REFERENCE, judged, scaled
from tiletwin.judge import scalars
from tiletwin.judge.inputs import Inputs, tensors_of
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


@pytest.mark.parametrize("behind", [0, 1])
@pytest.mark.parametrize("sizes", [{4: 31}, {4: 31, 64: 17}, {64: 5}, {4: 1}, {}])
def test_starts_follow_from_lengths(behind, sizes):
    lengths = torch.tensor([16, 3, 20, 10])
    starts = torch.tensor([0, 16, 19, 39, 49][: 4 + behind], dtype=torch.int32)
    made = Inputs(problem_of(lambda x, at, n: x, torch.randn(64, 9), starts, lengths), "").resized(sizes)
    ends = made[2].cumsum(0)
    assert made[1].dtype == torch.int32 and int(ends[-1]) <= made[0].shape[0]
    assert made[1].tolist() == [0, *ends.tolist()][: made[1].numel()]


def test_indices_whose_largest_is_another_size_by_chance_stay_indices():
    targets = torch.tensor([40, *range(0, 38), 0])
    inputs = Inputs(problem_of(lambda x, t: x, torch.randn(40, 50), targets), "")
    assert int(inputs.resized({50: 7, 40: 400})[1].max()) == 6


SLOTS, PAGES = torch.randperm(160)[:40], torch.randperm(24)[:18].view(3, 6)
EXPERTS = torch.stack([torch.randperm(9)[:4] for _ in range(30)])


@pytest.mark.parametrize("index, sizes", [(SLOTS, {40: 97}), (SLOTS, {40: 130}), (PAGES, {3: 40}), (PAGES, {6: 48})])
def test_indices_that_are_distinct_stay_so_and_have_room(index, sizes):
    shape = [10, 16, 4] if index is SLOTS else [24, 5]
    inputs = Inputs(problem_of(lambda x, at: x, torch.randn(shape), index), "")
    made, at = inputs.resized(sizes)
    assert at.numel() > index.numel() and at.unique().numel() == at.numel()
    assert int(at.max()) < (160 if index is SLOTS else made.shape[0])


@pytest.mark.parametrize("index, sizes", [(SLOTS, {40: 257}), (SLOTS, {16: 2}), (PAGES, {24: 7}), (EXPERTS, {9: 2})])
def test_without_room_for_distinct_indices_there_is_no_case(index, sizes):
    shape = [9] if index is EXPERTS else [10, 16, 4] if index is SLOTS else [24, 5]
    inputs = Inputs(problem_of(lambda x, at: x, torch.randn(shape), index), "")
    with pytest.raises(ValueError, match="distinct"):
        inputs.resized(sizes)


def test_indices_of_one_row_stay_distinct():
    inputs = Inputs(problem_of(lambda x, at: x, torch.randn(9, 5), EXPERTS), "")
    made = inputs.resized({30: 300})[1].sort(-1).values
    assert made.shape == (300, 4) and not bool((made.diff() == 0).any()) and int(made.max()) == 8


@pytest.mark.parametrize("new", [7, 97, 300])
def test_indices_in_order_stay_in_order_and_distinct(new):
    inputs = Inputs(problem_of(lambda x, at: x, torch.randn(40, 5), torch.arange(40)), "")
    made, at = inputs.resized({40: new})
    assert made.shape[0] == new and at.tolist() == list(range(new))
    some = Inputs(problem_of(lambda x, at: x, torch.randn(160, 5), SLOTS.sort().values), "").resized({40: 97})[1]
    assert bool((some.diff() > 0).all()) and int(some.max()) < 160


def test_a_number_that_stands_for_none_may_come_again():
    slots = torch.where(torch.arange(40) % 8 == 0, -1, SLOTS)
    made = Inputs(problem_of(lambda x, at: x, torch.randn(10, 16, 4), slots), "").resized({40: 97})[1]
    assert made.min() == -1 and made[made >= 0].unique().numel() == int((made >= 0).sum()) > 60


@pytest.mark.parametrize(
    "sizes, most", [({16: 1}, 6), ({6: 3}, 48), ({16: 48}, 96), ({16: 48, 6: 3}, 96), ({32: 7}, 96)]
)
def test_lengths_that_several_sizes_make_together_shrink_with_each(sizes, most):
    inputs = Inputs(problem_of(lambda x, n: x, torch.randn(5, 6, 16, 32), torch.tensor([96, 3, 50, 81, 2])), "")
    assert int(inputs.resized({5: 300} | sizes)[1].max()) == most


def test_numbers_with_several_explanations_do_not_grow():
    lengths = torch.tensor([81, 5, 81, 60, 44])  # below 16 * 6 and below 128
    inputs = Inputs(problem_of(lambda x, n: x, torch.randn(5, 6, 16, 128), lengths), "")
    assert int(inputs.resized({128: 257, 5: 300})[1].max()) == 81
    assert int(inputs.resized({128: 64, 5: 300})[1].max()) == 40


def test_one_argument_at_a_time_has_a_nan():
    args = [torch.randn(3, 5), 4, torch.randn(5), torch.arange(5), [torch.randn(2), torch.randn(3)]]
    inputs = Inputs(problem_of(lambda *args: args[0], *args), "")
    special = [case for case in inputs.cases() if case.way == "special"]
    assert len(special) == 9 and {case.word.split()[1] for case in special[:3]} == {"0", "2", "4"}
    for case in special:
        at = [i for i, value in enumerate(inputs.arguments(case)) if not all(
            bool(one.double().isfinite().all()) for one in tensors_of([value]))]  # fmt: skip
        assert at == [int(case.what[-1])] and case.what.startswith(f"one {case.word.split()[0]} in argument")


def test_numbers_that_count_change_with_the_sizes_that_they_divide():
    weights, scales = torch.randn(128, 40), torch.randn(4, 40)  # groups of 32
    inputs = Inputs(problem_of(lambda w, s, group: w * s.repeat_interleave(group, 0), weights, scales, 32), "")
    tied = [dict(case.sizes) for case in inputs.cases() if case.word == "tied"]
    assert {32: 16, 4: 8} in tied
    assert {32: 16, 128: 64} in tied and not any(sizes.get(32, 0) > 32 for sizes in tied)
    made = inputs.resized({32: 16, 4: 8})
    assert made[2] == 16 and made[1].shape == (8, 40)
    mixed = [dict(case.sizes) for case in inputs.cases() if len(case.sizes) == 3]
    assert any(sizes[40] == 10 * sizes[4] and sizes[128] == 32 * sizes[4] and sizes[4] != 4 for sizes in mixed)


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
    assert made == {1: [0.125, 0.75, 0.5], 3: [1, 5], 4: [2], 5: [False], 6: [4, 7, 17]}


@pytest.mark.parametrize(
    "old, new, before, after, meant",
    [([4], [9], [(3, 4)], [(3, 9)], True), ([4], [9], [(3, 4)], [(3, 7)], False), ([4], [9], [()], [()], False),
     ([9], [4], [()], [()], True), ([1], [2], [()], [()], True), ([0.5], [1.0], [()], [()], True)],
)  # fmt: skip
def test_a_whole_number_grows_where_results_follow(old, new, before, after, meant):
    assert scalars.are_meant(old, new, *([torch.Size(shape) for shape in one] for one in (before, after))) == meant


_BINS = """
@triton.jit
def _count(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


def count(x, bins):
    o = torch.zeros(BINS, dtype=torch.int64, device=x.device)[:bins]
    if x.numel():
        _count[(triton.cdiv(x.numel(), 64),)](x.contiguous(), o, x.numel(), B=64)
    return o
"""
_BINS_REFERENCE = """
import torch
def count(x, bins):
    return torch.zeros(bins, dtype=torch.int64).scatter_add_(0, x, torch.ones_like(x))
def get_inputs():
    return [torch.randint(0, 37, (500,)), 37]
"""


def test_strides_of_another_argument_are_wrong(tmp_path):
    text = """
@triton.jit
def _where(x, f, o, n, s0, s1, f0, f1, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    keep = tl.load(f + r * STRIDES, mask=c < n, other=0)
    tl.store(o + r * n + c, tl.where(keep != 0, tl.load(x + r * s0 + c * s1, mask=c < n), 0.0), mask=c < n)


def masked(x, f):
    o = torch.empty(x.shape, device=x.device)
    if x.numel():
        _where[(x.shape[0],)](x, f, o, x.shape[1], *x.stride(), *f.stride(), B=triton.next_power_of_2(x.shape[1]))
    return o
"""
    reference = """
import torch
JUDGE = {"vary": ["strides"]}
def masked(x, f):
    return torch.where(f, x, 0.0)
def get_inputs():
    return [torch.randn(9, 21), torch.rand(9, 21) < 0.5]
"""
    for strides, word in (("f0 + c * f1", "right"), ("s0 + c * s1", "wrong")):
        verdict = judged(tmp_path, HEAD + text.replace("STRIDES", strides), reference, cases=10)
        assert verdict.word == word and len(verdict.cases) >= 3, str(verdict)


@pytest.mark.parametrize("bins, word", [("bins", "right"), ("37", "wrong")])
def test_a_size_of_the_result_that_is_in_the_text_is_wrong(bins, word, tmp_path):
    verdict = judged(tmp_path, HEAD + _BINS.replace("BINS", bins), _BINS_REFERENCE, cases=60, seconds=600.0)
    assert verdict.word == word, str(verdict)
    assert any("75 in place of 37" in case.what for case in verdict.cases)


@pytest.mark.parametrize(
    "made, arguments, word",
    [("value * factor + shift", "x, factor, shift=1.5", "right"),
     ("value * factor + 1.5", "x, factor, shift=1.5", "wrong"),
     ("value * factor + shift", "x, factor, shift=2.0", "wrong"), ("value * factor + 1.5", "x, factor", "right")],
)  # fmt: skip
def test_defaults_that_both_have_are_varied(made, arguments, word, tmp_path):
    text = HEAD + SCALED.replace("def scaled(x, factor)", f"def scaled({arguments})").replace("MADE", made)
    text = text.replace("factor, B: tl", "factor, shift, B: tl") if "shift" in made else text
    text = text.replace("x.numel(), factor, B", "x.numel(), factor, shift, B") if "shift" in made else text
    reference = SCALED_REFERENCE.replace("(x, factor)", "(x, factor, shift=1.5)").replace("MADE", "x * factor + shift")
    verdict = judged(tmp_path, text, reference, cases=60, seconds=600.0)
    assert verdict.word == word, str(verdict)
    if verdict.word == "right":
        assert ("argument 2 is" in str([case.what for case in verdict.cases])) == ("shift" in arguments)


def test_a_number_of_the_example_in_the_text_is_wrong_and_not_cheating(tmp_path):
    assert scaled("value * factor", "x * factor", tmp_path).word == "right"
    verdict = scaled("value * 0.5", "x * factor", tmp_path)
    assert verdict.word == "wrong", str(verdict)
    assert {case.way for case in verdict.cases if case.outcome == "wrong"} == {"scalars"}
    assert "argument 1 is" in verdict.reasons[0].inputs and "in place of 0.5" in verdict.reasons[0].inputs


def test_a_number_that_changes_nothing_is_not_varied(tmp_path):
    verdict = scaled("value * 2", "x * 2", tmp_path)
    assert verdict.word == "right" and "scalars" not in {case.way for case in verdict.cases}
