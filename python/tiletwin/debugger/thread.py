"""The thread that is looked at: its registers, variables, symbols, memory, stack.

Here:      Thread, which asks the engine once for each thing until the program goes on or another thread is looked at.
Not here:  what is shown of it (command_line.py, dap.py), tiles of variables (tiles.py).
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from tiletwin.debugger.connection import Refused
from tiletwin.debugger.dwarf import Variable, debug_info
from tiletwin.debugger.expressions import Address
from tiletwin.debugger.kernel_notes import kernel_notes
from tiletwin.debugger.kernel_variables import KernelVariables
from tiletwin.debugger.located import Located
from tiletwin.debugger.session import Session
from tiletwin.debugger.values import Register


def source_name(symbol: str) -> str:
    """What CUDA's source calls a variable of a function: "part" for "_ZZ9block_sumE4part"; others stay."""
    found = re.fullmatch(r"_ZZ.*E(\d+)(\w+)", symbol)
    return found[2][: int(found[1])] if found else symbol


class Frame(NamedTuple):
    """A line of the stack. call: which of the calls that are not inlined it belongs to."""

    function: str
    file: str
    line: int
    column: int
    call: int
    ptx: int


class Thread:
    """Names of expressions. frame: number of the frame whose names count."""

    def __init__(self, session: Session, frame: int = 0) -> None:
        self._session = session
        focus = session.stop.facts.get("focus") if session.stop else None
        if not focus:
            raise Refused("no kernel runs")
        self.block, self.thread = tuple(focus["block"]), tuple(focus["thread"])
        self.warp, self._lane = focus["warp"], focus["lane"]
        self.frame = frame

    @property
    def lane(self) -> int:
        return self._lane

    def frames(self) -> list[Frame]:
        """The innermost first. Errors: Refused, the thread has ended."""
        found = []
        for number, call in enumerate(self._session.ask("stack")["calls"]):
            lines = call.get("lines", [])
            if not lines:
                found.append(Frame(call["function"], self._session.launch["file"], call.get("ptx", 0), 0, number, 0))
            for line in lines:
                name = line["function"] or call["function"]
                found.append(Frame(name, line["file"], line["line"], line["column"], number, call["ptx"]))
        return found

    @property
    def call(self) -> int:
        """Of the frame."""
        return self.frames()[self.frame].call if self.frame else 0

    def registers(self, *names: str) -> list[Register]:
        """All that the function uses, or those of the names. Errors: Refused."""
        return [Register.of(row) for row in self._session.ask("registers", self.call, *names)["registers"]]

    def register(self, name: str) -> Register | None:
        found = self.registers(name)
        return found[0] if found else None

    def symbols(self) -> dict[str, Address]:
        """Variables of the module and of the function that have an address, and the kernel's parameters."""
        rows = self._session.ask("symbols", self.call)["symbols"]
        return {name: Address(space, at, size, kind, name) for name, space, at, size, kind in rows}

    def symbol(self, name: str) -> Address | None:
        symbols = self.symbols()
        kernel = self._session.launch["kernel"]
        local = [at for symbol, at in symbols.items() if source_name(symbol) == name]
        return symbols.get(name) or symbols.get(f"{kernel}_{name}") or (local[0] if local else None)

    def variables(self) -> list[Variable]:
        """What the debug information says is in scope, the innermost last; empty: there is none.

        Errors: Refused, it cannot be read.
        """
        information = debug_info(self._session.text)
        if not information.is_there:
            return []
        frames = self.frames()
        now = frames[self.frame]
        return information.variables(now.ptx, sum(one.call == now.call for one in frames[: self.frame]))

    @functools.cached_property
    def kernel_variables(self) -> KernelVariables | None:
        """Those of a kernel that tiletwin compiled; None: its code has none. Errors: Refused."""
        notes = kernel_notes(self._session.text)
        if not notes.is_there:
            return None
        now = self.frames()[self.frame]
        return KernelVariables(
            self._session, notes, at=now.ptx, file=now.file, line=now.line, warp=self.warp, lane=self.lane,
            call=now.call,
        )  # fmt: skip

    @property
    def why_unnamed(self) -> str:
        text = self._session.text
        if kernel_notes(text).is_there or not re.search(r'^\s*\.file\s+\d+\s+".*\.py"', text, re.MULTILINE):
            return ""
        return (
            "the compiler that made this PTX from Python does not say where it keeps variables; "
            "`tiletwin debug script.py` compiles kernels itself, and knows"
        )

    def variable(self, name: str) -> Any:
        """An index of the thread, or a variable of the source. Errors: Refused, it has no value here."""
        if (index := self.indices().get(name)) is not None:
            return index
        if self.kernel_variables is not None:
            return self.kernel_variables.variable(name)
        found = next((one for one in reversed(self.variables()) if one.name == name), None)
        return None if found is None else Located.of(found, self)

    def indices(self) -> dict[str, int]:
        """What a thread knows of itself, by CUDA's names and by the commands' names."""
        launch = self._session.launch
        named = {
            "threadIdx": self.thread,
            "blockIdx": self.block,
            "blockDim": launch["block"],
            "gridDim": launch["grid"],
        }
        found = {f"{name}.{letter}": sizes[i] for name, sizes in named.items() for i, letter in enumerate("xyz")}
        x, y, _ = launch["grid"]
        block = self.block[0] + x * (self.block[1] + y * self.block[2])
        return found | {
            "block": block, "thread": 32 * self.warp + self.lane, "warp": self.warp, "lane": self.lane,
            "pid0": self.block[0], "pid1": self.block[1], "pid2": self.block[2],
        }  # fmt: skip

    def memory(self, address: Address, size: int) -> bytes:
        """Errors: Refused, there is no such memory."""
        answer = self._session.ask("memory", address.space, address.at % (1 << 64), size, self.call)
        return bytes.fromhex(answer["bytes"])
