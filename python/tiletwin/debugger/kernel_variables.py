"""Variables of kernels that tiletwin compiled: numbers, and tiles, put together of the registers of a block's threads.

Here:      KernelVariables, those of one frame; KernelVariable, which expressions and `info locals` use.
Not here:  which register holds what (kernel_notes.py), operators (expressions.py).
Idea:      a tile's layout says which element each register of each thread holds. Every warp is asked where it stands:
           one that has not come to the assignment, or is in another round of a loop, has other numbers and is left out.
Invariant: a number is shown only if the code says that it is the variable's; else why it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tiletwin.debugger import tiles, values
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.expressions import Address
from tiletwin.debugger.kernel_notes import KernelNotes, Note
from tiletwin.debugger.place_values import value_of
from tiletwin.debugger.session import Session
from tiletwin.debugger.values import Register

_LANES = 32


def _bits_of(element: str) -> int:
    """Of an element in a register."""
    if element.startswith("!tt.ptr"):
        return 64
    return 8 if element.startswith("f8") else int(element.lstrip("bfi"))


def _decoded(bits: np.ndarray, note: Note) -> np.ndarray:
    """Elements as numbers; those of 8 bits that are floats as their bits."""
    element = note.element
    size = _bits_of(element)
    if element == "i1":
        return (bits & np.uint64(1)).astype(bool)
    if element.startswith("!tt.ptr"):
        return bits
    raw = bits.astype(np.dtype(f"u{size // 8}"))
    if element == "bf16":
        return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if element in ("f16", "f32", "f64"):
        return raw.view(np.dtype(f"f{size // 8}"))
    if element.startswith("f8"):
        return raw
    return raw if note.language_type.startswith("uint") else raw.view(np.dtype(f"i{size // 8}"))


@dataclass(frozen=True)
class Layout:
    """shape, and which element each bit of a register's, lane's and warp's number adds (by XOR)."""

    shape: tuple[int, ...]
    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]
    blocks: tuple[int, ...]

    @staticmethod
    def of(text: str) -> Layout:
        shape, _, rest = text.partition(" ")
        parts = [tuple(map(int, part.split(","))) if part else () for part in rest.split(";")]
        return Layout(tuple(map(int, shape.split("x"))), *parts)

    @staticmethod
    def _sums(bases: tuple[int, ...]) -> np.ndarray:
        sums = np.zeros(1, np.int64)
        for base in bases:
            sums = np.concatenate([sums, sums ^ base])
        return sums

    def elements(self, warp: int) -> np.ndarray:
        """Flat indices, by register and lane."""
        of_warp = self._sums(self.warps)[warp]
        return self._sums(self.registers)[:, None] ^ self._sums(self.lanes)[None, :] ^ of_warp


class _Warp:
    """A warp of the block that is looked at. groups: lanes, and the line of the PTX where they stand."""

    def __init__(self, number: int, groups: list[tuple[int, int]], registers: dict[str, Register]) -> None:
        self.number, self.groups, self.registers = number, groups, registers


class KernelVariables:
    """Those of a frame. at: the line of the PTX where the thread that is looked at stands."""

    def __init__(
        self,
        session: Session,
        notes: KernelNotes,
        *,
        at: int,
        file: str,
        line: int,
        warp: int,
        lane: int,
        call: int,
    ) -> None:
        self._session, self.notes, self.at, self.warp, self.lane, self._call = session, notes, at, warp, lane, call
        self.found = notes.at(at, file, line)

    def names(self) -> list[str]:
        return list(self.found)

    def variable(self, name: str) -> KernelVariable | None:
        """None: there is no such variable at this line. Errors: Refused, nobody keeps it."""
        if name not in self.found:
            return None
        note = self.found[name]
        if note is None:
            raise Refused(
                f"{name} is not known at this instruction: instructions of several lines are mixed here; `stepi` or "
                "`next` goes on"
            )
        if note.element == "lost":
            raise Refused(
                f"{name} is in no register here: its tile is in shared memory (`info shared`), or a product that adds "
                "to it is in flight, or nothing needs it"
            )
        return KernelVariable(name, note, self)

    def parameter(self, number: int, note: Note) -> bytes:
        name = f"{self._session.launch['kernel']}_param_{number}"
        symbols = self._session.ask("symbols", self._call)["symbols"]
        at = next(row[2] for row in symbols if row[0] == name)
        answer = self._session.ask("memory", "param", at, max(1, _bits_of(note.element) // 8), self._call)
        return bytes.fromhex(answer["bytes"])

    # ---- Registers ---------------------------------------------------------------------------------------------------

    def _groups(self) -> dict[int, list[tuple[int, int]]]:
        focus = self._session.stop.facts["focus"] if self._session.stop else {}
        rows = self._session.ask("warps")["warps"]
        mine = [row for row in rows if row["block"] == focus.get("block")]
        return {row["warp"]: [(g["lanes"], g.get("ptx", 0)) for g in row["groups"]] for row in mine}

    @cached_property
    def warps(self) -> dict[int, _Warp]:
        """With their registers; a warp that has ended has none."""
        found = {}
        for number, groups in self._groups().items():
            if groups:
                lane = self.lane if number == self.warp else (groups[0][0] & -groups[0][0]).bit_length() - 1
                self._session.ask("focus", "", "", number, lane)
                rows = self._session.ask("registers", self._call if number == self.warp else 0)["registers"]
                registers = {one.name: one for one in map(Register.of, rows)}
                found[number] = _Warp(number, groups, registers)
        self._session.ask("focus", "", "", self.warp, self.lane)
        return found

    def register_of(self, note: Note, register: int, warp: _Warp, line: int) -> np.ndarray | None:
        """Bits of the 32 lanes; None: nobody keeps it at that line."""
        place = self.notes.place(note, register, line)
        return None if place is None else value_of(place, warp.registers, _bits_of(note.element))

    def _round(self, loop: range, warp: _Warp, line: int) -> tuple[int, int] | None:
        """Which round of a loop the threads of a warp that stand at a line are in: the innermost variable of `for` in
        it that is known there, and its number."""
        for note in reversed(self.notes.notes):
            if note.layout == "round" and self.notes.is_reached(note, line) and loop in self.notes.loops(note):
                bits = self.register_of(note, 0, warp, line)
                if bits is not None:
                    lanes = next(lanes for lanes, at in warp.groups if at == line)
                    return note.at, int(bits[(lanes & -lanes).bit_length() - 1])
        return None

    def is_with_us(self, warp: _Warp, line: int, note: Note) -> bool:
        """Whether threads of a warp that stand at a line hold what this assignment gave in this round of the loops."""
        if not self.notes.is_reached(note, line):
            return False
        if warp.number == self.warp and line == self.at:
            return True
        for loop in self.notes.loops(note):
            ours = self._round(loop, self.warps[self.warp], self.at)
            if ours is None or ours != self._round(loop, warp, line):
                return False
        return True


@dataclass(frozen=True)
class KernelVariable:
    """A number or a tile. part: of a tile's indices; None: all of it."""

    name: str
    note: Note
    frame: KernelVariables
    part: Any = None

    @property
    def has_elements(self) -> bool:
        return False

    @property
    def is_tile(self) -> bool:
        return self.note.element != "constant" and not self.note.layout.startswith(("scalar", "round", "parameter"))

    @property
    def type_name(self) -> str:
        if not self.is_tile:
            return self.note.language_type
        return f"tensor<{'x'.join(map(str, Layout.of(self.note.layout).shape))}, {self.note.language_type}>"

    # ---- Values ------------------------------------------------------------------------------------------------------

    @cached_property
    def _gathered(self) -> tuple[np.ndarray, np.ndarray, list[int], bool]:
        """The tile; where it is known; warps that are elsewhere; whether registers of others are lost."""
        layout = Layout.of(self.note.layout)
        if any(layout.blocks):
            raise Refused(f"{self.name} is spread over the blocks of a cluster, which is not shown")
        tile, is_known = np.zeros(int(np.prod(layout.shape)), np.uint64), np.zeros(int(np.prod(layout.shape)), bool)
        elsewhere, is_lost = [], False
        for number in range(1 << len(layout.warps)):
            warp = self.frame.warps.get(number)
            elements = layout.elements(number)
            for lanes, line in warp.groups if warp else []:
                assert warp is not None
                chosen = np.array([lane for lane in range(_LANES) if lanes >> lane & 1])
                if not self.frame.is_with_us(warp, line, self.note):
                    elsewhere.append(number)
                    continue
                for register, indices in enumerate(elements):
                    bits = self.frame.register_of(self.note, register, warp, line)
                    if bits is None:
                        is_lost = True
                        continue
                    tile[indices[chosen]], is_known[indices[chosen]] = bits[chosen], True
            if warp is None:
                elsewhere.append(number)
        shaped = _decoded(tile, self.note).reshape(layout.shape), is_known.reshape(layout.shape)
        return *shaped, sorted(set(elsewhere)), is_lost

    def tile(self) -> tuple[np.ndarray, np.ndarray]:
        """The elements, and which of them are known. Errors: Refused, it is no tile."""
        if not self.is_tile:
            raise Refused(f"{self.name} is a {self.note.language_type}, which has no elements")
        numbers, is_known, _, _ = self._gathered
        return (numbers, is_known) if self.part is None else (numbers[self.part], is_known[self.part])

    def _why(self) -> str:
        _, is_known, elsewhere, is_lost = self._gathered
        reasons = []
        if is_lost:
            reasons.append("some of its registers are kept nowhere at this instruction (optimised away)")
        if elsewhere and not is_known.all():
            which = ", ".join(map(str, elsewhere))
            reasons.append(f"warps {which} are elsewhere or in another round (`gather` brings them here)")
        return "; ".join(reasons)

    def number(self) -> int | float:
        """Errors: Refused, it is a tile, or kept nowhere."""
        if self.note.element == "constant":
            return self._constant()
        if self.is_tile:
            raise Refused(f"{self.name} is a tile; take an element, as {self.name}[{', '.join('0' * self._rank)}]")
        if self.note.layout.startswith("parameter"):
            return self._parameter()
        bits = self.frame.register_of(self.note, 0, self.frame.warps[self.frame.warp], self.frame.at)
        if bits is None:
            raise Refused(f"{self.name} is kept nowhere at this instruction (optimised away)")
        return _decoded(bits, self.note)[self.frame.lane].item()

    def _parameter(self) -> int | float:
        """Of the kernel: it stays in the launch's memory."""
        data = self.frame.parameter(int(self.note.layout.removeprefix("parameter ")), self.note)
        return _decoded(np.array([int.from_bytes(data, "little")], np.uint64), self.note)[0].item()

    @property
    def _rank(self) -> int:
        return len(Layout.of(self.note.layout).shape)

    def _constant(self) -> Any:
        text, _, kind = self.note.layout.partition(" : ")
        if text.startswith('"'):
            raise Refused(f"{self.name} is the text {text}")
        return float(text) if kind.startswith("f") else int(text)

    def __getitem__(self, index: object) -> Any:
        """An element, or for slices a part. Errors: Refused, IndexError."""
        numbers, is_known = self.tile()
        if isinstance(numbers[index], np.ndarray):  # type: ignore[index]
            if self.part is not None:
                raise Refused("take a part of the whole tile")
            return KernelVariable(self.name, self.note, self.frame, index)
        if not is_known[index]:  # type: ignore[index]
            raise Refused(f"this element of {self.name} is not known: {self._why()}")
        return numbers[index].item()  # type: ignore[index]

    def member(self, name: str) -> KernelVariable:
        raise Refused(f"{self.name} has no member {name}")

    def address(self) -> Address:
        """Where a pointer points. Errors: Refused, it is no pointer."""
        if not self.is_tile and self.note.element.startswith("!tt.ptr"):
            return Address("generic", int(self.number()))
        raise Refused(f"{self.name} is in registers, which have no address")

    # ---- Text --------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """A number, or a table."""
        if not self.is_tile:
            return self._number_text()
        numbers, is_known = self.tile()
        if not is_known.any():
            raise Refused(f"{self.name} is not known: {self._why()}")
        lines = [f"{' x '.join(map(str, numbers.shape))} {self.note.language_type}"]
        if numbers.ndim <= 2:
            lines += tiles.table(numbers, is_known)
        else:
            lines += [self._short(numbers, is_known), f"{self.name}[0] shows one of them as a table"]
        if not is_known.all():
            lines.append(f"-- is not known: {self._why()}")
        return "\n".join(lines)

    def short_text(self) -> str:
        """One line, as `info locals` has it."""
        if not self.is_tile:
            return self._number_text()
        numbers, is_known = self.tile()
        if not is_known.any():
            raise Refused(self._why())
        return f"{self._short(numbers, is_known)}  {'x'.join(map(str, numbers.shape))} {self.note.language_type}"

    @staticmethod
    def _short(numbers: np.ndarray, is_known: np.ndarray) -> str:
        shown = 8
        cells = [tiles.cell(one) if known else "--" for one, known in zip(numbers.flat[:shown], is_known.flat[:shown])]
        return "{" + ", ".join(cells) + (", ..." if numbers.size > shown else "") + "}"

    def _number_text(self) -> str:
        if self.note.element == "constant" and self.note.layout.startswith('"'):
            return self.note.layout.partition(" : ")[0]
        number = self.number()
        if self.note.element.startswith("!tt.ptr"):
            return f"({self.note.language_type}) 0x{number:x}"
        if self.note.element.startswith("f8"):
            return f"{self.note.language_type} of bits 0x{number:02x}"
        return values.text(number)
