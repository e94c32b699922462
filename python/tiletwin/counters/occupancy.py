"""How many CTAs of a kernel a multiprocessor holds at a time, and what keeps it from holding more.

Source:    CUDA C++ Programming Guide, "Compute Capabilities". For 9.0 the same as ncu's launch__occupancy_limit_* of
           178 launches on an H200.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Multiprocessor:
    """What CTAs share. Shared memory in bytes."""

    warps: int
    ctas: int
    registers: int
    shared: int
    shared_of_cta: int
    """The most that one CTA may use."""
    register_unit: int = 256
    """Registers are given to a warp in multiples of so many."""
    warp_unit: int = 4
    """Schedulers, each of which has its part of the registers."""
    shared_unit: int = 128
    shared_reserved: int = 1024
    """The system's own, in each CTA."""


MULTIPROCESSORS = {
    80: Multiprocessor(64, 32, 65536, 164 << 10, 163 << 10),
    90: Multiprocessor(64, 32, 65536, 228 << 10, 227 << 10),
}
"""By compute capability: A100; H100 and H200."""


@dataclass(frozen=True)
class Occupancy:
    """CTAs that a multiprocessor can hold by each limit; None: not known."""

    warps_of_cta: int
    limits: dict[str, int | None]
    most_warps: int

    @property
    def ctas(self) -> int:
        return min(limit for limit in self.limits.values() if limit is not None)

    @property
    def warps(self) -> int:
        return self.ctas * self.warps_of_cta

    @property
    def share(self) -> float:
        """Of the warps that a multiprocessor can hold."""
        return self.warps / self.most_warps

    @property
    def limited_by(self) -> list[str]:
        return [name for name, limit in self.limits.items() if limit == self.ctas]


def up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def of(capability: int, threads: int, registers: int | None, shared: int) -> Occupancy:
    """Of CTAs of so many threads, registers a thread and bytes of shared memory.

    registers: as ptxas says; None: not known. Errors: KeyError, no table for the compute capability.
    """
    m = MULTIPROCESSORS[capability]
    warps = -(-threads // 32)
    limits: dict[str, int | None] = {"warps": m.warps // warps, "blocks": m.ctas, "registers": None}
    if registers:
        of_warp = up(registers * 32, m.register_unit)
        at_once = m.registers // m.warp_unit // of_warp * m.warp_unit  # warps, by each scheduler's registers
        limits["registers"] = at_once // warps
    # The driver makes as much of the cache shared memory as CTAs can use that the other limits allow.
    limits["shared memory"] = m.shared // (up(shared, m.shared_unit) + m.shared_reserved)
    return Occupancy(warps, limits, m.warps)
