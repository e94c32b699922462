"""How long a launch would take on an H200 or H100, and what it waits for: an estimate from what the simulator has seen.

Here:      `of` a `Work`, the model and its constants.
Not here:  clocks of registers and barriers while CTAs run (sim/counters/Timeline.h), which memory they touch
           (sim/counters/Traffic.h), how the constants were found and what the error is (benchmarks/estimate.py).
Idea:      A launch lasts as long as the longer of two needs, and somewhat longer where they are alike: bytes of memory
           at its bandwidth, and the multiprocessors' work, to which belongs what each gets of L2. For the latter a
           CTA's warps are customers of a scheduler's units. One alone needs the time of its longest chain of dependent
           instructions; several share the units as mean value analysis says (Reiser and Lavenberg, "Mean-Value
           Analysis of Closed Multichain Queuing Networks", 1980). Warps that often meet at barriers want the same
           units at the same time: in part they are one customer. CTAs go over the multiprocessors in waves.
Units:     seconds, bytes; inside of a multiprocessor cycles.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tiletwin.counters import occupancy
from tiletwin.counters.counts import SHARING, UNITS, Launch, Timeline, Traffic, by_class
from tiletwin.counters.roofline import SECTOR

ERROR = 0.10
"""Mean of |estimate / measured - 1| over kernels that the constants do not come from: docs/profile.md."""


class Device(NamedTuple):
    """memory: bytes per second that launches get at best."""

    name: str
    multiprocessors: int
    clock: float
    memory: float


class Constants(NamedTuple):
    """Found by benchmarks/estimate.py from launches on an H200.

    start: seconds of a launch that does nothing. memory: share of the data sheet's bandwidth. exponent: of the sum of
    needs; infinite: their largest one. chain: factor of the longest chain's cycles. latency: of memory's, as
    sim/counters/Timeline.h has it. issue to copies: of the cycles of units, as InstructionCost.cpp has them; operands:
    of shared memory's cycles for wgmma and bulk copies. unhidden: share of a warp's own work that its chain does not
    hide; apart: factor of it where other warps do the copies; unhidden_memory: share of accesses. queueing: factor of
    what others in front of a unit cost. together: cycles between two barriers where warps are half in step. throttle:
    share of the clock that is lost when the tensor cores are busy all the time. uneven: factor of what the longest CTA
    takes longer than others. spills: factor of the time by 4 kB of a thread's registers that ptxas keeps in memory.
    """

    start: float
    memory: float
    exponent: float
    chain: float
    latency: float
    issue: float
    integer: float
    special: float
    memory_unit: float
    copies: float
    operands: float
    unhidden: float
    apart: float
    unhidden_memory: float
    queueing: float
    together: float
    throttle: float
    uneven: float
    spills: float


CONSTANTS = Constants(
    start=1.379e-06, memory=0.8312, exponent=2.955, chain=0.8566, latency=1.988, issue=1.209, integer=0.652,
    special=1.108, memory_unit=1.185, copies=0.9502, operands=0.06092, unhidden=1.075, apart=0.5992,
    unhidden_memory=0.1021, queueing=0.9821, together=121.3, throttle=0.1047, uneven=0.8217, spills=0.8401,
)  # fmt: skip
_SCHEDULERS = 4
DEVICES = {90: (Device("H200", 132, 1.98e9, 4.8e12), Device("H100", 132, 1.98e9, 3.35e12))}
"""By compute capability; H100 and H200 are the SXM ones, at their highest clock."""


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


class Estimate(NamedTuple):
    """needs: seconds of "memory" and "multiprocessors", each by itself. units: seconds for which each of a
    multiprocessor's units is busy."""

    device: Device
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


def work_of(launch: Launch, fits: occupancy.Occupancy, spilled: int = 0) -> Work:
    sizes = launch.ctas, launch.warps, launch.shared, fits.ctas, spilled, loaded_sectors(launch)
    return Work(*sizes, launch.timeline, launch.traffic)


def loaded_sectors(launch: Launch) -> int:
    """Of loads from global memory through L1."""
    loads = (one for one in launch.instructions if one.text.startswith("ld"))
    return sum(one.memory["global"].sectors for one in loads)


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


def _joined(needs: list[float], exponent: float) -> float:
    """The largest, and more where others come close to it."""
    most = max(needs)
    return most * sum((need / most) ** exponent for need in needs) ** (1 / exponent) if most else 0.0


def _passed(alone: float, demands: list[float], customers: float, queueing: float) -> float:
    """Cycles until each of so many customers has been served by all units. alone: cycles of one customer, no fewer than
    its demands together. Between whole numbers of customers it is a straight line."""
    queues = [demand / alone for demand in demands]
    rest, total, before = alone - sum(demands), alone, alone
    for number in range(2, math.ceil(customers) + 1):
        times = [demand * (1 + queueing * queue) for demand, queue in zip(demands, queues)]
        before, total = total, sum(times) + rest
        queues = [number * time / total for time in times]
    part = customers - math.floor(customers)
    return before + (total - before) * part if part else total


_SPECIALISED = 0.85
"""Share of a CTA's warps that work, below which some of them do nothing but copy for others."""


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
    operands = busy.pop("operands")
    busy["memory unit"] = c.memory_unit * (busy["memory unit"] + c.operands * operands) * _SCHEDULERS
    busy["copies"] *= c.copies * _SCHEDULERS
    for unit, factor in (("issue", c.issue), ("integer", c.integer), ("special functions", c.special)):
        busy[unit] *= factor
    return busy


class _Customers:
    """The work of CTAs on one multiprocessor, in cycles, if of each CTA's warps groups of `group` are a customer."""

    def __init__(self, work: Work, c: Constants, missed: float, warps: float, group: float) -> None:
        """missed: the share of loads' bytes that comes from memory, not from L2. warps: of a CTA, that work."""
        line = work.timeline
        self.each_cta = warps / _SCHEDULERS / group
        self.demands = {unit: cycles / self.each_cta for unit, cycles in _demands(work, c).items()}
        half = len(SHARING)
        near, far = (_shared(part, group) / max(line.ctas, 1) for part in (line.cycles[:half], line.cycles[half:]))
        # The clocks of L2 and of memory are 280 and 700 cycles apart from nothing: between them, and beyond, by a line.
        at = missed * c.latency + (c.latency - 1) * 280 / (700 - 280)
        chain = c.chain * (near + (far - near) * at)
        # An instruction of half the rate holds the issue's slot for one of two cycles, one of MUFU's for one of eight.
        parts = (("issue", 1.0), ("integer", 1 / 2), ("special functions", 7 / 8), ("FP64", 1.0))
        own = sum(share * self.demands[unit] for unit, share in parts)
        unhidden = c.unhidden * (c.apart if warps < _SPECIALISED * work.warps else 1.0)
        alone = chain + unhidden * own + c.unhidden_memory * self.demands["memory unit"]
        self.alone = max(alone, 1.0) * (1 + c.spills * min(1.0, work.spilled / _SPILLED))
        self.queueing = c.queueing

    def cycles(self, ctas: int) -> float:
        """Of so many CTAs at a time."""
        customers = max(1.0, ctas * self.each_cta)
        demands = list(self.demands.values())
        shrink = min(1.0, self.alone / (sum(demands) or 1.0))
        passed = _passed(self.alone, [demand * shrink for demand in demands], customers, self.queueing)
        return max(passed, customers * max(demands))


class _Multiprocessor:
    """Of CTAs whose warps are in step in part: between what they take if all warps of a CTA are, and if none is."""

    def __init__(self, work: Work, c: Constants, missed: float) -> None:
        line = work.timeline
        ctas = max(line.ctas, 1)
        warps = max(line.warps / ctas, 1.0)
        is_specialised = warps < _SPECIALISED * work.warps
        self.apart = _Customers(work, c, missed, warps, 1.0)
        in_step = 1.0 if is_specialised else max(1.0, warps / _SCHEDULERS)
        self.in_step = _Customers(work, c, missed, warps, in_step) if in_step > 1 else self.apart
        meetings = c.together * line.meetings / max(line.cycles[0], 1.0)
        self.share = meetings / (1 + meetings)
        self.uneven = c.uneven * max(0.0, line.longest[1] / (line.cycles[1] / ctas) - 1) if line.cycles[1] else 0.0

    def cycles(self, ctas: int) -> float:
        """Of so many CTAs at a time."""
        return self.in_step.cycles(ctas) ** self.share * self.apart.cycles(ctas) ** (1 - self.share)


_SPILLED = 4000


def _waves(work: Work, one: _Multiprocessor, device: Device) -> float:
    """Cycles of the grid."""
    full, rest = divmod(work.ctas, device.multiprocessors * work.resident)
    last = one.cycles(-(-rest // device.multiprocessors)) if rest else 0.0
    some = one.cycles(min(work.resident, -(-work.ctas // device.multiprocessors)))
    return full * one.cycles(work.resident) + last + one.uneven * some


def of(work: Work, device: Device, constants: Constants = CONSTANTS) -> Estimate:
    """The time from the launch's first CTA to its last, with caches that hold other data."""
    moved = _bytes(work, device)
    cycles = _waves(work, _Multiprocessor(work, constants, moved.missed), device)
    memory = (moved.read + moved.written) / (device.memory * constants.memory)
    busy = {unit: need * work.ctas / device.multiprocessors for unit, need in _demands(work, constants).items()}
    clock = device.clock
    seconds = 0.0
    for _ in range(3):  # the clock depends on the time, and little
        seconds = constants.start + _joined([memory, cycles / clock], constants.exponent)
        clock = device.clock * (1 - constants.throttle * min(1.0, busy["tensor cores"] / clock / seconds))
    units = {unit: need / clock for unit, need in busy.items()}
    return Estimate(device, seconds, {"memory": memory, "multiprocessors": cycles / clock}, units)


def left_out(launch: Launch, assembled: bool) -> list[str]:
    """What a launch does that the estimate takes no notice of. assembled: ptxas has said how many registers it has."""
    found = []
    if not assembled:
        found.append("the estimate of time takes for granted that registers do not limit the occupancy")
    kinds = by_class(launch.instructions)
    if kinds.get("global atomics") or kinds.get("shared atomics"):
        found.append("the estimate of time does not know how long atomic operations on one address wait for each other")
    if launch.memory("local").requests:
        found.append("the estimate of time takes local memory for registers: ptxas may keep it there or not")
    return found
