"""The search for the fastest configuration, against a clock whose truth is known: choice, cost, hopeless candidates.

The reference is the truth that the clock is made of, and what measuring every candidate in full would have cost.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiletwin.launch.tuning_search import COLD, Found, search


class NoisyClock:
    """Times around the truth: a spread, a clock that has steps, drift, now and then a run that is far too long."""

    first = 4

    def __init__(self, truth, spread=0.0, seed=0, step=3.2e-5, outliers=0.0, drift=0.0, broken=()) -> None:
        self.truth, self.spread, self.step = truth, spread, step
        self.outliers, self.drift, self.broken = outliers, drift, set(broken)
        self.random = np.random.default_rng(seed)
        self.paid, self.runs = 0.0, dict.fromkeys(range(len(truth)), 0)

    def _one(self, candidate) -> float:
        time = self.truth[candidate] * (1 + self.spread * self.random.standard_normal())
        time *= 1 + self.drift * math.sin(self.paid / 30)
        if self.random.random() < self.outliers:
            time += min(0.5 * time, 2.5)  # what disturbs a kernel is short
        time = max(self.step, round(max(time, 0) / self.step) * self.step)
        self.paid += self.cost(time)
        self.runs[candidate] += 1
        return time

    def look(self, candidate):
        if candidate in self.broken:
            return None
        cold = self.random.uniform(0, COLD)
        self.paid += cold
        return self._one(candidate) + cold

    def sample(self, candidate, count):
        return [self._one(candidate) for _ in range(count)]

    def cost(self, time):
        return time + 0.1  # what is written to empty the caches

    def whole(self, time):
        one = time + 0.1
        return one * (6 + max(1, int(25 / one)) + max(1, int(100 / one)))

    def everything(self) -> float:
        return sum(self.whole(time) for at, time in enumerate(self.truth) if at not in self.broken)


TIMES = st.floats(math.log(0.003), math.log(200)).map(math.exp)
RATIOS = st.lists(st.floats(0, 2).map(math.exp), min_size=2, max_size=40)
CLOSE = st.lists(st.floats(1, 1.06), min_size=2, max_size=40)


@settings(max_examples=300, deadline=None)
@given(
    base=TIMES,
    ratios=st.one_of(RATIOS, CLOSE),
    spread=st.floats(0, 0.02),
    outliers=st.floats(0, 0.05),
    drift=st.floats(0, 0.01),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_choice_is_good_and_cheap(base, ratios, spread, outliers, drift, seed) -> None:
    # Kernels that last long vary little.
    spread = spread if base < 5 else spread / 8
    outliers = outliers if base < 5 else 0
    clock = NoisyClock([base * ratio for ratio in ratios], spread, seed, outliers=outliers, drift=drift)
    found = search(range(len(ratios)), clock)
    assert clock.truth[found.best] <= min(clock.truth) * (1.02 + 3.2e-5 / min(clock.truth))
    assert clock.paid <= clock.everything() / 3
    assert found.spent == pytest.approx(clock.paid, rel=0.2)


@settings(max_examples=100, deadline=None)
@given(ratios=RATIOS, seed=st.integers(0, 2**32 - 1), data=st.data())
def test_candidates_that_cannot_run_cost_nothing(ratios, seed, data) -> None:
    broken = data.draw(st.sets(st.integers(0, len(ratios) - 1)))
    clock = NoisyClock(ratios, 0.01, seed, broken=broken)
    found = search(range(len(ratios)), clock)
    assert set(found.times) == set(range(len(ratios))) - broken
    assert all(clock.runs[candidate] == 0 for candidate in broken)
    if len(broken) == len(ratios):
        assert found == Found(None, {}, 0.0)
    else:
        assert found.best not in broken
        assert clock.truth[found.best] <= 1.02 * min(clock.truth[candidate] for candidate in found.times)


def test_a_disturbed_run_among_few_drops_nobody() -> None:
    """Of two runs the median is half way to the disturbed one."""

    class Disturbed(NoisyClock):
        first = 2

        def sample(self, candidate, count):
            times = super().sample(candidate, count)
            return [times[0] * 1.5, *times[1:]] if candidate == 1 and self.runs[1] <= 3 else times

    clock = Disturbed([1.04, 1.0])
    assert search(range(2), clock).best == 1


def test_an_only_run_that_was_disturbed_drops_nobody() -> None:
    """Kernels of some milliseconds get one run at first."""

    class Disturbed(NoisyClock):
        def sample(self, candidate, count):
            times = super().sample(candidate, count)
            return [times[0] * 1.5, *times[1:]] if candidate == 2 and self.runs[2] <= 2 else times

    assert search(range(3), Disturbed([20.0, 9.5, 7.4])).best == 2


def test_clearly_slower_candidates_get_one_look() -> None:
    clock = NoisyClock([1.0, 50.0, 1.001, 400.0], 0.005)
    search(range(4), clock)
    assert clock.runs[1] == clock.runs[3] == 1 < clock.runs[0]


def test_good_candidates_first_make_it_cheaper() -> None:
    truth = [float(2**n) for n in range(8)]
    ordered, reversed_ = NoisyClock(truth, 0.005), NoisyClock(truth, 0.005)
    assert search(range(8), ordered).best == search(range(7, -1, -1), reversed_).best == 0
    assert ordered.paid < 0.7 * reversed_.paid


def test_equals_are_not_told_apart_forever() -> None:
    clock = NoisyClock([0.02] * 12, 0.02, seed=3)
    search(range(12), clock)
    assert clock.paid < clock.everything() / 3


def test_a_single_candidate_is_looked_at_once() -> None:
    clock = NoisyClock([1.0])
    assert search([0], clock).best == 0 and clock.runs[0] <= 1 + clock.first


def test_drift_between_rounds_does_not_choose() -> None:
    """A GPU that becomes slower by a tenth while it warms up slows all down alike."""

    class Warming(NoisyClock):
        def _one(self, candidate):
            return super()._one(candidate) * (1.1 - 0.1 * math.exp(-self.paid / 100))

    wrong = 0
    for seed in range(30):
        clock = Warming([0.05 * (1 + 0.03 * (at != 5)) for at in range(6)], 0.01, seed)
        wrong += search(range(6), clock).best != 5
    assert wrong == 0
