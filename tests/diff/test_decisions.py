"""What numbers that may differ decide makes only that not comparable which depends on it; the rest is judged as before.

The other side is a right run that adds each row in another order (`Reordered`), so sums differ in their last digits,
and wrong ones of it that also write something that no rounding explains.
"""

from __future__ import annotations

import dataclasses

import deciding_kernels as kernels
import numpy as np
import pytest
from other_backends import Correct, Rewritten, last_first
from tiletwin import diff
from tiletwin.diff import bounds
from tiletwin.diff.backends import InterpBackend, Latitude

ROWS, COLUMNS = 64, 512


class Reordered(InterpBackend):
    """The interpreter on x, the first argument, with the columns of each row in another order. A mistake: (argument,
    element, number) that is written into the result."""

    name = "reordered"

    def __init__(self, *mistakes: tuple[str, int, float]) -> None:
        self.mistakes = mistakes

    def run(self, launch: diff.Launch) -> diff.Outcome:
        arrays = dict(launch.arrays())
        order = np.random.default_rng(1).permutation(COLUMNS)
        memory = [data.copy() for data in launch.memory]
        x = memory[arrays["x"].storage]
        x[:] = x.view(np.float32).reshape(ROWS, COLUMNS)[:, order].copy().view(np.uint8).reshape(-1)
        outcome = super().run(dataclasses.replace(launch, memory=memory))
        assert not outcome.error and not outcome.unsupported, outcome
        outcome.memory[arrays["x"].storage][:] = launch.memory[arrays["x"].storage]
        for name, element, number in self.mistakes:
            kind = {"fp32": np.float32, "i32": np.int32}[arrays[name].type]
            outcome.memory[arrays[name].storage].view(kind)[element] = number
        return dataclasses.replace(outcome, backend=self.name)


def floats(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def integers(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


X = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)


def sums_of(x: np.ndarray) -> np.ndarray:
    """As the interpreter adds."""
    infinite = np.full(ROWS, np.inf, np.float32)
    launch = diff.launch_of(kernels.flagged, (ROWS,), [x, infinite, floats(ROWS), integers(ROWS), COLUMNS])
    return InterpBackend().run(launch).memory[2].view(np.float32).copy()


def near_five() -> np.ndarray:
    """Rows whose sums are 5 but for rounding: some are below, some are not."""
    x = np.random.default_rng(2).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    x += (5 - x.astype(np.float64).sum(1, keepdims=True)).astype(np.float32) / COLUMNS
    return x


def launch_of(name: str) -> diff.Launch:
    x, positive = X, np.abs(X)
    arguments = {
        "flagged": lambda: [x, sums_of(x), floats(ROWS), integers(ROWS)],
        "either_way": lambda: [x, sums_of(x), integers(ROWS), integers(ROWS), floats(ROWS)],
        "halved_until": lambda: [positive, sums_of(positive) / 4, floats(ROWS), integers(ROWS), floats(ROWS, 8),
                                 floats(ROWS)],
        "so_many": lambda: [near_five(), floats(ROWS), integers(ROWS, 16), integers(ROWS)],
        "looked_up": lambda: [near_five(), np.arange(16, dtype=np.float32), floats(ROWS), floats(ROWS)],
        "put": lambda: [near_five(), integers(ROWS, 16), floats(ROWS)],
        "put_and_read": lambda: [near_five(), integers(ROWS, 16), floats(ROWS), integers(ROWS)],
        "summed_where": lambda: [x, sums_of(x), integers(ROWS), floats(ROWS)],
    }  # fmt: skip
    return diff.launch_of(getattr(kernels, name), (ROWS,), [*arguments[name](), COLUMNS])


# By kernel: arguments that the decision reaches.
REACHED = {
    "flagged": {"flags"},
    "either_way": {"low", "high"},
    "halved_until": {"values", "rounds", "trace"},
    "so_many": {"marks", "last"},
    "looked_up": {"values"},
    "put": {"places"},
    "summed_where": {"bins"},
}


@pytest.mark.parametrize("other", ["reordered", "sim"])
@pytest.mark.parametrize("name", REACHED)
def test_only_what_depends_on_it_is_not_comparable(name: str, other: str) -> None:
    report = diff.compare_launch(launch_of(name), ["interp", Reordered() if other == "reordered" else other])
    verdicts = {row.argument: row.verdict for row in report.rows}
    assert {argument for argument, verdict in verdicts.items() if verdict != diff.SAME} == REACHED[name], report
    assert report.verdict == diff.NOT_COMPARABLE and not any(row.different for row in report.rows)
    assert next(
        row for row in report.rows if row.argument == "sums" or name == "either_way"
    ).elements  # it was looked at
    assert all("decided by numbers" in text or "an address" in text for text in report.reasons), report.reasons


@pytest.mark.parametrize("name", [name for name in REACHED if name != "either_way"])
def test_a_mistake_elsewhere_is_found(name: str) -> None:
    report = diff.compare_launch(launch_of(name), ["interp", Reordered(("sums", 40, 1e6))])
    first = report.first()
    assert report.verdict == diff.DIFFERENT, report
    assert (first.argument, first.index, first.different) == ("sums", "[40]", 1) and first.program == (40, 0, 0), report


def test_what_only_this_side_wrote_is_known_by_element() -> None:
    """Where this side goes into the branch and the other one perhaps does not, nothing is written elsewhere."""
    limit = sums_of(X)
    limit[::2] = np.nextafter(limit[::2], np.float32(-np.inf))  # above, but only just
    limit[1::2] -= 1
    launch = diff.launch_of(kernels.flagged, (ROWS,), [X, limit, floats(ROWS), integers(ROWS), COLUMNS])
    row = diff.compare_launch(launch, ["interp", Reordered()]).rows[-1]
    assert row.argument == "flags" and row.verdict == diff.NOT_COMPARABLE and row.not_comparable > 5
    row = diff.compare_launch(launch, ["interp", Reordered(("flags", 33, 0))]).rows[-1]
    assert row.verdict == diff.DIFFERENT and row.different == 1 and row.index == "[33]", row
    row = diff.compare_launch(launch, ["interp", Reordered(("flags", 32, 7))]).rows[-1]
    assert row.verdict == diff.NOT_COMPARABLE and row.different == 0


def test_a_decision_that_no_rounding_turns_is_none() -> None:
    """The condition is computed from inexact sums, and certain all the same."""
    limit = sums_of(X) + np.float32(0.5)
    limit[::2] -= 1
    launch = diff.launch_of(kernels.flagged, (ROWS,), [X, limit, floats(ROWS), integers(ROWS), COLUMNS])
    report = diff.compare_launch(launch, ["interp", Reordered()])
    assert report.verdict == diff.SAME and sum(row.within for row in report.rows) > 5, report
    report = diff.compare_launch(launch, ["interp", Reordered(("flags", 3, 1))])
    assert report.verdict == diff.DIFFERENT and report.first().argument == "flags", report


def test_what_is_read_of_such_memory_makes_all_of_it_unknown() -> None:
    launch = launch_of("put_and_read")
    report = diff.compare_launch(launch, ["interp", Reordered(("sums", 40, 1e6), ("doubled", 3, 9))])
    assert report.verdict == diff.NOT_COMPARABLE and not any(row.different for row in report.rows), report
    assert bounds.derive(launch, Latitude()).undecided


def test_a_lane_whose_mask_may_differ() -> None:
    x = np.ones((ROWS, COLUMNS), np.float32) / np.float32(3)
    x[:, 0] = 3 / sums_of(x).mean()  # v * total is 1 but for rounding in column 0, and far above elsewhere
    launch = diff.launch_of(kernels.masked, (ROWS,), [x, integers(ROWS, COLUMNS), floats(ROWS), COLUMNS])
    derived = bounds.derive(launch, Latitude())
    limits = derived.limits[1].reshape(ROWS, COLUMNS)
    assert not derived.undecided and not derived.open
    doubtful = ~np.isfinite(limits)
    values, total = x, sums_of(x)[:, None]
    assert (doubtful == (np.abs(values * total - 1) < 1e-3)).all(), doubtful.sum()


def test_a_program_that_leaves_early() -> None:
    """What comes behind the decision is in doubt, to the kernel's end; or nothing of the launch is known."""
    launch = diff.launch_of(kernels.leaves_early, (ROWS,), [X, sums_of(X), floats(ROWS), integers(ROWS), COLUMNS])
    derived = bounds.derive(launch, Latitude())
    assert derived.undecided or 3 in derived.open
    report = diff.compare_launch(launch, ["interp", Reordered()])
    assert report.verdict == diff.NOT_COMPARABLE and not any(row.different for row in report.rows), report


def test_locks_order_programs() -> None:
    """A loop that an atomic's result ends says who comes first, and all that follows may differ by that."""
    launch = diff.launch_of(kernels.locked_sum, (ROWS,), [X, integers(1), floats(1), COLUMNS])
    assert bounds.derive(launch, Latitude()).undecided
    assert diff.compare_launch(launch, ["interp", Rewritten(last_first)]).verdict != diff.DIFFERENT


# ---- operations with a rule of their own ----

M, N, K = 32, 16, 128


def codes(kind: str, rows: int, columns: int, axis: int) -> np.ndarray:
    """Numbers of a format as their bits, without infinities and NaNs."""
    random = np.random.default_rng(3)
    if kind == "e2m1":
        shape = [rows, columns]
        shape[axis] //= 2
        return random.integers(0, 256, shape).astype(np.uint8)
    if kind == "fp16":
        return random.standard_normal((rows, columns)).astype(np.float16)
    numbers = random.integers(0, 256, (rows, columns)).astype(np.uint8)
    numbers[(numbers & 0x7F) >= (0x7F if kind == "e4m3" else 0x7C)] = 0
    return numbers


def scaled_product(a: str, b: str) -> diff.Launch:
    random = np.random.default_rng(4)
    left, right = codes(a, M, K, 1), codes(b, K, N, 0)
    scales = [random.integers(112, 140, (lines, K // 32)).astype(np.uint8) for lines in (M, N)]
    arguments = [left, scales[0], right, scales[1], floats(M, N), a, b, M, N, K, left.shape[1], right.shape[0]]
    return diff.launch_of(kernels.scaled_product, (1,), arguments)


@pytest.mark.parametrize("other", ["ieee", "sim"])
@pytest.mark.parametrize("a, b", [("e4m3", "e4m3"), ("e2m1", "e2m1"), ("e5m2", "e4m3"), ("e4m3", "e2m1")])
def test_scaled_products(a: str, b: str, other: str) -> None:
    launch = scaled_product(a, b)
    report = diff.compare_launch(launch, ["interp", Correct() if other == "ieee" else other])
    row = report.rows[-1]
    assert report.verdict == diff.SAME and row.within > 0, report
    size = np.abs(row.values[0]).mean()
    assert np.median(row.limits) < 1e-3 * size, "bounds so wide would find nothing"


def test_a_wrong_scale_is_found() -> None:
    launch = scaled_product("e4m3", "e2m1")

    class Off(InterpBackend):
        name = "off"

        def run(self, launch: diff.Launch) -> diff.Outcome:
            memory = [data.copy() for data in launch.memory]
            memory[1][memory[1][: K // 32].argmax()] += 1  # the largest scale of row 0
            outcome = super().run(dataclasses.replace(launch, memory=memory))
            outcome.memory[1][:] = launch.memory[1]
            return dataclasses.replace(outcome, backend=self.name)

    row = diff.compare_launch(launch, ["interp", Off()]).rows[-1]
    assert row.verdict == diff.DIFFERENT and row.different > N // 2 and row.index == "[0, 0]", row


@pytest.mark.parametrize("other", ["ieee", "sim"])
def test_scalar_code_for_each_lane(other: str) -> None:
    """tl.map_elementwise: branches inside it, and several lanes at a time."""
    side = Correct() if other == "ieee" else other
    launch = diff.launch_of(kernels.by_lane, (ROWS,), [X, floats(ROWS, COLUMNS), floats(ROWS), COLUMNS])
    report = diff.compare_launch(launch, ["interp", side])
    row = next(row for row in report.rows if row.argument == "o")
    assert report.verdict == diff.SAME and row.within > 500, report
    assert np.median(row.limits) < 1e-3 * np.abs(row.values[0]).mean()
    launch = diff.launch_of(kernels.by_pairs, (1,), [X[0], X[1], floats(COLUMNS), floats(COLUMNS), COLUMNS])
    report = diff.compare_launch(launch, ["interp", side])
    assert report.verdict == diff.SAME and sum(row.within for row in report.rows) > 50, report
    assert all(row.limits.max() < 1e-4 * np.abs(row.values[0]).max() for row in report.rows[2:])


def test_a_mistake_in_scalar_code_is_found() -> None:
    launch = diff.launch_of(kernels.by_pairs, (1,), [X[0], X[1], floats(COLUMNS), floats(COLUMNS), COLUMNS])
    half = Rewritten(lambda text: text.replace("arith.constant 5.000000e-01", "arith.constant 5.001000e-01"))
    report = diff.compare_launch(launch, ["interp", half])
    rows = {row.argument: row for row in report.rows}
    # a * 0.5 is the even lane of the second result.
    assert rows["q"].verdict == diff.DIFFERENT and rows["q"].different == COLUMNS // 2, report
    assert rows["q"].index == "[0]" and rows["p"].verdict == diff.SAME, report


def test_lanes_in_doubt_inside_of_scalar_code() -> None:
    """Where x may be on either side of 0 the branch may go either way: only these lanes are unknown."""
    x = np.tile(np.linspace(-1, 1, COLUMNS, dtype=np.float32), (ROWS, 1))
    x[:, 100] = 0
    x[:, 0] = 3  # so that sums are not 0
    launch = diff.launch_of(kernels.by_lane, (ROWS,), [x, floats(ROWS, COLUMNS), floats(ROWS), COLUMNS])
    limits = bounds.derive(launch, Latitude(approximates=True)).limits[1].reshape(ROWS, COLUMNS)
    assert np.isfinite(np.delete(limits, 100, 1)).all()
