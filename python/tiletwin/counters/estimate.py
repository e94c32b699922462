"""How long a launch would take on an H200 or H100, and what it waits for: an estimate from what the simulator has seen.

Here:      `of` a `Work`, the model and its constants.
Not here:  clocks of registers and barriers while CTAs run (sim/counters/Timeline.h), which memory they touch
           (sim/counters/Traffic.h), how the constants were found (benchmarks/estimate.py), how far off an estimate may
           be (trust.py).
Idea:      A CTA's warps are customers of a multiprocessor's units, and its share of memory's bandwidth is one of them.
           One warp alone needs the time of its longest chain of dependent instructions, of those that it issues, and of
           the bytes that its own loads and stores move; several share the units as mean value analysis says (Reiser and
           Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", 1980). So few CTAs pay for memory and
           for their own work one after the other, and many for the longer of both. Warps that often meet at barriers
           want the same units at the same time: in part they are one customer. CTAs go over the multiprocessors in
           waves.
Units:     seconds, bytes; inside of a multiprocessor cycles.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tiletwin.counters import trust
from tiletwin.counters.counts import SHARING, UNITS
from tiletwin.counters.roofline import SECTOR
from tiletwin.counters.work import Work


class Device(NamedTuple):
    """memory: bytes per second of the data sheet. is_measured: launches on it calibrate the model."""

    name: str
    multiprocessors: int
    clock: float
    memory: float
    is_measured: bool


class Constants(NamedTuple):
    """Found by benchmarks/estimate.py from launches on an H200.

    memory: share of the data sheet's bandwidth. latency: of memory's, as sim/counters/Timeline.h has it. issue,
    integer, memory_unit: of the cycles of units, as InstructionCost.cpp has them. together: cycles between two barriers
    where warps are half in step. throttle: share of the clock that is lost when the tensor cores are always busy.
    spills: how often a byte of a thread's registers that ptxas keeps in memory takes the way to L2.
    """

    memory: float
    latency: float
    issue: float
    integer: float
    memory_unit: float
    together: float
    throttle: float
    spills: float


CONSTANTS = Constants(
    memory=0.8341, latency=1.157, issue=1.308, integer=0.3, memory_unit=1.222,
    together=170.2, throttle=0.1985, spills=2.033,
)  # fmt: skip
_START = 1.3e-6
"""What the shortest launches take with their data in L2."""
_SCHEDULERS = 4
DEVICES = {90: (Device("H200", 132, 1.98e9, 4.8e12, True), Device("H100", 132, 1.98e9, 3.35e12, False))}
"""By compute capability; H100 and H200 are the SXM ones, at their highest clock."""


class Estimate(NamedTuple):
    """kind: of the launch, one of trust.ERRORS. needs: seconds of "memory" and "multiprocessors", each by itself.
    units: seconds for which each of a multiprocessor's units is busy."""

    device: Device
    kind: str
    seconds: float
    needs: dict[str, float]
    units: dict[str, float]

    @property
    def limit(self) -> str:
        """What binds: "memory", a unit that is busy most of the time, or "latency": warps wait for results and
        for each other, while no unit is busy most of the time."""
        longest = max(self.needs, key=lambda name: self.needs[name])
        if longest != "multiprocessors":
            return longest
        busiest = max(self.units, key=lambda name: self.units[name])
        return busiest if self.units[busiest] > _MOSTLY * self.needs[longest] else "latency"


_MOSTLY = 0.65


class _Bytes(NamedTuple):
    """Of the whole launch: from memory and to memory. missed: the share of what L1 asks for that L2 does not have."""

    read: float
    written: float
    missed: float


_L1, _L2_KEPT = 256 << 10, 30e6
"""L1 with shared memory; what L2 of 50 MB keeps of data that several CTAs do not share."""


def _bytes(work: Work, device: Device) -> _Bytes:
    """CTAs that did not run touch as much as those that did, and none more than the whole of a buffer. What a CTA reads
    again comes from L1 while all resident CTAs' data fit into it, else from L2, and from memory where they do not fit
    there."""
    scale = SECTOR * work.ctas / max(work.timeline.ctas, 1)

    def whole(sectors: int, size: int) -> float:
        return min(sectors * scale, size) if size else sectors * scale

    different = sum(whole(one.read, one.bytes) for one in work.traffic)
    once = scale * sum(one.read_by_each for one in work.traffic)
    at_a_time = once / max(work.ctas, 1) * min(work.resident, -(-work.ctas // device.multiprocessors))
    room = max(_L1 - work.shared * work.resident, 1)
    again = max(scale * work.loaded - once, 0.0) * max(0.0, 1 - room / at_a_time) if at_a_time else 0.0
    lost = again * min(1.0, max(0.0, 2 * (at_a_time * device.multiprocessors / _L2_KEPT - 1)))
    written = sum(whole(one.written, one.bytes) for one in work.traffic)
    return _Bytes(different + lost, written, min(1.0, (different + lost) / (once + again)) if once else 0.0)


def _passed(alone: float, demands: list[float], customers: float) -> float:
    """Cycles until each of so many customers has been served by all units. alone: cycles of one customer, no fewer than
    its demands together. Between whole numbers of customers it is a straight line."""
    queues = [demand / alone for demand in demands]
    rest, total, before = alone - sum(demands), alone, alone
    for number in range(2, math.ceil(customers) + 1):
        times = [demand * (1 + queue) for demand, queue in zip(demands, queues)]
        before, total = total, sum(times) + rest
        queues = [number * time / total for time in times]
    part = customers - math.floor(customers)
    return before + (total - before) * part if part else total


_SPECIALISED, _APART = 0.85, 0.5
"""Share of a CTA's warps that work, below which some of them do nothing but copy for others; and how much of what a
warp issues then adds to its chain."""
_FROM_L2 = 64
"""Bytes that a multiprocessor gets of L2 in a cycle."""


def _shared(clocks: tuple[float, ...], warps: float) -> float:
    """The clock of so many warps on a scheduler, by a line between those that there are."""
    at = next((i for i, sharing in enumerate(SHARING[1:-1], 1) if warps <= sharing), len(SHARING) - 1)
    low, high = SHARING[at - 1 : at + 1]
    return clocks[at - 1] + (clocks[at] - clocks[at - 1]) * (warps - low) / (high - low)


def _demands(work: Work, c: Constants) -> dict[str, float]:
    """Cycles for which the warps of a scheduler that belong to one CTA need each unit; what a multiprocessor has once
    counts whole."""
    line = work.timeline
    busy = {unit: cycles / max(line.ctas, 1) / _SCHEDULERS for unit, cycles in zip(UNITS, line.busy)}
    busy["memory unit"] *= c.memory_unit * _SCHEDULERS
    busy["copies"] = busy["copies"] * _SCHEDULERS + _spilled(work, c)
    busy["issue"] *= c.issue
    busy["integer"] *= c.integer
    return busy


def _spilled(work: Work, c: Constants) -> float:
    """Cycles of the way to L2 for what a CTA's threads keep in memory because registers are full."""
    return c.spills * work.spilled * _LANES * work.warps / _FROM_L2


_LANES = 32


class _Memory(NamedTuple):
    """Cycles of a multiprocessor's share of the bandwidth for one CTA: all of its bytes; and those that its warps wait
    for, because it is not copies beside them that move them."""

    all: float
    own: float


def _memory(work: Work, moved: _Bytes, device: Device, c: Constants) -> _Memory:
    share = device.memory * c.memory / device.multiprocessors / device.clock * work.ctas
    line = work.timeline
    once = SECTOR * sum(one.read_by_each for one in work.traffic)
    beside = min(1.0, line.busy[UNITS.index("copies")] * _FROM_L2 / once) if once else 1.0
    return _Memory((moved.read + moved.written) / share, (moved.read * (1 - beside) + moved.written) / share)


class _Customers:
    """The work of CTAs on one multiprocessor, in cycles, if of each CTA's warps groups of `group` are a customer."""

    def __init__(self, work: Work, c: Constants, missed: float, memory: _Memory, warps: float, group: float) -> None:
        """missed: the share of loads' bytes that comes from memory, not from L2. warps: of a CTA, that work."""
        line = work.timeline
        self.each_cta = warps / _SCHEDULERS / group
        demands = {unit: cycles / self.each_cta for unit, cycles in _demands(work, c).items()}
        half = len(SHARING)
        near, far = (_shared(part, group) / max(line.ctas, 1) for part in (line.cycles[:half], line.cycles[half:]))
        # The clocks of L2 and of memory are 280 and 700 cycles apart from nothing: between them, and beyond, by a line.
        at = missed * c.latency + (c.latency - 1) * 280 / (700 - 280)
        # An instruction of half the rate holds the issue's slot for one of two cycles, one of MUFU's for one of eight.
        parts = (("issue", 1.0), ("integer", 1 / 2), ("special functions", 7 / 8), ("FP64", 1.0))
        own = sum(share * demands[unit] for unit, share in parts)
        own *= _APART if warps < _SPECIALISED * work.warps else 1.0
        waited = (memory.own + _spilled(work, c)) / self.each_cta
        self.alone = max(near + (far - near) * at + own, 1.0) + waited
        self.demands = [*demands.values(), memory.all / self.each_cta]

    def cycles(self, ctas: int) -> float:
        """Of so many CTAs at a time."""
        customers = max(1.0, ctas * self.each_cta)
        shrink = min(1.0, self.alone / (sum(self.demands) or 1.0))
        passed = _passed(self.alone, [demand * shrink for demand in self.demands], customers)
        return max(passed, customers * max(self.demands))


class _Multiprocessor:
    """Of CTAs whose warps are in step in part: between what they take if all warps of a CTA are, and if none is."""

    def __init__(self, work: Work, c: Constants, missed: float, memory: _Memory) -> None:
        line = work.timeline
        ctas = max(line.ctas, 1)
        warps = max(line.warps / ctas, 1.0)
        is_specialised = warps < _SPECIALISED * work.warps
        self.apart = _Customers(work, c, missed, memory, warps, 1.0)
        in_step = 1.0 if is_specialised else max(1.0, warps / _SCHEDULERS)
        self.in_step = _Customers(work, c, missed, memory, warps, in_step) if in_step > 1 else self.apart
        meetings = c.together * line.meetings / max(line.cycles[0], 1.0)
        self.share = meetings / (1 + meetings)
        self.uneven = max(0.0, line.longest[1] / (line.cycles[1] / ctas) - 1) if line.cycles[1] else 0.0

    def cycles(self, ctas: int) -> float:
        """Of so many CTAs at a time."""
        return self.in_step.cycles(ctas) ** self.share * self.apart.cycles(ctas) ** (1 - self.share)


def _waves(work: Work, one: _Multiprocessor, device: Device) -> float:
    """Cycles of the grid."""
    full, rest = divmod(work.ctas, device.multiprocessors * work.resident)
    last = one.cycles(-(-rest // device.multiprocessors)) if rest else 0.0
    some = one.cycles(min(work.resident, -(-work.ctas // device.multiprocessors)))
    return full * one.cycles(work.resident) + last + one.uneven * some


def of(work: Work, device: Device, constants: Constants = CONSTANTS) -> Estimate:
    """The time from the launch's first CTA to its last, with caches that hold other data."""
    moved = _bytes(work, device)
    shares = _memory(work, moved, device, constants), _Memory(0.0, 0.0)
    sharing, alone = (_waves(work, _Multiprocessor(work, constants, moved.missed, one), device) for one in shares)
    memory = (moved.read + moved.written) / (device.memory * constants.memory)
    busy = {unit: need * work.ctas / device.multiprocessors for unit, need in _demands(work, constants).items()}
    clock = device.clock
    seconds = 0.0
    for _ in range(3):  # the clock depends on the time, and little
        seconds = _START + max(memory, sharing / clock)
        clock = device.clock * (1 - constants.throttle * min(1.0, busy["tensor cores"] / clock / seconds))
    units = {unit: need / clock for unit, need in busy.items()}
    return Estimate(device, trust.kind_of(work), seconds, {"memory": memory, "multiprocessors": alone / clock}, units)
