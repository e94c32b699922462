"""The estimate of time of a launch of which a part was counted, for who compares launches (launch/tuning_estimates.py).

Not here:  the model (estimate.py), all else that is said of a launch (report.py).
"""

from __future__ import annotations

from typing import Any

from tiletwin.counters import estimate, occupancy
from tiletwin.counters.counts import Launch
from tiletwin.counters.work import work_of
from tiletwin.cuda.ptxas import FunctionReport
from tiletwin.errors import OutOfResources

_CAPABILITY = 90
_H200 = estimate.DEVICES[_CAPABILITY][0]


def of(
    kernel: Any, grid: Any, block: Any, cluster: Any, shared: int, rows: Any, assembled: FunctionReport | None
) -> float:
    """Seconds on an H200, from the launch's first CTA to its last.

    kernel: of the simulator. rows: what was counted, as python/sim/CountRows.h has it. assembled: what ptxas said of
    the entry; None: nobody knows, so registers and spills do not count.
    Errors: OutOfResources, not even one CTA fits.
    """
    launch = Launch.of(kernel, grid, block, cluster, shared, rows)
    fits = occupancy.of(_CAPABILITY, launch.threads, assembled and assembled.registers, launch.shared)
    if not fits.ctas:
        needed = (assembled.registers if assembled else 0) * launch.threads
        raise OutOfResources(needed, occupancy.MULTIPROCESSORS[_CAPABILITY].registers, "registers")
    spilled = assembled.spill_stores + assembled.spill_loads if assembled else 0
    return estimate.of(work_of(launch, fits, spilled), _H200).seconds
