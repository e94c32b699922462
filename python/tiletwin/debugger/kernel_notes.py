"""What tiletwin's code generator says of variables: comments of the PTX, and what of them holds at an instruction.

Here:      Note (an assignment), Place (registers, and what is computed of them), KernelNotes.
Not here:  values (kernel_variables.py); who writes the comments, and how they look (codegen/ptx/Variables.h).
Idea:      a comment holds from its place on until a register that it names is written again, or its assignment comes
           once more; where ways of the code meet, what holds on all of them. Which assignment a line of the source
           finds is known from the source: instructions of several lines are mixed, and one that came early or late is
           not shown.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import NamedTuple

_VARIABLE, _NOTE, _LINE = "// tiletwin.var: ", "// tiletwin.note: ", "// tiletwin.line: "
_REGISTER = re.compile(r"%[a-z]+\d+")
_LABEL = re.compile(r"^([$\w.]+):")
_BRANCH = re.compile(r"^(@!?%?\w+\s+)?bra(?:\.uni)?\s+([$\w.]+)\s*$")
_LEAVES = re.compile(r"^(ret|exit|trap)\b")
_GUARD = re.compile(r"^@!?%?\w+\s+")


class Place(NamedTuple):
    """Where an element is. operands: registers, or constants' bits. steps: what DWARF computes of them; none: it is the
    only operand. shift: the element's first bit."""

    operands: tuple[str | int, ...]
    steps: tuple[str, ...]
    shift: int


@dataclass(frozen=True)
class Note:
    """An assignment, as it was emitted. number: of the assignment in the source. callers: lines and columns of the
    calls that its function was inlined in, the innermost first. element: MLIR's type, "constant" or "lost". layout: as
    codegen/ptx/Variables.h has it, or a constant's value."""

    at: int
    number: int
    name: str
    callers: tuple[tuple[int, int], ...]
    language_type: str
    element: str
    layout: str

    @staticmethod
    def of(at: int, text: str) -> Note:
        number, name, callers, language_type, element, layout = text.split("|", 5)
        places = tuple((int(line), int(column)) for line, _, column in (c.partition(":") for c in callers.split()))
        return Note(at, int(number), name, places, language_type, element, layout)

    @property
    def variable(self) -> tuple[str, int]:
        """What a later assignment replaces. Where a function is inlined twice, the second time replaces the first."""
        return self.name, len(self.callers)


Key = tuple[int, int]
"""A note and a register of its tile; -1: that the note was reached."""
State = dict[Key, "Place | None"]


class _Event(NamedTuple):
    key: Key
    place: Place | None


@dataclass
class _Block:
    """first, end: lines of the PTX. events: by line; what is written: registers by line."""

    first: int
    end: int = 0
    events: dict[int, _Event] = field(default_factory=dict)
    written: dict[int, frozenset[str]] = field(default_factory=dict)
    followers: list[int] = field(default_factory=list)


def _statements(text: str) -> list[str]:
    """The instructions of a line, of which inline assembly has several, in braces."""
    return [one for part in text.split(";") if (one := part.strip().removeprefix("{").removesuffix("}").strip())]


def _written(statement: str) -> frozenset[str]:
    """Registers that an instruction may write: its first operand's."""
    _, _, operands = _GUARD.sub("", statement).replace("\t", " ").partition(" ")
    operands = operands.strip()
    if operands.startswith("["):
        return frozenset()
    first = operands[: operands.find("}") + 1] if operands.startswith("{") else operands.split(",")[0]
    return frozenset(_REGISTER.findall(first))


def _place(text: str, shift: int) -> Place | None:
    if text == "?":
        return None
    held, *steps = text.split()
    operands = tuple(one if one.startswith("%") else int(one, 16) for one in held.split(","))
    return Place(operands, tuple(steps), shift)


class KernelNotes:
    """Those of one PTX. lines: of its text."""

    def __init__(self, lines: list[str]) -> None:
        texts = [line.removeprefix(_NOTE) for line in lines if line.startswith(_NOTE)]
        self.notes = [Note.of(at, text) for at, text in enumerate(texts)]
        self._reaching: dict[tuple[str, int], frozenset[int]] = {}
        for line in lines:
            if line.startswith(_LINE):
                place, _, numbers = line.removeprefix(_LINE).rpartition(" ")
                file, _, number = place.rpartition(":")
                self._reaching[file, int(number)] = frozenset(map(int, numbers.split(",") if numbers != "-" else []))
        self._blocks: list[_Block] = []
        self._entries: list[State | None] = []
        if self.notes:
            self._read(lines)
            self._flow()

    @property
    def is_there(self) -> bool:
        return bool(self.notes)

    @property
    def warps(self) -> int:
        """Of a block, that hold tiles: others copy for them. 0: no tile says so."""
        layouts = [one.layout.split(";") for one in self.notes]
        return max((1 << parts[2].count(",") + bool(parts[2]) for parts in layouts if len(parts) == 4), default=0)

    # ---- The code ----------------------------------------------------------------------------------------------------

    def _read(self, lines: list[str]) -> None:
        blocks = [_Block(1)]
        labels: dict[str, int] = {}
        branches: list[tuple[int, str]] = []
        goes_on: list[bool] = [True]

        def begin(number: int) -> None:
            blocks[-1].end = number
            blocks.append(_Block(number))
            goes_on.append(True)

        for number, line in enumerate(lines, 1):
            if line.startswith(_VARIABLE):
                name, _, text = line.removeprefix(_VARIABLE).partition(" ")
                name, _, shift = name.partition("+")
                note, _, register = name.partition(".")
                key = int(note), int(register) if register else -1
                blocks[-1].events[number] = _Event(key, _place(text, int(shift or 0)))
                continue
            text = line.partition("//")[0].strip()
            if found := _LABEL.match(text):
                begin(number)
                labels[found[1]] = len(blocks) - 1
                text = text[found.end() :].strip()
            if not text or text.startswith("."):
                continue
            written: frozenset[str] = frozenset()
            for statement in _statements(text):
                written |= _written(statement)
                if branch := _BRANCH.match(statement):
                    branches.append((len(blocks) - 1, branch[2]))
                    goes_on[-1] = bool(branch[1])
                    begin(number + 1)
                elif _LEAVES.match(statement):
                    goes_on[-1] = False
                    begin(number + 1)
            if written:
                blocks[-1].written[number] = written
        blocks[-1].end = len(lines) + 1
        for at, block in enumerate(blocks[:-1]):
            if goes_on[at]:
                block.followers.append(at + 1)
        for at, label in branches:
            if label in labels:
                blocks[at].followers.append(labels[label])
        self._blocks = blocks

    # ---- What holds --------------------------------------------------------------------------------------------------

    def _through(self, block: _Block, entry: State, end: int) -> State:
        """What holds in front of a line of the block."""
        state = dict(entry)
        here: set[Key] = set()  # what the block itself has said
        for number in sorted(block.events.keys() | block.written.keys()):
            if number >= end:
                break
            if written := block.written.get(number):
                for key in [k for k, p in state.items() if p is not None and not written.isdisjoint(p.operands)]:
                    del state[key]
            if event := block.events.get(number):
                note, register = event.key
                if register < 0:  # other assignments of the variable are over, and so is this one's last time
                    variable = self.notes[note].variable
                    for key in [k for k in state if self.notes[k[0]].variable == variable]:
                        if key[0] != note or key not in here:
                            del state[key]
                    state[event.key] = None
                elif event.place is None:
                    state.pop(event.key, None)
                else:
                    state[event.key] = event.place
                here.add(event.key)
        return state

    def _flow(self) -> None:
        """What holds at each block's begin. A way back forgets which assignments of the loop were reached."""
        reached = [{e.key[0] for e in block.events.values() if e.key[1] < 0} for block in self._blocks]
        entries: list[State | None] = [None] * len(self._blocks)
        entries[0] = {}
        waiting = [0]
        while waiting:
            at = min(waiting)
            waiting.remove(at)
            block = self._blocks[at]
            state = self._through(block, entries[at] or {}, block.end)
            for to in block.followers:
                given = state
                if to <= at:
                    inside = set().union(*reached[to : at + 1])
                    given = {k: p for k, p in state.items() if not (k[1] < 0 and k[0] in inside)}
                known = entries[to]
                if known is None:
                    entries[to] = dict(given)
                else:
                    both = {k: p for k, p in known.items() if k in given and given[k] == p}
                    if len(both) == len(known):
                        continue
                    entries[to] = both
                if to not in waiting:
                    waiting.append(to)
        self._entries = entries

    @functools.lru_cache(maxsize=64)  # noqa: B019  as long as the text is kept
    def _state(self, line: int) -> State:
        for block, entry in zip(self._blocks, self._entries):
            if block.first <= line < block.end and entry is not None:
                return self._through(block, entry, line)
        return {}

    def at(self, line: int, file: str, source: int) -> dict[str, Note | None]:
        """The assignment that each variable of a function has in front of an instruction; None: not known there, since
        the instruction came before or after those of the lines around it. line: of the PTX. source: of the file."""
        state = self._state(line)
        numbers = self._reaching.get((file, self._statement(file, source)), frozenset())
        found: dict[str, Note | None] = dict.fromkeys(sorted({one.name for one in self.notes if one.number in numbers}))
        for note, register in state:
            if register < 0 and (one := self.notes[note]).number in numbers:
                found[one.name] = one
        return found

    def _statement(self, file: str, line: int) -> int:
        """The first line of the statement that a line belongs to."""
        return max((first for name, first in self._reaching if name == file and first <= line), default=0)

    def loops(self, note: Note) -> list[range]:
        """Lines of the PTX of the loops that a note stands in, the outer ones first."""
        places = [n for block in self._blocks for n, e in block.events.items() if e.key == (note.at, -1)]
        ranges = {
            range(self._blocks[to].first, block.end)
            for at, block in enumerate(self._blocks)
            for to in block.followers
            if to <= at
        }
        return sorted((one for one in ranges if any(place in one for place in places)), key=len, reverse=True)

    def is_reached(self, note: Note, line: int) -> bool:
        """Whether its assignment is the variable's last one in front of an instruction."""
        return (note.at, -1) in self._state(line)

    def place(self, note: Note, register: int, line: int) -> Place | None:
        """Where a register of the note's tile is in front of an instruction; None: nowhere."""
        return self._state(line).get((note.at, register))


@functools.lru_cache(maxsize=4)
def kernel_notes(text: str) -> KernelNotes:
    return KernelNotes(text.splitlines())
