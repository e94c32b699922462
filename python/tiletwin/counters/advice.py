"""What a launch's counters say that a kernel could do better, with the line.

Here:      Advice, `of`: one function for each kind.
Not here:  what is counted (counts.py), occupancy itself (occupancy.py).
Invariant: a piece of advice says what was counted, what would be enough, and why it is more; the first one has most to
           gain.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from tiletwin.counters.counts import Instruction, Launch, Memory, Place, Sample
from tiletwin.counters.occupancy import Occupancy
from tiletwin.cuda.ptxas import FunctionReport

SECTOR, WAVEFRONT = 32, 128
"""Bytes."""
_WORTH = 1.25
"""An access is spoken of if it costs so many times what would be enough: below, what is left is ends of rows."""
_OFTEN = 0.1
"""A branch is spoken of if lanes part at so many of its executions."""
_LOW_OCCUPANCY = 0.5


@dataclass(frozen=True)
class Advice:
    """kind: "coalescing", "bank conflicts", "narrow accesses", "contention", "divergence", "occupancy" or "spills".
    place: the line; None: the kernel. gain: bytes that go by in vain, or what takes as long. text: what is said."""

    kind: str
    place: Place | None
    gain: int
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


def _count(number: float, word: str) -> str:
    shown = f"{number:.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"
    return f"{shown} {word}" if shown == "1" else f"{shown} {word}s"


def _steps(sample: Sample) -> set[int]:
    """Distances between lanes that are neighbours and both take part."""
    lanes = sample.lanes()
    pairs = [(a, b) for a, b in itertools.pairwise(lanes) if b == a + 1]
    return {sample.addresses[b] - sample.addresses[a] for a, b in pairs}


def _apart(sample: Sample) -> str:
    """How the addresses of lanes lie."""
    steps = _steps(sample)
    if len(steps) == 1:
        (step,) = steps
        if step == 0:
            return "all lanes access the same place"
        return f"neighbouring lanes are {abs(step)} bytes apart"
    if len(steps) == 2 and sample.bytes in steps:
        others = steps - {sample.bytes}
        lanes = sample.lanes()
        ends = (b for a, b in itertools.pairwise(lanes) if sample.addresses[b] - sample.addresses[a] in others)
        run = next(ends, lanes[0]) - lanes[0]
        return f"runs of {run} lanes lie side by side, {run * sample.bytes} bytes each, and the runs apart"
    return "lanes access scattered places"


def _verb(one: Instruction) -> str:
    opcode = one.text.partition(".")[0]
    if opcode in ("atom", "red"):
        return "atomic operation"
    if opcode in ("st", "stmatrix"):
        return "store"
    return "copy" if opcode == "cp" else "load"


def _coalescing(launch: Launch) -> Iterator[Advice]:
    for one in launch.instructions:
        for space in ("global", "local"):
            memory, sample = one.memory[space], one.worst
            if not memory.requests or sample is None or sample.space != space:
                continue
            enough = memory.distinct / SECTOR
            if memory.sectors <= _WORTH * enough or memory.sectors - enough < memory.requests:
                continue
            each = memory.requests
            lies = _apart(sample)
            is_shifted = _steps(sample) == {sample.bytes}
            if is_shifted:
                first = min(sample.addresses[lane] for lane in sample.lanes())
                lies = f"the warp's bytes begin {first % SECTOR} bytes behind a sector's begin"
            text = (
                f"this {_verb(one)} touches {_count(memory.sectors / each, 'sector')} for "
                f"{_count(memory.distinct / each, 'byte')}, where {_count(max(1, enough / each), 'sector')} would do: "
                f"{lies}"
            )
            if space == "local":
                text += " (local memory: an array that the kernel indexes by what it computes)"
            yield Advice("coalescing", launch.place_of(one), int((memory.sectors - enough) * SECTOR), text)


def _conflict_words(sample: Sample) -> tuple[int, int]:
    """The bank with most different words, and how many these are."""
    banks: dict[int, set[int]] = {}
    for lane in sample.lanes():
        for byte in range(0, max(sample.bytes, 4), 4):
            word = (sample.addresses[lane] + byte) // 4
            banks.setdefault(word % 32, set()).add(word)
    bank = max(banks, key=lambda b: len(banks[b]))
    return bank, len(banks[bank])


def _conflicts(launch: Launch) -> Iterator[Advice]:
    for one in launch.instructions:
        memory, sample = one.memory["shared"], one.worst
        if not memory.conflicts or sample is None or sample.space != "shared":
            continue
        enough = memory.wavefronts - memory.conflicts
        if memory.wavefronts <= _WORTH * enough:
            continue
        bank, words = _conflict_words(sample)
        each = memory.requests
        text = (
            f"this {_verb(one)} takes {_count(memory.wavefronts / each, 'wavefront')} of shared memory, where "
            f"{_count(enough / each, 'wavefront')} would do: {_apart(sample)}, and bank {bank} holds {words} of the "
            "words that the warp wants; exchange 16-byte units by the row's number, or make rows longer by 16 bytes"
        )
        yield Advice("bank conflicts", launch.place_of(one), memory.conflicts * WAVEFRONT, text)


def _narrow(launch: Launch) -> Iterator[Advice]:
    """Neighbouring lanes' elements lie side by side, a few bytes each: one access of 16 bytes a lane does the work of
    several."""
    by_place: dict[tuple[Place, str], tuple[Memory, Instruction]] = {}
    for one in launch.instructions:
        memory, sample = one.memory["global"], one.worst
        if not memory.requests or sample is None or sample.space != "global" or _verb(one) not in ("load", "store"):
            continue
        if sample.bytes >= 8 or _steps(sample) != {sample.bytes} or memory.sectors > _WORTH * memory.distinct / SECTOR:
            continue
        key = launch.place_of(one), _verb(one)
        before = by_place.get(key)
        by_place[key] = (memory if before is None else before[0].plus(memory), one)
    for (place, verb), (memory, one) in by_place.items():
        assert one.worst is not None
        width = one.worst.bytes
        wide = min(16, width * 4)
        per_warp = memory.requests / (launch.ctas * launch.warps)
        if per_warp < 4 or width >= 16:
            continue
        fewer = _count(max(1, per_warp * width / wide), "request")
        text = (
            f"this {verb} moves {_count(width, 'byte')} a lane, {per_warp:.0f} times in each warp: with {wide} bytes a "
            f"lane it would be {fewer}; more elements for each thread, or a hint that the addresses are multiples of "
            "16, lets the compiler do so"
        )
        yield Advice("narrow accesses", place, int(memory.requests * SECTOR / 4), text)


def _contention(launch: Launch) -> Iterator[Advice]:
    for one in launch.instructions:
        if one.text.partition(".")[0] not in ("atom", "red"):
            continue
        memory = one.memory["global"].plus(one.memory["shared"])
        if memory.requests and memory.bytes >= 4 * memory.distinct:
            lanes = memory.bytes / memory.distinct
            text = (
                f"{_count(lanes, 'lane')} of a warp update the same place, one after another: add the warp's values "
                "first, and let one lane update"
            )
            yield Advice("contention", launch.place_of(one), memory.bytes - memory.distinct, text)


def _divergence(launch: Launch) -> Iterator[Advice]:
    for one in launch.instructions:
        if one.parted and one.parted > _OFTEN * one.executed:
            share = 100 * one.parted / one.executed
            text = (
                f"lanes of a warp part at this branch in {share:.0f} % of {one.executed} executions, and both ways are "
                "run"
            )
            yield Advice("divergence", launch.place_of(one), one.parted * SECTOR, text)


def _occupancy(launch: Launch, occupancy: Occupancy | None) -> Iterator[Advice]:
    if occupancy is None or occupancy.share >= _LOW_OCCUPANCY:
        return
    if "wgmma" in {one.text.partition(".")[0] for one in launch.instructions}:
        return  # a few warps keep the tensor units busy: such kernels are made for one or two CTAs
    text = (
        f"a multiprocessor holds {_count(occupancy.ctas, 'CTA')}, {occupancy.warps} of {occupancy.most_warps} warps; "
        f"what limits it: {' and '.join(occupancy.limited_by)}"
    )
    yield Advice("occupancy", None, 0, text)


def _spills(report: FunctionReport | None) -> Iterator[Advice]:
    if report is not None and report.spill_stores + report.spill_loads:
        text = (
            f"ptxas keeps registers in local memory: {report.spill_stores} bytes of stores and {report.spill_loads} of "
            f"loads in the code of a thread, which uses {report.registers} registers; smaller tiles or more warps need "
            "fewer"
        )
        yield Advice("spills", None, 0, text)


def of(launch: Launch, occupancy: Occupancy | None = None, report: FunctionReport | None = None) -> list[Advice]:
    """Advice on a launch, what has most to gain first; the same for one line is said once."""
    found = [
        *_coalescing(launch), *_conflicts(launch), *_narrow(launch), *_contention(launch), *_divergence(launch),
        *_occupancy(launch, occupancy), *_spills(report),
    ]  # fmt: skip
    once: dict[tuple[str, Place | None], Advice] = {}
    for advice in sorted(found, key=lambda one: -one.gain):
        once.setdefault((advice.kind, advice.place), advice)
    return list(once.values())
