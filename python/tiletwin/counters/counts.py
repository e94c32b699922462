"""A launch's counts: instruction by instruction as the simulator has them, and sums of these by source line.

Here:      Memory, Sample, Instruction, Line, Launch.
Not here:  ncu's names (metrics.py), what counts them (sim/counters), the tuples that these are made of
           (python/sim/CountRows.h).
"""

from __future__ import annotations

import functools
import linecache
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tiletwin.counters.classes import class_of

SPACES = ("global", "local", "shared")
OFF_LANE = -1


class Memory(NamedTuple):
    """Accesses to one kind of memory. Units: requests of warps, sectors of 32 bytes, wavefronts of shared memory."""

    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    loop_wavefronts: int = 0
    loop_conflicts: int = 0
    """Of loads in loops that ptxas writes for atomic operations that shared memory does not have."""
    bytes: int = 0
    """That lanes read or write, each lane for itself."""
    distinct: int = 0
    """Of these, bytes at different places, of each access by itself."""

    def plus(self, other: Memory) -> Memory:
        return Memory(*(a + b for a, b in zip(self, other)))


class Sample(NamedTuple):
    """The access of an instruction that cost most."""

    space: str
    active: int
    """Bit i: lane i took part."""
    bytes: int
    """Of each lane."""
    cost: int
    """Sectors, or wavefronts."""
    addresses: tuple[int, ...]
    """Of 32 lanes; of shared memory offsets in it."""

    def lanes(self) -> list[int]:
        return [lane for lane in range(32) if self.active >> lane & 1]


class Place(NamedTuple):
    """A line of a source. file: as the compiler wrote it."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass
class Instruction:
    """One instruction of the PTX text, and what it did in a launch."""

    function: str
    index: int
    ptx_line: int
    text: str
    places: list[tuple[str | None, int, int, str | None]]
    """(file, line, column, function that was inlined there), the innermost first."""
    executed: int
    """Times that a warp came to it."""
    executed_on: int
    """Of these, times when its guard was true in some lane."""
    threads: int
    threads_on: int
    """Lanes that came to it, and of these those whose guard was true."""
    parted: int
    bulk_bytes: int
    memory: dict[str, Memory]
    worst: Sample | None
    reduces: bool
    """An atomic operation whose result nothing reads, of which ptxas makes a reduction."""

    @property
    def kind(self) -> str:
        return class_of(self.text)

    @staticmethod
    def of(function: str, row: tuple[Any, ...]) -> Instruction:
        """From a row as python/sim/CountRows.h has it."""
        index, line, _, *counted, memory, worst, reduces = row
        sample = None if worst is None else Sample(SPACES[worst[0]], *worst[1:])
        spaces = {space: Memory(*numbers) for space, numbers in zip(SPACES, memory)}
        values: list[Any] = [function, index, line, *counted, spaces, sample, reduces]
        return Instruction(*values)


@dataclass
class Line:
    """What the instructions of a source line did together."""

    place: Place
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The line itself; empty where the file is not here."""
        return linecache.getline(self.place.file, self.place.line).strip()

    @property
    def executed(self) -> int:
        return sum(i.executed for i in self.instructions)

    def memory(self, space: str) -> Memory:
        return memory_of(self.instructions, space)

    def by_class(self) -> dict[str, int]:
        return by_class(self.instructions)

    @property
    def bulk_bytes(self) -> int:
        """Of shared memory that bulk and tensor copies wrote or read."""
        return sum(i.bulk_bytes for i in self.instructions)


def memory_of(instructions: Iterable[Instruction], space: str) -> Memory:
    """The sum over instructions."""
    return functools.reduce(Memory.plus, (i.memory[space] for i in instructions), Memory())


def by_class(instructions: Iterable[Instruction]) -> dict[str, int]:
    """Warps' instructions of each class that occurs."""
    found: dict[str, int] = {}
    for one in instructions:
        found[one.kind] = found.get(one.kind, 0) + one.executed
    return found


class Timeline(NamedTuple):
    """When the instructions of CTAs would run on a multiprocessor: sim/counters/Timeline.h says how. Sums over CTAs.

    cycles: until a CTA ends, of SHARING by warps that share a scheduler, with the latency of L2, then with that of
    memory. busy: cycles of UNITS; of "issue" machine instructions.
    """

    ctas: int
    warps: float
    """Warps that work: as many as would be busy as long as the busiest one of their CTA."""
    meetings: float
    """Barriers at which warps that share a scheduler wait for each other."""
    cycles: tuple[float, ...]
    longest: tuple[float, ...]
    """As `cycles`, not a sum: of the CTA that takes longest."""
    busy: tuple[float, ...]


SHARING = (1, 2, 4, 8)
UNITS = ("issue", "arithmetic", "integer", "special functions", "FP64", "tensor cores", "memory unit", "copies")
"""Of a multiprocessor."""


class Traffic(NamedTuple):
    """Which memory of a buffer was touched, in sectors: by each cluster, added up, and by all of them together."""

    name: str
    bytes: int
    """Of the buffer; 0: memory that is in none."""
    read_by_each: int
    written_by_each: int
    read: int
    written: int


@dataclass
class MachineInstruction:
    """An instruction of machine code, and what it did in a launch. opcode: IMAD; words: what stands behind points.

    line: of the PTX text that it comes from, 0: not known. Numbers as `Instruction` has them.
    """

    opcode: str
    words: tuple[str, ...]
    text: str
    line: int
    executed: int = 0
    executed_on: int = 0
    threads: int = 0
    threads_on: int = 0
    parted: int = 0
    memory: dict[str, Memory] = field(default_factory=lambda: {space: Memory() for space in SPACES})


@dataclass
class MachineRun:
    """Machine code that has run beside a launch. instructions: all of the entry, in the code's order; none where it has
    not run, and then `note` says why. same: whether memory was the same after both."""

    instructions: list[MachineInstruction]
    same: bool
    note: str = ""


@dataclass
class Launch:
    """A launch on the simulator.

    name: of the entry. file: what the PTX text is called, ptx: the text. grid, block, cluster: sizes. shared: bytes of
    a CTA's shared memory, the static and the dynamic. instructions: those that ran, in the text's order. Where not all
    of its clusters ran, `timeline.ctas` says how many CTAs did.
    """

    name: str
    file: str
    ptx: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared: int
    instructions: list[Instruction]
    timeline: Timeline
    traffic: list[Traffic]
    machine: MachineRun | None = None
    """Its machine code, where that has run beside it."""

    @staticmethod
    def of(kernel: Any, grid: Any, block: Any, cluster: Any, shared: int, rows: tuple[Any, ...]) -> Launch:
        """From what `tiletwin.sim.modules.watcher` is told."""
        functions, timeline, traffic = rows
        instructions = [Instruction.of(function, row) for function, _, listed in functions for row in listed]
        text, shape = kernel.module, (tuple(grid), tuple(block), tuple(cluster))
        return Launch(
            kernel.name, text.file, text.text, *shape, kernel.shared + shared, instructions, Timeline(*timeline),
            [Traffic(*row) for row in traffic],
        )  # fmt: skip

    @property
    def ctas(self) -> int:
        x, y, z = self.grid
        return x * y * z

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z

    @property
    def warps(self) -> int:
        return -(-self.threads // 32)

    def place_of(self, one: Instruction) -> Place:
        """The line of the source that an instruction comes from, or of the PTX text where that does not say it. Of
        inlined functions the innermost one."""
        for file, line, _, _ in one.places:
            if file and line:
                return Place(file, line)
        return Place(self.file, one.ptx_line)

    def lines(self) -> list[Line]:
        """Sums by line, in the order of files and lines."""
        found: dict[Place, Line] = {}
        for one in self.instructions:
            place = self.place_of(one)
            found.setdefault(place, Line(place)).instructions.append(one)
        first = [place.file for place in found]
        return sorted(found.values(), key=lambda line: (first.index(line.place.file), line.place.line))

    def memory(self, space: str) -> Memory:
        return memory_of(self.instructions, space)


def merged(launches: list[Launch]) -> Iterator[tuple[Launch, int]]:
    """Launches that differ in nothing but when they were, one of each with their number; in order of the first."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    for launch in launches:
        key = (
            launch.name,
            hash(launch.ptx),
            launch.grid,
            launch.block,
            launch.cluster,
            launch.shared,
            _counted(launch),
        )
        found.setdefault(key, [launch, 0])[1] += 1
    for launch, number in found.values():
        yield launch, number


def _counted(launch: Launch) -> int:
    """The same for launches whose counts are the same, wherever their memory lies."""
    return hash(tuple(
        (i.index, i.executed, i.threads_on, i.parted, i.bulk_bytes, *i.memory.values()) for i in launch.instructions
    ))  # fmt: skip


def short(file: str) -> str:
    """A file's path as seen from here, where that is shorter."""
    try:
        near = os.path.relpath(file)
    except ValueError:
        return file
    return near if len(near) < len(file) else file
