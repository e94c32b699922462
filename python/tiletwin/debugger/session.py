"""A program that is debugged: breakpoints, going on, where it stands.

Here:      Session, which both the command line and the editor's server use; Breakpoint; Stop.
Not here:  what is printed (command_line.py), what an editor hears (dap.py), values (values.py).
Idea:      a launch tells of itself before its first instruction. Then the breakpoints are set in it, since only now are
           their lines known, and it goes on.
Invariant: the engine is asked only while the program stands in a kernel (`stop` is not None).
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tiletwin.debugger import target
from tiletwin.debugger.conditions import Condition
from tiletwin.debugger.connection import Listener, Refused
from tiletwin.debugger.sources import Sources


@dataclass
class Breakpoint:
    """file and line, or function."""

    number: int
    file: str = ""
    line: int = 0
    function: str = ""
    condition: Condition = field(default_factory=Condition)
    is_temporary: bool = False
    hits: int = 0
    at: tuple[str, int] = ("", 0)
    """Where it is in the last kernel that has it."""

    def __str__(self) -> str:
        place = self.function or f"{self.file}:{self.line}"
        return f"{place} if {self.condition.text}" if self.condition.text else place


@dataclass
class Stop:
    """Why and where a launch stands; facts: of the engine's event. An end of the program has `exit_code`."""

    reason: str
    facts: dict[str, Any]
    exit_code: int | None = None

    @property
    def lines(self) -> list[dict[str, Any]]:
        return self.facts.get("lines", [])


class Session:
    """words: of the program. options: of the virtual GPU. output: see target.start. is_true: evaluates the part of a
    condition that the engine does not understand, in the thread that a breakpoint has stopped."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        options: dict[str, str] | None = None,
        output: int | IO | None = None,
        cwd: str | None = None,
        is_true: Callable[[str], bool],
    ) -> None:
        self.words, self._options, self._output, self._cwd = list(words), options or {}, output, cwd
        self._is_true = is_true
        self.breakpoints: dict[int, Breakpoint] = {}
        self.watches: dict[int, str] = {}
        self.options: dict[str, str] = {}
        self._next_number = 1
        self.stop: Stop | None = None
        self.launch: dict[str, Any] = {}
        self.text = ""
        self.stops_at_launch = False
        self._set_numbers: set[int] = set()
        self._has_changes = False
        self.process: subprocess.Popen | None = None
        self._listener: Listener | None = None
        self.sources = Sources([])

    def use(self, *, output: int | IO | None, cwd: str | None) -> None:
        """Where the program's output goes, and where it starts."""
        self._output, self._cwd = output, cwd

    # ---- The program -------------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self.process is not None

    def start(self) -> None:
        """Starts the program; `wait` follows. Errors: Refused."""
        self.end()
        folder = Path(self._cwd or ".")
        self.sources = Sources([folder, *([folder / Path(self.words[0]).parent] if self.words else [])])
        self._listener = Listener()
        try:
            self.process = target.start(
                self.words, self._listener.path, options=self._options, output=self._output, cwd=self._cwd
            )
        except Refused:
            self._listener.close()
            self._listener = None
            raise

    def end(self) -> None:
        """Ends the program, if it runs."""
        if self.process is not None:
            if self.process.poll() is None:
                try:
                    os.killpg(self.process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()
        if self._listener is not None:
            self._listener.close()
        self.process, self._listener, self.stop = None, None, None
        self.watches.clear()

    def detach(self) -> None:
        """Lets the program run to its end, with no breakpoints."""
        if self._listener is not None:
            self._listener.let_go()
            self._listener.close()
        self.process, self._listener, self.stop = None, None, None

    def ask(self, *words: object) -> dict[str, Any]:
        """The engine's answer. Errors: Refused."""
        if self._listener is None or self.stop is None:
            raise Refused("the program does not stand in a kernel")
        try:
            return self._listener.ask(*words)
        except ConnectionError as error:
            raise Refused(str(error)) from None

    # ---- Going on ----------------------------------------------------------------------------------------------------

    def go(self, way: str) -> None:
        """way: continue, step, next, stepi, finish; `wait` follows."""
        self.ask("go", way)
        self.stop = None

    def run_on(self, way: str) -> Stop | None:
        """Goes on to the engine's next stop, whatever it is for; None: the program has ended."""
        self.go(way)
        process, listener = self.process, self._listener
        if process is None or listener is None:
            raise Refused("no program runs")
        event = listener.event(None, lambda: process.poll() is not None)
        self.stop = Stop(event["reason"], event) if event and event["event"] == "stopped" else None
        return self.stop

    def pause(self) -> None:
        """Stops at the kernel's next instruction, or at that of the next kernel."""
        if self._listener is not None and self.stop is None:
            self.stops_at_launch = True
            self._listener.tell("pause")

    def wait(self) -> Stop:
        """Until the program stands, or has ended."""
        while True:
            stop = self._next_stop()
            if stop is not None:
                return stop

    def _next_stop(self) -> Stop | None:
        """None: something happened that is no stop."""
        if self._listener is None or self.process is None:
            raise Refused("no program runs")
        process = self.process
        event = self._listener.event(None, lambda: process.poll() is not None)
        if event is None:
            code = process.wait()
            self.end()
            return Stop("exited", {}, code)
        if event["event"] != "stopped":
            return None
        self.stop = Stop(event["reason"], event)
        if self.stop.reason == "launch":
            self._begin_launch(event)
            self.go("entry" if self.stops_at_launch else "continue")
            return None
        if self._has_changes:
            self._has_changes = False
            self._set_all()
            if self.stop.reason == "pause" and not self.stops_at_launch:
                self.go("continue")
                return None
        self.stops_at_launch = False
        if self.stop.reason == "breakpoint" and not self._is_wanted(self.stop):
            self.go("continue")
            return None
        return self.stop

    def _begin_launch(self, event: dict[str, Any]) -> None:
        self.launch = event
        self.watches.clear()
        self.text = self.ask("text")["text"]
        self.sources.add(event["file"], self.text)
        for name, value in self.options.items():
            self.ask("option", name, value)
        self._set_numbers.clear()
        self._has_changes = False
        self._set_all()

    def _is_wanted(self, stop: Stop) -> bool:
        """Whether a condition of a breakpoint that was hit holds."""
        hit = [self.breakpoints[n] for n in stop.facts["breakpoints"] if n in self.breakpoints]
        wanted = [b for b in hit if not b.condition.rest or self._holds(b.condition)]
        stop.facts["breakpoints"] = [b.number for b in wanted]
        for breakpoint in wanted:
            breakpoint.hits += 1
            if breakpoint.is_temporary:
                self.remove(breakpoint.number)
        return bool(wanted)

    def _holds(self, condition: Condition) -> bool:
        """Whether it holds in the thread that the engine has stopped, or in one that came there with it, which is
        looked at then."""
        if self._is_true(condition.rest):
            return True
        if condition.where["thread"] or self.stop is None:
            return False
        first = self.stop.facts["focus"]
        lanes = 0
        for row in self.ask("warps")["warps"]:
            if (row["block"], row["warp"]) == (first["block"], first["warp"]):
                lanes = sum(group["lanes"] for group in row["groups"] if group["state"] == "running")
        for lane in range(32):
            if lanes >> lane & 1 and lane != first["lane"]:
                self.focus(lane=lane)
                if self._is_true(condition.rest):
                    return True
        self.focus(lane=first["lane"])
        return False

    # ---- Breakpoints -------------------------------------------------------------------------------------------------

    def add(self, **place: Any) -> Breakpoint:
        """A breakpoint; place: the fields of Breakpoint. It is set now if a kernel runs that has the place, else in the
        next one that has it: its `at` says so. Errors: Refused."""
        breakpoint = Breakpoint(self._next_number, **place)
        if self.stop is not None:
            self._set(breakpoint)
        self._next_number += 1
        self.breakpoints[breakpoint.number] = breakpoint
        self._changed()
        return breakpoint

    def _changed(self) -> None:
        """Breakpoints have changed: a kernel that runs stands for a moment to hear of it."""
        if self._listener is not None and self.stop is None:
            self._has_changes = True
            self._listener.tell("pause")

    def _set_all(self) -> None:
        for number in self._set_numbers - self.breakpoints.keys():
            self.ask("remove", number)
        for breakpoint in self.breakpoints.values():
            if breakpoint.number in self._set_numbers:
                continue
            try:
                self._set(breakpoint)
            except Refused:
                pass  # a block that this launch has not
        self._set_numbers &= self.breakpoints.keys()

    def _set(self, breakpoint: Breakpoint) -> None:
        b, where = breakpoint, breakpoint.condition.where
        place = ("function", b.function, "") if b.function else ("line", b.file, b.line)
        found = self.ask("break", b.number, *place, where["block"], where["thread"], where["warp"])
        self._set_numbers.add(b.number)
        if found["places"]:
            b.at = found["file"], found["line"]

    def watch(self, space: str, address: int, size: int, text: str) -> int:
        """A watchpoint on bytes; its number. Errors: Refused."""
        self.ask("watch", self._next_number, space, address, size)
        number, self._next_number = self._next_number, self._next_number + 1
        self.watches[number] = text
        return number

    def remove(self, number: int) -> bool:
        """False: there is no such breakpoint or watchpoint."""
        found = self.breakpoints.pop(number, None) or self.watches.pop(number, None)
        if found and self.stop is not None:
            self._set_numbers.discard(number)
            self.ask("remove", number)
        elif found:
            self._changed()
        return found is not None

    def set_option(self, name: str, value: str) -> None:
        """locking: warp, block, off; record: on, off."""
        if self.stop is not None:
            self.ask("option", name, value)
        self.options[name] = value

    def focus(self, **on: object) -> dict[str, Any]:
        """Looks at another thread: block, thread, warp, lane; what is not given stays. Errors: Refused."""
        found = self.ask("focus", *(on.get(name, "") for name in ("block", "thread", "warp", "lane")))
        if self.stop is not None:
            for key in ("focus", "function", "lines", "ptx", "instruction"):
                self.stop.facts.pop(key, None)
            self.stop.facts.update(found)
        return found
