"""What an estimate of time knows of a launch.

Not here:  the time that follows from it (estimate.py).
"""

from __future__ import annotations

from typing import NamedTuple

from tiletwin.counters import occupancy
from tiletwin.counters.counts import Launch, Timeline, Traffic


class Work(NamedTuple):
    """What is known of a launch. ctas: of the whole grid; warps: of a CTA; shared: bytes of a CTA's shared memory;
    resident: CTAs that a multiprocessor holds; spilled: bytes of loads and stores in a thread's code for which ptxas
    found no registers.

    loaded: sectors that loads by threads touch, each time; timeline, traffic: what was touched, once in each CTA. All
    three are of the CTAs that ran, which may be a part of the grid.
    """

    ctas: int
    warps: int
    shared: int
    resident: int
    spilled: int
    loaded: int
    timeline: Timeline
    traffic: list[Traffic]


def work_of(launch: Launch, fits: occupancy.Occupancy, spilled: int = 0) -> Work:
    sizes = launch.ctas, launch.warps, launch.shared, fits.ctas, spilled, loaded_sectors(launch)
    return Work(*sizes, launch.timeline, launch.traffic)


def loaded_sectors(launch: Launch) -> int:
    """Of loads from global memory through L1."""
    loads = (one for one in launch.instructions if one.text.startswith("ld"))
    return sum(one.memory["global"].sectors for one in loads)
