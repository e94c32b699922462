"""Kernels as people write them, whose references say nothing but an example: sizes that belong together, masks made of
infinities, targets that stand for none, widths that have to be powers of two."""

import textwrap

import pytest
import torch
from judged import HEAD, HERE, changed, judged, line_of
from tiletwin.judge.free_sizes import FreeSizes, probes
from tiletwin.judge.inputs import Case, Inputs
from tiletwin.judge.problem import Problem
from tiletwin.judge.schema import Schema

USUAL = HERE / "usual"


def text_of(name):
    return (USUAL / f"{name}.py").read_text(), (USUAL / f"{name}_reference.py").read_text()


@pytest.mark.parametrize("name", ["rope", "causal", "loss"])
def test_a_right_one_is_right(name, tmp_path):
    text, reference = text_of(name)
    verdict = judged(tmp_path, text, reference, cases=60, seconds=600.0)
    assert verdict.word == "right", str(verdict)
    assert sum(case.outcome == "right" for case in verdict.cases) >= 30
    assert not [reason for reason in verdict.reasons if reason.rule == "judge-bounds"], str(verdict)


@pytest.mark.parametrize(
    "name, old, new, line",
    [
        ("rope", "row = number // heads % rows", "row = number % rows", "tl.store"),
        ("rope", "cos.contiguous()", "cos", "tl.store"),
        ("rope", "rows, heads, D=d", "rows, heads, D=32", ""),
        ("causal", "m[:, None] >= n", "m[:, None] > n", "tl.store"),
        ("causal", "d**-0.5", "0.125", "tl.store"),
        ("loss", "tl.where(i < columns, x, 0.0)", "tl.where(i < columns - 1, x, 0.0)", "tl.store"),
        ("loss", "target != -100", "target != -1", ""),
        ("loss", "sums / columns", "sums / 1000", "tl.store"),
    ],
)
def test_a_wrong_one_is_wrong(name, old, new, line, tmp_path):
    text, reference = text_of(name)
    text = changed(old, new, text)
    verdict = judged(tmp_path, text, reference, cases=60, seconds=600.0)
    assert verdict.word == "wrong", str(verdict)
    named = [text.splitlines()[reason.line - 1] for reason in verdict.reasons if reason.verdict == "wrong"]
    assert any(line in one for one in named), str(verdict)


def test_a_width_that_does_not_compile_is_declined_and_said(tmp_path):
    text, reference = text_of("causal")
    verdict = judged(tmp_path, text, reference, cases=40, seconds=600.0)
    assert "declined" in {case.outcome for case in verdict.cases}
    (said, *_) = [reason for reason in verdict.reasons if "power of 2" in reason.text]
    assert not said.verdict and said.line == line_of("tl.arange(0, D)", text)
    assert "\n" not in said.text and "CompilationError: arange's range" in said.text, said.text


def inputs_of(call, *examples):
    problem = Problem("pair", "f", call, call, lambda seed: list(examples), Schema())
    return Inputs(problem, "")


def takes(problem, args):
    try:
        problem.call(*args)
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize(
    "call, shapes, size, free",
    [
        (lambda x, c: x[..., :16] * c + x[..., 16:] * c, [(5, 32), (5, 16)], 16, False),
        (lambda x, c: torch.cat([half * c for half in x.chunk(2, -1)], -1), [(5, 32), (5, 16)], 32, False),
        (lambda x, c: torch.cat([half * c for half in x.chunk(2, -1)], -1), [(5, 32), (5, 16)], 5, True),
        (lambda q, k: q @ k.repeat_interleave(4, 0).mT, [(8, 5, 16), (2, 5, 16)], 8, False),
        (lambda x, w: x @ w, [(20, 30), (30, 40)], 40, True),
        (lambda x: x.view(-1, 3).sum(-1), [(12,)], 12, True),
        (lambda x: x.view(2, 16, -1).sum(-1), [(32,)], 32, True),
    ],
)
def test_a_size_is_free_if_the_reference_takes_others_without_broadcasting(call, shapes, size, free):
    inputs = inputs_of(call, *(torch.randn(shape) for shape in shapes))
    sizes = FreeSizes(inputs, takes)
    assert sizes.are_meant(Case(9, "sizes", "", 0, ((size, 1),))) == free
    assert sizes.are_meant(Case(9, "sizes", "", 0, ((size, 33),)))


def test_sizes_that_are_declared_are_meant():
    inputs = inputs_of(lambda x, c: x * c, torch.randn(4, 8))
    inputs.problem.schema.sizes[8] = [1, 8]
    assert FreeSizes(inputs, lambda problem, args: False).are_meant(Case(9, "sizes", "", 0, ((8, 1),)))


@pytest.mark.parametrize("size", [2, 3, 4, 7, 48, 1000])
def test_probes_are_not_broadcast_and_not_the_size(size):
    assert size not in probes(size) and min(probes(size)) > 2


def test_multiples_change_together_and_powers_of_two_stay_such():
    inputs = inputs_of(lambda x, c: x, torch.randn(5, 32), torch.randn(5, 16))
    cases = list(inputs.cases())
    tied = [dict(case.sizes) for case in cases if case.word == "tied"]
    assert tied and all(sizes[32] == 2 * sizes[16] for sizes in tied)
    alone = {dict(case.sizes)[32] for case in cases if len(case.sizes) == 1 and 32 in dict(case.sizes)}
    assert {64, 16, 48, 33, 0, 1} <= alone and 32 not in alone


@pytest.mark.parametrize("mark", [-100, -1])
def test_a_number_that_stands_for_none_stays_one(mark):
    targets = torch.randint(0, 50, (40,))
    targets[::4] = mark
    inputs = inputs_of(lambda x, t: x, torch.randn(40, 50), targets)
    made = inputs.resized({50: 7, 40: 400})[1]
    assert set(made.tolist()) == {mark, *range(7)} and 0.1 < (made == mark).double().mean() < 0.4


def test_other_negative_numbers_are_a_range():
    inputs = inputs_of(lambda x: x, torch.arange(-20, 20))
    made = inputs.resized({40: 400})[0]
    assert made.min() >= -20 and made.max() < 20 and made.unique().numel() > 30


@pytest.mark.parametrize("empty, word", [("torch.zeros(())", "right"), ("1 / 0", "right"), ("torch.zeros(2)", "wrong")])
def test_what_a_mean_of_nothing_is_nobody_asks(empty, word, tmp_path):
    text = f"""
{HEAD}
@triton.jit
def _mean(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0) / n)

def mean(x):
    if not x.numel():
        return {empty}
    o = torch.empty((), device=x.device)
    _mean[(1,)](x.contiguous(), o, x.numel(), B=triton.next_power_of_2(x.numel()))
    return o
"""
    reference = """
import torch

JUDGE = {"vary": ["sizes"], "sizes": {300: [0, 7]}}

def mean(x):
    return x.mean()

def get_inputs():
    return [torch.randn(300)]
"""
    verdict = judged(tmp_path, text, reference, cases=10)
    assert verdict.word == word and len(verdict.cases) > 3, str(verdict)


TURNED = """
@triton.jit
def _halved(x, y, columns, half: tl.constexpr, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    keep = i < half
    tl.store(y + row * columns + i, tl.load(x + row * columns + i, mask=keep) * 0.5, mask=keep)


def halved(x, half=24):
    x = x.contiguous()
    y = torch.empty_like(x)
    y[:, half:] = x[:, half:]
    _halved[(x.shape[0],)](x, y, x.shape[1], half, B=64)
    return y
"""
TURNED_REFERENCE = """
import torch
def halved(x, half=24):
    return torch.cat([x[:, :half] * 0.5, x[:, half:]], 1)
def get_inputs():
    return [torch.randn(5, 40)]
JUDGE = {"vary": ["values"]}
"""


@pytest.mark.parametrize("half, word", [(24, "right"), (4, "cheating")])
def test_torch_may_copy_a_part_of_a_result_and_not_most_of_it(half, word, tmp_path):
    texts = [text.replace("half=24", f"half={half}") for text in (HEAD + TURNED, TURNED_REFERENCE)]
    verdict = judged(tmp_path, *texts, cases=6)
    assert verdict.word == word, verdict
    assert word == "right" or "were written by no kernel" in verdict.reasons[0].text


def test_what_kernels_get_as_numbers_is_compared_between_examples_of_one_shape(tmp_path):
    reference = """
    import torch
    def scaled(x):
        return x.sum() * x.shape[1]
    def get_inputs():
        return [torch.randn(2, int(torch.randint(3, 1000, ())))]
    """
    submission = """
    @triton.jit
    def _summed(x, y, n, columns, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(y, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0) * columns)


    def scaled(x):
        x = x.contiguous()
        y = torch.empty((), device=x.device)
        _summed[(1,)](x, y, x.numel(), x.shape[1], B=triton.next_power_of_2(max(x.numel(), 1)))
        return y
    """
    verdict = judged(tmp_path, HEAD + textwrap.dedent(submission), reference, cases=10)
    assert verdict.word == "right", verdict
    assert any("the examples have different shapes" in reason.text for reason in verdict.reasons)
