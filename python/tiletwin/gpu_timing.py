"""Timing of calls that launch kernels on a GPU, for `triton.testing`.

Here:      whether the calls of this process run on a GPU, times by events, with cold caches, and of graphs; single
           runs of calls that are measured in turns (Runs, GraphRuns).
Not here:  what is made of the times (testing.py), timing on the CPU.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from tiletwin._activate import interprets

CACHE_BYTES = 256 << 20
"""Written before each call that is timed, so that it finds nothing of the last one in the GPU's L2 cache."""
MOST_CLEARINGS = 20
GRAPH_CALLS = 10
"""Least number of calls in a graph whose replay is timed."""


def available() -> bool:
    """True if this process uses a GPU through torch, and kernels run there."""
    torch = sys.modules.get("torch")
    if torch is None or interprets():
        return False
    return torch.cuda.is_available() and torch.cuda.is_initialized()


def _milliseconds(pairs: Sequence[tuple[Any, Any]]) -> list[float]:
    return [start.elapsed_time(end) for start, end in pairs]


def _events(torch: Any, count: int) -> list[tuple[Any, Any]]:
    return [tuple(torch.cuda.Event(enable_timing=True) for _ in range(2)) for _ in range(count)]  # type: ignore[misc]


def _estimate(torch: Any, fn: Callable[[], Any], cache: Any = None) -> float:
    """Milliseconds of a call, roughly; of one that finds nothing in the caches, where `cache` is what fills them."""
    (pair,) = _events(torch, 1)
    pair[0].record()
    for _ in range(5):
        if cache is not None:
            cache.zero_()
        fn()
    pair[1].record()
    torch.cuda.synchronize()
    return max(pair[0].elapsed_time(pair[1]) / 5, 1e-3)


class _Cleared:
    """Calls with cold caches, whose launch the host has made before the GPU comes to them: what empties the caches is
    repeated until it takes longer than the host does. Otherwise the events of a call of a few microseconds would tell
    how long the GPU waited for the host."""

    def __init__(self, torch: Any, clear: Callable[[], Any], clearing: float) -> None:
        """clearing: milliseconds that `clear` takes on the GPU."""
        self._torch, self._clear, self._once = torch, clear, clearing
        self._count = 1

    @property
    def clearing(self) -> float:
        """Milliseconds in front of a call."""
        return self._count * self._once

    def times(self, fn: Callable[[], Any], count: int, before: Callable[[], Any] = lambda: None) -> list[float]:
        """Milliseconds of each of `count` calls. before: called in front of each."""
        least = math.inf  # a launch may wait for room in the GPU's queue
        pairs = _events(self._torch, count)
        for start, end in pairs:
            before()
            for _ in range(self._count):
                self._clear()
            began = time.perf_counter()
            start.record()
            fn()
            end.record()
            least = min(least, 1e3 * (time.perf_counter() - began))
            self._count = min(max(1, math.ceil(1.5 * least / self._once)), MOST_CLEARINGS)
        self._torch.cuda.synchronize()
        return _milliseconds(pairs)


def call_times(fn: Callable[[], Any], warmup: float, rep: float, grad_to_none: Sequence[Any] | None) -> list[float]:
    """Milliseconds of each of `rep` ms worth of calls on the GPU, after `warmup` ms of them."""
    import torch

    fn()
    torch.cuda.synchronize()
    cache = torch.empty(CACHE_BYTES // 4, dtype=torch.int32, device="cuda")
    one = _estimate(torch, fn, cache)
    for _ in range(max(1, int(warmup / one))):
        fn()

    def forget_gradients() -> None:
        for tensor in grad_to_none or ():
            tensor.grad = None

    cleared = _Cleared(torch, cache.zero_, _estimate(torch, cache.zero_))
    cleared.times(fn, 1, forget_gradients)  # how long the host takes
    return cleared.times(fn, max(1, int(rep / one)), forget_gradients)


def graph_times(fn: Callable[[], Any], rep: float, grad_to_none: Sequence[Any] | None) -> list[float]:
    """Milliseconds of a call, ten times: each the mean over the replay of a graph of calls that fills rep / 10 ms."""
    import torch

    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        for tensor in grad_to_none or ():
            tensor.detach_()
            tensor.requires_grad_(True)
            tensor.grad = None
        count = max(GRAPH_CALLS, int(rep / 10 / _estimate(torch, fn)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(count):
                for tensor in grad_to_none or ():
                    tensor.grad = None
                fn()
        torch.cuda.synchronize()
        pairs = _events(torch, 10)
        for start, end in pairs:
            start.record()
            graph.replay()
            end.record()
        torch.cuda.synchronize()
    return [time / count for time in _milliseconds(pairs)]


WARM_UP = 10.0
"""Milliseconds of work that bring the clocks of an idle GPU up."""
SHORT = 1.0
"""Milliseconds: a run before those that count matters to calls that last no longer."""


class Runs:
    """Single runs of calls, each with cold caches, as `call_times` has them. Making one warms the GPU up."""

    def __init__(self) -> None:
        import torch

        self._torch = torch
        self._cache = torch.empty(CACHE_BYTES // 4, dtype=torch.int32, device="cuda")
        self._cache.zero_()
        one = _estimate(torch, self._cache.zero_)
        for _ in range(int(WARM_UP / one)):
            self._cache.zero_()
        self._cleared = _Cleared(torch, self._cache.zero_, _estimate(torch, self._cache.zero_))

    @property
    def clearing(self) -> float:
        """Milliseconds that emptying the caches takes in front of a run."""
        return self._cleared.clearing

    def times(self, fn: Callable[[], Any], count: int, warm: bool = False) -> list[float]:
        """Milliseconds of each of `count` runs. warm: one more goes before them."""
        if warm:
            self._cleared.times(fn, 1)
        return self._cleared.times(fn, count)


class GraphRuns:
    """Replays of a graph of GRAPH_CALLS calls, as `graph_times` has them."""

    def __init__(self, fn: Callable[[], Any]) -> None:
        import torch

        self._torch, self._stream = torch, torch.cuda.Stream()
        with torch.cuda.stream(self._stream):
            fn()
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                for _ in range(GRAPH_CALLS):
                    fn()
            self._graph.replay()
            torch.cuda.synchronize()

    def times(self, count: int) -> list[float]:
        """Milliseconds of a call, `count` times: the mean over a replay."""
        with self._torch.cuda.stream(self._stream):
            pairs = _events(self._torch, count)
            for start, end in pairs:
                start.record()
                self._graph.replay()
                end.record()
            self._torch.cuda.synchronize()
        return [time / GRAPH_CALLS for time in _milliseconds(pairs)]
