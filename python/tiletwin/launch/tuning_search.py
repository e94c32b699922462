"""Which of several candidates is the fastest, found with few measurements: short runs of all, longer ones of some.

Here:      the search. It knows candidates as names and asks a clock for times.
Not here:  clocks (tuning_clock.py), what a candidate is and which are tried at all (gpu_tuning.py).
Idea:      a first look at each candidate drops those that are clearly slower. The others are measured in rounds, in
           turns, each round as long as all before it. Who is surely slower than the leader is dropped. The search ends
           when the leader is surely within TOLERANCE of everyone, or when it has used its share of the time that
           measuring every candidate in full would take.
Invariant: times of one candidate are only compared with times that were measured in the same rounds or before.
"""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol

COLD = 3.0
"""Milliseconds that a kernel's first launch may take longer than others: code is loaded, the host prepares it."""
KEEP = 1.3
"""The first look drops candidates whose fastest run is slower than the best by this factor."""
DISTURBED = 1.5
"""How much longer than its kernel a run may last that something disturbed: nobody is dropped for one such run alone."""
TOLERANCE = 0.012
"""The search ends when nothing can be faster than the leader by more than this."""
SURE = 3.0
"""Standard errors that make a difference sure."""
SHARE = 0.25
"""Of the time that measuring all in full takes, the most that the search takes, unless the first look alone takes
more."""
LEAST = 0.001
"""Relative spread of times that is assumed at least: clocks of GPUs have steps."""
UNKNOWN = 0.02
"""Relative spread where nothing was measured often enough to tell."""
FEW = 4
"""Runs that tell a spread. Of fewer, one that was disturbed moves the median."""
FIRST_BELOW = 5.0
"""Milliseconds: candidates that last no longer get all runs of a first look."""


class Clock(Protocol):
    """Times calls of a candidate, in milliseconds."""

    first: int
    """Runs of a short candidate that a first look takes."""

    def look(self, candidate: Any) -> float | None:
        """The time of the candidate's first run, which may be up to COLD too long. None: it cannot run."""
        ...

    def sample(self, candidate: Any, count: int) -> Sequence[float]:
        """Times of `count` runs."""
        ...

    def cost(self, time: float) -> float:
        """What a run costs that takes `time`."""
        ...

    def whole(self, time: float) -> float:
        """What it costs to measure such a candidate in full."""
        ...


class Found(NamedTuple):
    """What a search found."""

    best: Any
    """None: no candidate can run."""
    times: dict[Any, list[float]]
    """By candidate that can run, in the order in which they were tried."""
    spent: float
    """Milliseconds, as the clock's `cost` says."""


def _spread(times: Sequence[float]) -> float | None:
    """Relative standard deviation, from the median distance to the median, so that outliers do not count."""
    if len(times) < FEW:
        return None
    middle = statistics.median(times)
    return 1.4826 * statistics.median(abs(time - middle) for time in times) / middle if middle > 0 else 0.0


class _Search:
    """What is known so far."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.times: dict[Any, list[float]] = {}
        self.spent = self.whole = 0.0

    def median(self, candidate: Any) -> float:
        return statistics.median(self.times[candidate])

    def lowest(self, candidate: Any) -> float:
        """What the median may turn out to be, apart from noise."""
        times = self.times[candidate]
        if len(times) == 1:
            return times[0] / DISTURBED
        return min(times) if len(times) < FEW else statistics.median(times)

    def _pay(self, time: float, runs: int = 1) -> None:
        self.spent += runs * self.clock.cost(time)

    def look(self, candidate: Any, best: float) -> float:
        """Measures a candidate for the first time. Returns the fastest median, this one among them."""
        cold = self.clock.look(candidate)
        if cold is None:
            return best
        self._pay(cold)
        self.times[candidate] = [cold]
        if cold - COLD > KEEP * best:  # slower in any case
            self.whole += self.clock.whole(cold)
            return best
        if cold < 100 * COLD:
            affordable = int(self.clock.whole(cold) / 12 / self.clock.cost(cold))
            short = cold - COLD < FIRST_BELOW
            runs = self.clock.first if short else max(1, min(self.clock.first, affordable))
            self.times[candidate] = list(self.clock.sample(candidate, runs))
            self._pay(self.median(candidate), runs)
        self.whole += self.clock.whole(self.median(candidate))
        return min(best, self.median(candidate))

    def widths(self, candidates: Sequence[Any]) -> dict[Any, float]:
        """How far the median of each may be from the truth, relative to it. The times of one candidate alone may lie
        close together by chance, so it has at least the spread that is usual among them."""
        spreads = {candidate: _spread(self.times[candidate]) for candidate in candidates}
        known = [spread for spread in spreads.values() if spread is not None]
        usual = max(statistics.median(known), LEAST) if known else UNKNOWN
        return {
            candidate: SURE * 1.25 * max(spread or 0.0, usual) / len(self.times[candidate]) ** 0.5
            for candidate, spread in spreads.items()
        }

    def contenders(self, candidates: list[Any]) -> list[Any]:
        """Those that may be the fastest; the leader alone once it is surely fast enough."""
        widths = self.widths(candidates)
        leader = min(candidates, key=self.median)
        slowest = self.median(leader) * (1 + widths[leader])
        fastest = {c: self.lowest(c) * (1 - widths[c]) for c in candidates if c != leader}
        if all(slowest <= time * (1 + TOLERANCE) for time in fastest.values()):
            return [leader]
        return [c for c in candidates if c == leader or fastest[c] < slowest]

    def affordable(self, candidates: list[Any]) -> int:
        """Runs of each in the next round: as many as all before, if the budget has them."""
        wanted = max(len(self.times[candidate]) for candidate in candidates)
        one = sum(self.clock.cost(self.median(candidate)) for candidate in candidates)
        return min(wanted, int((SHARE * self.whole - self.spent) / one))

    def round(self, candidates: list[Any], runs: int) -> None:
        for candidate in candidates:
            times = self.clock.sample(candidate, runs)
            self.times[candidate] += times
            self._pay(statistics.median(times), runs)


def search(candidates: Sequence[Hashable], clock: Clock) -> Found:
    """The fastest of `candidates`, which come with the most promising first: the better the first ones, the sooner
    others are dropped. Errors are the clock's."""
    state = _Search(clock)
    best = float("inf")
    for candidate in candidates:
        best = state.look(candidate, best)
    keep = {candidate: KEEP if len(times) > 1 else DISTURBED for candidate, times in state.times.items()}
    left = [candidate for candidate, times in state.times.items() if min(times) <= keep[candidate] * best]
    if not left:
        return Found(None, state.times, state.spent)
    while len(left := state.contenders(left)) > 1 and (runs := state.affordable(left)) > 0:
        state.round(left, runs)
        left.reverse()  # clocks that drift favour neither end
    return Found(min(left, key=state.median), state.times, state.spent)
