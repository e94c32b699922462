"""Clocks of the tuner's search on a GPU: short runs of a configuration, as the function that times it in full has them.

Here:      which functions that time have such a clock, single runs with cold caches, replays of graphs.
Not here:  the search (tuning_search.py), events and caches (gpu_timing.py).
Invariant: a function that tiletwin did not write has no clock: nobody knows what it measures, and what it does besides.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tiletwin import gpu_timing
from tiletwin.launch.tuning_search import Clock

FIRST_OF_SHORT, FIRST_OF_GRAPHS = 4, 2
Call = Callable[[Any], Any]
"""Launches a candidate once, hooks included."""


class EventClock:
    """Runs with cold caches, as `do_bench` measures."""

    first = FIRST_OF_SHORT

    def __init__(self, call: Call, unusable: tuple[type[Exception], ...], warmup: float = 25, rep: float = 100) -> None:
        """unusable: errors of a candidate that cannot run. warmup, rep: milliseconds of a full measurement."""
        self._call, self._unusable = call, unusable
        self._warmup, self._rep = warmup, rep
        self._runs = gpu_timing.Runs()
        self._is_short: dict[Any, bool] = {}

    def look(self, candidate: Any) -> float | None:
        try:
            (time,) = self._runs.times(functools.partial(self._call, candidate), 1)
        except self._unusable:
            return None
        self._is_short[candidate] = time < gpu_timing.SHORT
        return time

    def sample(self, candidate: Any, count: int) -> Sequence[float]:
        # Others ran in between: the first run of a block finds its code in no cache, and the GPU waits for the host.
        return self._runs.times(functools.partial(self._call, candidate), count, warm=self._is_short[candidate])

    def cost(self, time: float) -> float:
        return time + self._runs.clearing

    def whole(self, time: float) -> float:
        one = self.cost(time)
        return one * (6 + max(1, int(self._warmup / one)) + max(1, int(self._rep / one)))


class GraphClock:
    """Replays of graphs, as `do_bench_cudagraph` measures."""

    first = FIRST_OF_GRAPHS

    def __init__(self, call: Call, unusable: tuple[type[Exception], ...], rep: float = 20) -> None:
        self._call, self._unusable, self._rep = call, unusable, rep
        self._events = gpu_timing.Runs()
        self._graphs: dict[Any, gpu_timing.GraphRuns] = {}

    def look(self, candidate: Any) -> float | None:
        try:
            (time,) = self._events.times(functools.partial(self._call, candidate), 1)
        except self._unusable:
            return None
        return time

    def sample(self, candidate: Any, count: int) -> Sequence[float]:
        if candidate not in self._graphs:
            self._graphs[candidate] = gpu_timing.GraphRuns(functools.partial(self._call, candidate))
        return self._graphs[candidate].times(count)

    def cost(self, time: float) -> float:
        return time * gpu_timing.GRAPH_CALLS

    def whole(self, time: float) -> float:
        return time * (6 + 10 * max(gpu_timing.GRAPH_CALLS, int(self._rep / 10 / max(time, 1e-3))))


def clock_for(benchmark: Callable, call: Call, unusable: tuple[type[Exception], ...]) -> Clock | None:
    """The clock that measures shortly what a function measures in full; None: it has none.

    benchmark: `do_bench(fn, quantiles=...)` of an autotuner.
    """
    given: dict[str, Any] = {}
    if isinstance(benchmark, functools.partial) and not benchmark.args:
        benchmark, given = benchmark.func, dict(benchmark.keywords)
    if getattr(benchmark, "__module__", "") != "tiletwin.testing" or not gpu_timing.available():
        return None
    name = getattr(benchmark, "__name__", "")
    if name == "do_bench" and given.keys() <= {"warmup", "rep"}:
        return EventClock(call, unusable, **given)
    if name == "do_bench_cudagraph" and given.keys() <= {"rep"}:
        return GraphClock(call, unusable, **given)
    return None
