"""A planted mistake is named by argument, element, program and the first value that differs, with its source line."""

import re

import numpy as np
import planted_kernels as kernels
import pytest
from other_backends import Rewritten
from tiletwin import diff


def line_of(comment):
    with open(kernels.__file__) as file:
        return next(n for n, line in enumerate(file, 1) if line.rstrip().endswith(f"# {comment}"))


def random(*shape, kind=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


def run_softmax(change):
    args = {"x": random(8, 100), "o": np.zeros((9, 100), np.float32), "n": 100, "B": 128}
    return diff.compare(kernels.softmax, (8,), args, backends=["interp", Rewritten(change)])


def run_matmul(change):
    args = {"a": random(64, 128, kind=np.float16), "b": random(128, 64, kind=np.float16, seed=1),
            "c": np.zeros((64, 64), np.float16), "K": 128, "N": 64, "BM": 32, "BN": 32, "BK": 32}  # fmt: skip
    return diff.compare(kernels.matmul, (2, 2), args, backends=["interp", Rewritten(change)])


def run_clipped(change, n=1000):
    args = {"x": random(n), "o": np.zeros(n, np.float32), "n": n, "limit": 0.5, "B": 256}
    return diff.compare(kernels.clipped, (4,), args, backends=["interp", Rewritten(change)])


def check(report, argument, program, comment, variable):
    assert report.verdict == diff.DIFFERENT, report
    first = report.first()
    assert first.argument == argument and first.program == program, report
    found = report.finding
    assert found.program == program, report
    assert found.place[0].endswith("planted_kernels.py") and found.place[1] == line_of(comment), report
    assert found.variable == variable, report
    text = str(report)
    assert f"planted_kernels.py:{line_of(comment)}" in text and f"# {comment}" in text
    return first, found


def test_wrong_function():
    first, found = check(run_softmax(lambda t: t.replace("math.exp ", "math.exp2 ")), "o", (0, 0, 0), "exp", "e")
    assert found.operation == "math.exp" and found.index == "[0]" and first.index == "[0, 0]"


def test_reduction_over_the_wrong_lanes():
    # As a wrong shuffle would: the largest of the first half only.
    report = run_softmax(lambda t: t.replace("arith.maxnumf", "arith.minnumf"))
    assert check(report, "o", (0, 0, 0), "max", "high")[1].index == ""


def test_dropped_mask():
    # The row behind the last one is written, which no program of the interpreter does.
    args = {"x": random(1, 100), "o": np.full((2, 100), 7, np.float32), "n": 100, "B": 128}
    wrong = Rewritten(lambda t: re.sub(r"tt.store (%\S+), (%\S+), %\S+ :", r"tt.store \1, \2 :", t))
    report = diff.compare(kernels.softmax, (1,), args, backends=["interp", wrong])
    first = report.first()
    assert report.verdict == diff.DIFFERENT and first.argument == "o" and first.program is None
    assert (first.index, first.left, first.right, first.different) == ("[1, 0]", "7", "0", 28)
    found = report.finding
    assert found.program == (0, 0, 0) and found.place[1] == line_of("store"), report
    assert "rewritten writes o[1, 0], and no program of interp does" in found.text


def test_a_mask_that_lets_too_little_through():
    def other_mask(text):
        inside = re.search(r"(%inside\S*) = arith.cmpf", text).group(1)
        store = list(re.finditer(r"(tt.store %\S+, %kept\S*, )(%\S+)( : tensor<256x!tt.ptr<f32>>)", text))[-1]
        return text[: store.start()] + store[1] + inside + store[3] + text[store.end() :]

    report = run_clipped(other_mask, n=1024)
    assert report.rows, str(report)
    first, found = report.first(), report.finding
    assert first.argument == "o" and first.program == (0, 0, 0) and first.right == "0", report
    assert (
        found.text == "all values are the same within their bounds: what differs is the store, its address or its mask"
    )
    assert found.place[1] == line_of("twice") + 1


def test_wrong_rounding():
    # f32 to f16 toward zero instead of to the nearest: half of the results are one unit off.
    def toward_zero(text):
        return re.sub(r"arith.truncf (%\S+) : (\S+) to (\S+)", r"tt.fp_to_fp \1, rounding = rtz : \2 -> \3", text)

    args = {"x": random(1000), "o": np.zeros(1000, np.float16), "n": 1000, "B": 256}
    report = diff.compare(kernels.narrowed, (4,), args, backends=["interp", Rewritten(toward_zero)])
    first, found = check(report, "o", (0, 0, 0), "round", "small")
    assert found.operation == "arith.truncf" and found.bound == "0"
    assert 400 < first.different < 600 and first.worst_ulp == 1


def test_wrong_shuffle():
    # A tile whose lanes are in another order: b transposed.
    def swapped(text):
        tile = "tensor<32x32xf16>"
        moved = rf"%wrong = tt.trans \2 {{order = array<i32: 1, 0>}} : {tile} -> {tile}\n"
        return re.sub(r"(%\S+ = tt.dot %\S+, )(%\S+),", moved + r"\1%wrong,", text)

    first, found = check(run_matmul(swapped), "c", (0, 0, 0), "dot", "acc")
    assert found.round == 0 and found.operation == "tt.dot" and first.index == "[0, 0]"


def test_lost_accumulator():
    def forgetful(text):
        zero = re.search(r"(%\S+) = arith.constant dense<0.000000e\+00> : tensor<32x32xf32>", text).group(1)
        return re.sub(r"(tt.dot %\S+, %\S+, )%\S+,", rf"\1{zero},", text)

    first, found = check(run_matmul(forgetful), "c", (0, 0, 0), "dot", "acc")
    assert found.round == 1 and found.operation == "tt.dot"  # the first round starts from zero on both sides
    assert first.index == "[0, 0]"


def test_stale_value():
    # As a missing barrier would: every round of the loop reads what the first one has read.
    def stale(text):
        zero = re.search(r"(%\S+) = arith.constant 0 : i32", text).group(1)
        return re.sub(
            r"tt.splat %(k(_\d+)?|arg\d+) : i32 -> tensor<32xi32>", rf"tt.splat {zero} : i32 -> tensor<32xi32>", text
        )

    first, found = check(run_matmul(stale), "c", (0, 0, 0), "left", "x")
    assert found.round == 1 and first.argument == "c"


def test_wrong_comparison():
    report = run_clipped(lambda t: t.replace("arith.cmpf olt", "arith.cmpf ogt"))
    assert check(report, "o", (0, 0, 0), "compare", "inside")[1].operation == "arith.cmpf"


def test_difference_in_a_branch():
    report = run_clipped(lambda t: re.sub(r"dense<2.0+e\+00>", "dense<3.0>", t))
    check(report, "o", (2, 0, 0), "twice", "kept")


def test_rows_are_ordered_by_program():
    """The program that comes first is named, although its element does not."""

    def backwards(text):
        return text.replace("math.exp ", "math.exp2 ")

    args = {"x": random(8, 100), "o": np.zeros((9, 100), np.float32), "n": 100, "B": 128}
    report = diff.compare(kernels.softmax, (8,), args, backends=["interp", Rewritten(backwards)])
    assert report.first().program == (0, 0, 0)
    assert report.first().different == 800


def test_values_that_cannot_be_tapped_are_said():
    class Opaque(Rewritten):
        can_tap = False

    args = {"x": random(8, 100), "o": np.zeros((9, 100), np.float32), "n": 100, "B": 128}
    report = diff.compare(
        kernels.softmax, (8,), args, backends=["interp", Opaque(lambda t: t.replace("math.exp ", "math.exp2 "))]
    )
    assert report.finding is None
    assert "values inside of the kernel were not compared: rewritten cannot show them" in report.notes
    assert report.first().place[1] == line_of("store")


def test_a_failure_on_one_side():
    args = {"x": random(8, 100), "o": np.zeros((8, 100), np.float32), "n": 100, "B": 128}
    wrong = Rewritten(lambda t: re.sub(r"tt.store (%\S+), (%\S+), %\S+ :", r"tt.store \1, \2 :", t))
    report = diff.compare(kernels.softmax, (8,), args, backends=["interp", wrong])
    assert report.verdict == diff.DIFFERENT and report.ended == diff.DIFFERENT and not report.rows
    assert report.notes[0].startswith("rewritten: OutOfBoundsError:") and "interp: every program ran" in report.notes[1]


def test_difference_error():
    report = run_softmax(lambda t: t.replace("math.exp ", "math.exp2 "))
    from tiletwin.errors import DifferenceError

    with pytest.raises(DifferenceError, match=r"softmax\[8, 1, 1\] on interp, rewritten: different"):
        report.raise_for_difference()
