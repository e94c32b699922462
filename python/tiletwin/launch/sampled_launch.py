"""Launches of which the simulator runs a few clusters, with its counters on, and leaves memory as it was.

Here:      which clusters run and for how long, memory that is put back.
Not here:  arguments of a launch (sim_launch.py), what follows from the counts (tiletwin/counters), who wants to know it
           (tuning_estimates.py).
Invariant: the kernel changes nothing, however its launch ends. Nobody else counts such a launch, and what it prints is
           not shown.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tiletwin.errors import DeadlockError

WORK, FEWEST, MOST = 1_000_000, 6, 64
"""Instructions of warps that are to run of a launch, and how many clusters at least and at most."""
LIMIT = 32_000_000
"""Instructions of warps after which a launch is given up: some seconds."""
_GOLDEN, _FIRST = 0.6180339887498949, 0.31
"""Multiples of the golden ratio are spread evenly, and fall in step with no grid."""

Buffers = list[tuple[str, int, int, bool]]


class TooLong(DeadlockError):
    """The part of a launch that was to run has not come to its end; all of it may."""


class Part(NamedTuple):
    """What ran. rows: as python/sim/CountRows.h has it. is_all: all clusters of the grid did."""

    instructions: int
    rows: Any
    is_all: bool


class Memory:
    """Room for what memory held before a launch, used again by the next one."""

    def __init__(self) -> None:
        self._rooms: list[np.ndarray] = []

    @contextlib.contextmanager
    def kept(self, buffers: Buffers) -> Iterator[None]:
        """Puts back what the block changes in buffers that may be written. Errors: MemoryError, there is no room."""
        found = sorted({(begin, end) for _, begin, end, read_only in buffers if begin < end and not read_only})
        for at, (begin, end) in enumerate(found):
            size = end - begin
            if at == len(self._rooms):
                self._rooms.append(np.empty(size, np.uint8))
            elif self._rooms[at].size < size:
                self._rooms[at] = np.empty(size, np.uint8)
            ctypes.memmove(self._rooms[at].ctypes.data, begin, size)
        try:
            yield
        finally:
            for (begin, end), room in zip(found, self._rooms):
                ctypes.memmove(begin, room.ctypes.data, end - begin)


def chosen(clusters: int, count: int) -> list[int]:
    """Numbers of so many of a grid's clusters; those of a larger count have those of a smaller one among them."""
    if count >= clusters:
        return list(range(clusters))
    return sorted({int(clusters * ((at * _GOLDEN + _FIRST) % 1)) for at in range(count)})


def run(memory: Memory, buffers: Buffers, kernel: Any, sizes: tuple[Any, ...], whole: bool, look: bool) -> Part:
    """Runs a part of a launch.

    kernel: of the simulator. sizes: of grid, block and cluster, bytes of dynamic shared memory, the parameters. whole:
    clusters wait for each other, so all have to run. look: one cluster is enough.
    Errors: TooLong; what a kernel that misbehaves raises.
    """
    grid, _, cluster, *_ = sizes
    clusters = math.prod(grid) // math.prod(cluster)

    def start(which: list[int]) -> Part:
        threads = 1 if whole else 0  # who waits looks equally often in each trial
        rest = buffers, ("bounds",), threads, LIMIT, "", lambda text: None, True, which
        with memory.kept(buffers):
            try:
                instructions, _, rows = kernel.module.native.launch(kernel.name, *sizes, *rest)
            except DeadlockError as error:
                if f" {LIMIT} instructions, the limit" not in str(error):
                    raise
                some = f"{len(which) or clusters} of {clusters} clusters"
                raise TooLong(
                    f"{some} did not come to their end within {LIMIT:,} instructions of warps on the simulator"
                ) from None
        return Part(instructions, rows, len(which or range(clusters)) == clusters)

    if whole:
        return start([])
    first = start(chosen(clusters, 1 if look else FEWEST))
    wanted = min(WORK // max(first.instructions // FEWEST, 1), MOST)
    return first if look or min(wanted, clusters) <= FEWEST else start(chosen(clusters, wanted))
