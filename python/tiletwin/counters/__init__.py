"""Counters of kernels on the simulator, under the names that Nsight Compute (ncu) has for them.

    with tiletwin.counters.collect() as launches:
        kernel[grid](x, y, n)                       # TILETWIN_BACKEND=sim, or tiletwin.sim.load(...)[...](...)
    metrics_of(launches[0])["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"].value

Here:      `collect`, what it gives, and counters of that by name.
Not here:  what an instruction is counted as (classes.py), sums (counts.py), ncu's names (metrics.py), how many CTAs fit
           (occupancy.py), what to do about it (advice.py), what is shown (text.py, json_text.py, html.py), the command
           `tiletwin profile` (command.py), machine code (machine_run.py, machine_metrics.py), the counting itself
           (sim/counters).
Invariant: nothing is counted, and nothing costs time, while nobody collects.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tiletwin.counters import machine_metrics, machine_run, metrics
from tiletwin.counters.counts import Launch
from tiletwin.sim import modules

__all__ = ["Launch", "collect", "metrics_of"]

_lock = threading.Lock()
"""Around the list of collections, which all threads that launch share."""
_collections: list[list[Launch]] = []


def _watch(kernel: Any, grid: Any, block: Any, cluster: Any, shared: int, rows: tuple[Any, ...], machine: Any) -> None:
    launch = Launch.of(kernel, grid, block, cluster, shared, rows)
    launch.machine = machine
    with _lock:
        for launches in _collections:
            launches.append(launch)


@contextlib.contextmanager
def collect(machine_code: bool = False) -> Iterator[list[Launch]]:
    """Counts the launches on the simulator while the block runs, those of all threads; gives the list that they come
    into. A launch that ends with an error is not in it.

    machine_code: also run what ptxas makes of each kernel, on the same memory, for counters of its instructions
    (`Launch.machine`). Holds for all who collect meanwhile.
    """
    launches: list[Launch] = []
    with _lock:
        _collections.append(launches)
        modules.watcher = _watch
    try:
        with machine_run.beside_launches() if machine_code else contextlib.nullcontext():
            yield launches
    finally:
        with _lock:
            _collections[:] = [other for other in _collections if other is not launches]
            modules.watcher = _watch if _collections else None


def metrics_of(launch: Launch) -> dict[str, metrics.Metric]:
    """Counters of a launch by ncu's names, with what each one is and how exact: of its machine code where that has run,
    else of PTX."""
    ran = launch.machine
    return machine_metrics.of(launch, ran) if ran and ran.instructions else metrics.of(launch.instructions)
