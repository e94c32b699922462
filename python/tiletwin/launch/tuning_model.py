"""What a compiled configuration can be told of before it is measured: does it fit, how much of the GPU does it use.

Here:      limits of launches, blocks that run beside each other, a rough relative time by which candidates are ordered
           and hopeless ones left out.
Not here:  compiling (tuning_compile.py), times (tuning_search.py).
Invariant: what does not fit is certain. The relative time is a guess, so it leaves out only what it holds for slower by
           HOPELESS than another: more than the size of tiles, the one thing that it knows nothing of, can win back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tiletwin.drivers.interpreter import DEVICE_PROPERTIES
from tiletwin.errors import OutOfResources

HOPELESS = 16.0
BUSY_WARPS = 8
"""Warps of a multiprocessor that hide most of the latencies."""
SPILL = 256
"""Bytes that a thread spills which make a kernel about twice as slow."""
BLOCKS = 32
"""Most blocks of a multiprocessor (CUDA C++ Programming Guide: 16 to 32 since sm_80)."""
REGISTER_UNIT, RESERVED_SHARED = 8, 1024
"""Registers of a thread are given in units; the system takes shared memory of each block."""


H200 = {
    "capability": 90, "multiprocessor_count": DEVICE_PROPERTIES["multiprocessor_count"],
    "max_shared_mem": DEVICE_PROPERTIES["max_shared_mem"], "max_threads": 1024, "threads_per_multiprocessor": 2048,
    "registers_per_multiprocessor": DEVICE_PROPERTIES["max_num_regs"], "shared_per_multiprocessor": 228 << 10,
}  # fmt: skip
"""What `cuda.device_facts` says of one, as far as this module asks for it."""


class Needs(NamedTuple):
    """What one configuration takes."""

    threads: int
    shared: int
    programs: int | None = None
    """Of the launch, its clusters' blocks counted; None: not known."""
    registers: int | None = None
    """Of a thread; None: nobody told, there is no ptxas."""
    spilled: int | None = None
    """Bytes of a thread."""


def check(needs: Needs, gpu: dict[str, Any]) -> None:
    """gpu: `cuda.device_facts`. Errors: OutOfResources, such a block cannot be launched there."""
    if needs.shared > gpu["max_shared_mem"]:
        raise OutOfResources(needs.shared, gpu["max_shared_mem"], "shared memory")
    if needs.threads > gpu["max_threads"]:
        raise OutOfResources(needs.threads, gpu["max_threads"], "threads")


def blocks_at_once(needs: Needs, gpu: dict[str, Any]) -> int:
    """Blocks that a multiprocessor runs beside each other."""
    limits = [BLOCKS, gpu["threads_per_multiprocessor"] // needs.threads]
    if needs.registers:
        each = -(-needs.registers // REGISTER_UNIT) * REGISTER_UNIT
        limits.append(gpu["registers_per_multiprocessor"] // (each * needs.threads))
    limits.append(gpu["shared_per_multiprocessor"] // (needs.shared + RESERVED_SHARED))
    return max(1, min(limits))


def relative_time(needs: Needs, gpu: dict[str, Any]) -> float:
    """About how long a launch takes beside other configurations of the same work; 1 is a GPU that is used well."""
    count = gpu["multiprocessor_count"]
    time, most = 1.0, blocks_at_once(needs, gpu)
    if needs.programs:
        busiest = -(-needs.programs // count)
        time = busiest * count / needs.programs  # the others wait for the multiprocessor with most of the work
        most = min(most, busiest)
    warps = most * needs.threads / 32
    return time * max(1.0, BUSY_WARPS / warps) ** 0.5 * (1 + (needs.spilled or 0) / SPILL)
