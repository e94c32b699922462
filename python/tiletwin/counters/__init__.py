"""Counters of kernels on the simulator, under the names that Nsight Compute (ncu) has for them.

    with tiletwin.counters.collect() as launches:
        kernel[grid](x, y, n)                       # TILETWIN_BACKEND=sim, or tiletwin.sim.load(...)[...](...)
    metrics_of(launches[0])["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"].value

Here:      `collect`, what it gives, and counters of that by name.
Not here:  what an instruction is counted as (classes.py), sums (counts.py), ncu's names (metrics.py), how many CTAs fit
           (occupancy.py), what to do about it (advice.py), what is shown (text.py, json_text.py, html.py), the command
           `tiletwin profile` (command.py), the counting itself (sim/counters).
Invariant: nothing is counted, and nothing costs time, while nobody collects.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tiletwin.counters import metrics
from tiletwin.counters.counts import Launch
from tiletwin.sim import modules

__all__ = ["Launch", "collect", "metrics_of"]

_lock = threading.Lock()
"""Around the list of collections, which all threads that launch share."""
_collections: list[list[Launch]] = []


def _watch(kernel: Any, grid: Any, block: Any, cluster: Any, shared: int, rows: tuple[Any, ...]) -> None:
    launch = Launch.of(kernel, grid, block, cluster, shared, rows)
    with _lock:
        for launches in _collections:
            launches.append(launch)


@contextlib.contextmanager
def collect() -> Iterator[list[Launch]]:
    """Counts the launches on the simulator while the block runs, those of all threads; gives the list that they come
    into. A launch that ends with an error is not in it."""
    launches: list[Launch] = []
    with _lock:
        _collections.append(launches)
        modules.watcher = _watch
    try:
        yield launches
    finally:
        with _lock:
            _collections[:] = [other for other in _collections if other is not launches]
            modules.watcher = _watch if _collections else None


def metrics_of(launch: Launch) -> dict[str, metrics.Metric]:
    """Counters of a launch by ncu's names, with what each one is and how exact."""
    return metrics.of(launch.instructions)
