"""How far an estimate of time may be off: the error of launches of its kind, and whether the launch is like those that
the model was calibrated with.

Here:      kinds, their errors, ranges of what was calibrated, what the model takes no notice of.
Not here:  the model (estimate.py), how errors were measured (benchmarks/estimate.py, which also finds these numbers).
"""

from __future__ import annotations

from typing import NamedTuple

from tiletwin.counters.counts import UNITS, Launch, by_class
from tiletwin.counters.work import Work

PRODUCTS, ATTENTION, OTHER = "products", "products and exponentials", "no products"
_EXPONENTIALS = 0.15
"""Time of special functions, as a share of the tensor cores', from which a launch is like attention."""


class Error(NamedTuple):
    """mean: of |estimate / measured - 1| over recorded launches, each judged by constants that come from other cases.
    most: nine of ten launches are within it."""

    mean: float
    most: float


ERRORS = {PRODUCTS: Error(0.101, 0.24), ATTENTION: Error(0.091, 0.18), OTHER: Error(0.09, 0.19)}
"""By kind: of 240 launches on an H200."""

CALIBRATED = {
    "microseconds": (1.808, 633.419), "CTAs": (8, 16384), "warps of a CTA": (4, 12),
    "bytes of a CTA's shared memory": (0, 196640), "CTAs of a multiprocessor": (1, 16),
    "bytes of spills of a thread": (0, 2448), "percent of instructions' cycles for FP64": (0.0, 0.0),
}  # fmt: skip
"""The smallest and the largest number of launches that calibrate, of each of `measures`."""


def kind_of(work: Work) -> str:
    """By the units that the launch uses."""
    busy = dict(zip(UNITS, work.timeline.busy))
    if not busy["tensor cores"]:
        return OTHER
    return ATTENTION if busy["special functions"] > _EXPONENTIALS * busy["tensor cores"] else PRODUCTS


def measures(work: Work, seconds: float) -> dict[str, float]:
    """Numbers of a launch whose range tells whether it is like others."""
    busy = dict(zip(UNITS, work.timeline.busy))
    return {
        "microseconds": 1e6 * seconds, "CTAs": work.ctas, "warps of a CTA": work.warps,
        "bytes of a CTA's shared memory": work.shared, "CTAs of a multiprocessor": work.resident,
        "bytes of spills of a thread": work.spilled,
        "percent of instructions' cycles for FP64": 100 * busy["FP64"] / max(busy["issue"], 1.0),
    }  # fmt: skip


def outside(work: Work, seconds: float) -> list[str]:
    """What makes a launch unlike those that the model was calibrated with. seconds: the estimate."""
    found = []
    for name, value in measures(work, seconds).items():
        low, high = CALIBRATED[name]
        if not low <= value <= high:
            found.append(
                f"the estimate of time is outside of what was calibrated, its error is not known: {name}: "
                f"{value:,.6g}, calibrated with {low:,.6g} to {high:,.6g}"
            )
    if work.spilled:
        found.append(
            f"ptxas has no registers for {work.spilled} bytes of loads and stores of a thread: a recorded launch of "
            "such code took more than four times as long as estimated"
        )
    return found


def left_out(launch: Launch, assembled: bool) -> list[str]:
    """What a launch does that the estimate takes no notice of. assembled: ptxas has said how many registers it has."""
    found = []
    if not assembled:
        found.append("the estimate of time takes for granted that registers do not limit the occupancy")
    if launch.cluster != (1, 1, 1):
        found.append("the estimate of time was calibrated without clusters: its error is not known")
    kinds = by_class(launch.instructions)
    if kinds.get("global atomics") or kinds.get("shared atomics"):
        found.append("the estimate of time does not know how long atomic operations on one address wait for each other")
    if launch.memory("local").requests:
        found.append("the estimate of time takes local memory for registers: ptxas may keep it there or not")
    return found
