"""`tiletwin debug`: the debugger at a terminal, with cuda-gdb's words.

Here:      the prompt, and the commands that go on, set breakpoints and choose threads.
Not here:  commands that only show something (show.py), the engine's side (session.py).
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable

from tiletwin.debugger import show
from tiletwin.debugger.conditions import Condition
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.expressions import Evaluation
from tiletwin.debugger.gathering import gather
from tiletwin.debugger.session import Session
from tiletwin.debugger.thread import Thread

PROMPT = "(tiletwin) "
LOCKING = {"step": "warp", "warp": "warp", "block": "block", "off": "off"}
_PLACE = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+)|(?P<alone>\d+)|(?P<function>[A-Za-z_$%][\w$.:]*(<.*>)?)")


class CommandLine:
    """A session with a person. words: of the program."""

    def __init__(self, words: list[str], options: dict[str, str]) -> None:
        self.session = Session(words, options=options, is_true=self._is_true)
        self.frame = 0
        self.listed: tuple[str, int] | None = None
        self._last = ""
        self.exit_code = 0

    # ---- The prompt --------------------------------------------------------------------------------------------------

    def run(self) -> int:
        """Reads commands until the end of input or `quit`. Returns the exit code of the program's last run."""
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  input() has a history then
        while True:
            try:
                line = input(PROMPT)
            except EOFError:
                print()
                break
            except KeyboardInterrupt:
                print("^C")
                continue
            if not sys.stdin.isatty():
                print(line)  # a session from a file reads like one that was typed
            if not self.execute(line):
                break
        self.session.end()
        return self.exit_code

    def execute(self, line: str) -> bool:
        """Does what a line says, or for an empty one the last one again. False: it was `quit`."""
        line = line.strip() or self._last
        self._last = line
        if not line or line.startswith("#"):
            return True
        word, rest = re.match(r"([\w/]+|\S)\s*(.*)", line).groups()  # type: ignore[union-attr]
        word, _, form = word.partition("/")
        name = _full_name(word)
        if name == "quit":
            return False
        try:
            if name is None:
                raise Refused(f"{word}: no such command; `help` lists them")
            _COMMANDS[name][0](self, f"/{form} {rest}" if form else rest)
        except Refused as error:
            print(error)
        except KeyboardInterrupt:
            print("interrupted")
        sys.stdout.flush()
        return True

    @property
    def thread(self) -> Thread:
        return Thread(self.session, self.frame)

    def _is_true(self, text: str) -> bool:
        try:
            return bool(Evaluation(Thread(self.session)).number(text))
        except Refused as error:
            print(f"a breakpoint's condition is not known: {error}")
            return True

    # ---- Going on ----------------------------------------------------------------------------------------------------

    def _run(self, rest: str) -> None:
        if rest:
            raise Refused("run takes nothing: the program's arguments stand behind it on the command line")
        self.session.start()
        self._wait()

    def _start(self, rest: str) -> None:
        self.session.stops_at_launch = True
        self._run(rest)

    def _go(self, way: str, rest: str) -> None:
        if not self.session.is_running:
            raise Refused("no program runs: `run` starts it")
        count = int(rest) if rest.isdigit() else 1
        for i in range(count):
            self.session.go(way)
            if not self._wait(quiet=i + 1 < count, way=way):
                break

    def _wait(self, *, quiet: bool = False, way: str = "") -> bool:
        """Until the program stands, and says where. True: a step ended as it should."""
        before = self.session.launch.get("launch"), self._function()
        while True:
            try:
                stop = self.session.wait()
                break
            except KeyboardInterrupt:
                self.session.pause()
        self.frame = 0
        if stop.exit_code is not None:
            self.exit_code = stop.exit_code
            print(f"[the program has ended with exit code {stop.exit_code}]")
            return False
        self.listed = None
        if not quiet or stop.reason != "step":
            show.stop(self, stop, before != (self.session.launch.get("launch"), self._function()))
        return stop.reason == "step"

    def _function(self) -> object:
        """What a step's display names again when it changes."""
        if not self.session.stop:
            return getattr(self, "_function_before", None)
        facts = self.session.stop.facts
        lines = facts.get("lines") or [{}]
        self._function_before = (
            str(facts.get("focus")),
            lines[0].get("function") or facts.get("function"),
            lines[0].get("file"),
        )
        return self._function_before

    def _kill(self, rest: str) -> None:
        self.session.end()

    def _detach(self, rest: str) -> None:
        process = self.session.process
        self.session.detach()
        if process is not None:
            self.exit_code = process.wait()
            print(f"[the program has ended with exit code {self.exit_code}]")

    # ---- Breakpoints -------------------------------------------------------------------------------------------------

    def _break(self, rest: str, is_temporary: bool = False) -> None:
        place, _, condition = rest.partition(" if ")
        found = _PLACE.fullmatch(place.strip())
        if found is None and not place.strip() and self.session.stop:
            file, line = self._line_now()
            added = self.session.add(file=file, line=line, condition=Condition.of(condition), is_temporary=is_temporary)
        elif found is None:
            raise Refused("break kernel.py:12, break 12, or break FUNCTION, and a condition behind `if`")
        else:
            added = self.session.add(
                file=found["file"] or (self._line_now()[0] if found["alone"] else ""),
                line=int(found["line"] or found["alone"] or 0), function=found["function"] or "",
                condition=Condition.of(condition), is_temporary=is_temporary,
            )  # fmt: skip
        kind = "Temporary breakpoint" if is_temporary else "Breakpoint"
        if added.at[0]:
            print(f"{kind} {added.number} at {show.short(added.at[0])}:{added.at[1]}")
        elif self.session.stop:
            print(f"{kind} {added.number} ({added}): this kernel has no such place; it waits for one that has")
        else:
            print(f"{kind} {added.number} ({added}) waits for a kernel that has it")

    def _line_now(self) -> tuple[str, int]:
        if self.session.stop is None or not self.session.stop.lines:
            raise Refused("which file? break kernel.py:12")
        frame = self.thread.frames()[self.frame]
        return frame.file, frame.line

    def _watch(self, rest: str) -> None:
        expression, comma, size = rest.rpartition(",")
        if not comma or not size.strip().isdigit():
            expression, size = rest, ""
        address = Evaluation(self.thread).address(expression)
        count = int(size) if size else address.size or 4
        number = self.session.watch(address.space, address.at, count, rest)
        print(f"Watchpoint {number}: {count} bytes at {show.place(address)}")

    def _delete(self, rest: str) -> None:
        numbers = [int(word) for word in rest.split() if word.isdigit()]
        for number in numbers or [*self.session.breakpoints, *self.session.watches]:
            if not self.session.remove(number):
                raise Refused(f"there is no breakpoint {number}")

    # ---- Threads -----------------------------------------------------------------------------------------------------

    def _cuda(self, rest: str) -> None:
        on = dict(re.findall(r"(block|thread|warp|lane)\s+\(?([\d, ]*\d)\)?", rest))
        if not on and rest:
            raise Refused("cuda block 3, cuda thread (5,0,0), cuda warp 2 lane 7")
        if on:
            self.session.focus(**{name: value.replace(" ", "") for name, value in on.items()})
            self.frame = 0
        show.focus(self)

    def _gather(self, rest: str) -> None:
        for line in gather(self.session):
            print(line)
        show.focus(self)

    def _frame(self, rest: str) -> None:
        self._to_frame(int(rest) if rest.isdigit() else self.frame)

    def _to_frame(self, number: int) -> None:
        frames = self.thread.frames()
        if not 0 <= number < len(frames):
            raise Refused(f"the stack has {len(frames)} frames")
        self.frame, self.listed = number, None
        show.frame(self, frames[number], number)

    def _set(self, rest: str) -> None:
        found = re.fullmatch(r"(scheduler-locking|record)\s+(\w+)", rest)
        if found is None:
            raise Refused("set scheduler-locking warp|block|off, set record on|off")
        name, value = found[1], found[2]
        if name == "record" and value in ("on", "off"):
            self.session.set_option("record", value)
        elif name == "scheduler-locking" and value in LOCKING:
            self.session.set_option("locking", LOCKING[value])
        else:
            raise Refused(f"set {name} {value}: warp, block or off" if name != "record" else "set record on, or off")

    def _help(self, rest: str) -> None:
        for name, (_, text) in _COMMANDS.items():
            if not rest or name.startswith(rest):
                print(f"{name:<12}{text}")


def _full_name(word: str) -> str | None:
    """The command that a word or its beginning means; None: none, or more than one."""
    if word in _SHORT:
        return _SHORT[word]
    if word in _COMMANDS:
        return word
    found = [name for name in _COMMANDS if name.startswith(word)]
    return found[0] if len(found) == 1 else None


_SHORT = {
    "b": "break", "c": "continue", "s": "step", "n": "next", "si": "stepi", "p": "print", "i": "info", "l": "list",
    "r": "run", "q": "quit", "d": "delete", "f": "frame", "disas": "disassemble", "where": "bt", "backtrace": "bt",
    "h": "help", "fin": "finish", "tb": "tbreak",
}  # fmt: skip
_COMMANDS: dict[str, tuple[Callable[[CommandLine, str], None], str]] = {
    "run": (CommandLine._run, "start the program, to the first breakpoint"),
    "start": (CommandLine._start, "start the program, to the first instruction of its first kernel"),
    "break": (CommandLine._break, "kernel.py:12 or FUNCTION [if block==3 && thread==5 && x > 0]"),
    "tbreak": (lambda c, rest: c._break(rest, True), "the same, once"),
    "watch": (CommandLine._watch, "ADDRESS,BYTES: stop when the bytes have changed"),
    "delete": (CommandLine._delete, "[NUMBER...] breakpoints and watchpoints; all of them without a number"),
    "continue": (lambda c, rest: c._go("continue", rest), "go on to the next stop"),
    "step": (lambda c, rest: c._go("step", rest), "[N] to another line, into calls"),
    "next": (lambda c, rest: c._go("next", rest), "[N] to another line, over calls"),
    "stepi": (lambda c, rest: c._go("stepi", rest), "[N] one instruction of PTX"),
    "finish": (lambda c, rest: c._go("finish", rest), "out of the function"),
    "cuda": (CommandLine._cuda, "block 3 thread 5, warp 2, lane 7: look at another thread"),
    "gather": (CommandLine._gather, "bring the block's other warps to this instruction, so that tiles are whole"),
    "info": (
        show.info,
        "breakpoints, cuda blocks|warps|threads|lanes, registers, locals, symbols, shared, tensormaps, launch",
    ),
    "print": (show.value, "[/x] EXPRESSION: $r4, x, acc[3, 4], threadIdx.x"),
    "x": (show.memory, "/8fw ADDRESS: memory; formats x d u f c s, sizes b h w g"),
    "bt": (show.stack, "the stack, inlined calls too"),
    "frame": (CommandLine._frame, "NUMBER of the stack"),
    "up": (lambda c, rest: c._to_frame(c.frame + 1), "to the caller's frame"),
    "down": (lambda c, rest: c._to_frame(c.frame - 1), "to the called frame"),
    "list": (show.listing, "[LINE or FILE:LINE] ten lines of source"),
    "disassemble": (show.instructions, "PTX around the instruction that is next"),
    "who": (show.writers, "ADDRESS[,N]: who wrote this byte, the last one first"),
    "set": (CommandLine._set, "scheduler-locking warp|block|off: who runs during a step; record on|off"),
    "kill": (CommandLine._kill, "end the program"),
    "detach": (CommandLine._detach, "let the program run to its end"),
    "help": (CommandLine._help, "[COMMAND]"),
    "quit": (CommandLine._kill, ""),
}
