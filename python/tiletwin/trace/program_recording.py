"""The recording of one program of a launch: its steps, what each step changed and touched.

Here:      what the notes of instrumented kernels (instrument.py) and the accesses that the extension tells of become.
Not here:  which programs (recorder.py), the file (writer.py), values (values.py).
Invariant: recording changes no value, and no failure of it reaches the launch: it ends the recording, with a notice.
"""

from __future__ import annotations

import sys
import threading
import traceback
from dataclasses import dataclass, field
from typing import Any

from tiletwin import _C
from tiletwin.trace import accesses
from tiletwin.trace.format import CALL, ERROR, ITERATION, LOOP_END, RETURN, RETURNED
from tiletwin.trace.values import keep
from tiletwin.trace.writer import limit_reason

LONGEST_MESSAGE = 4000
_MISSING = object()
of_thread = threading.local()
"""`program`: the ProgramRecording of the program that this thread runs, or None."""


@dataclass(slots=True, eq=False)
class _Frame:
    """A running call of an instrumented function."""

    frame: Any
    number: int
    caller: int
    function: int
    known: dict[str, Any] = field(default_factory=dict)
    loops: list[list[int]] = field(default_factory=list)
    pending: list[_Access] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Access:
    """An operation on memory whose step has not ended."""

    operation: str
    detail: str
    touched: accesses.Touched
    old: accesses.Raw | None
    result: accesses.Raw | None = None
    done: bool = False


class Function:
    """What a note knows of the function it stands in; called by the instrumented body."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn

    def __call__(self, line: int, kind: int, value: Any = None) -> Any:
        program = getattr(of_thread, "program", None)
        if program is not None:
            program.note(self.fn, sys._getframe(1), line, kind, value)
        return value


class ProgramRecording:
    """The steps of one program, as it runs."""

    def __init__(self, launch: Any, ids: tuple[int, int, int], session: Any) -> None:
        self.launch = launch  # recorder.LaunchRecording
        self.session = session
        self.writer = launch.writer
        self.ids = ids
        self.number = self.writer.new_id("program")
        self.steps = 0
        self.frames: list[_Frame] = []
        self.made = 0
        self.loose: list[_Access] = []  # accesses outside any noted function
        self.writer.add("program", (self.number, launch.number, *ids, "running", ""))

    # ---- notes ----

    def note(self, fn: Any, frame: Any, line: int, kind: int, value: Any) -> None:
        """A statement of `fn` has run, in `frame`."""
        if self.writer.ended is not None:
            return
        try:
            self._note(fn, frame, line, kind, value)
        except Exception as error:
            self.writer.end(f"it failed ({type(error).__name__}: {error})")

    def _note(self, fn: Any, frame: Any, line: int, kind: int, value: Any) -> None:
        if kind == CALL:
            self.made += 1
            caller = self.frames[-1].number if self.frames else 0
            self.frames.append(_Frame(frame, self.made, caller, self.launch.recording.function_id(fn)))
        else:
            while self.frames and self.frames[-1].frame is not frame:
                self.frames.pop()
            if not self.frames:
                return
        own = self.frames[-1]
        loops = own.loops
        if kind == ITERATION:
            if loops and loops[-1][0] == line:
                loops[-1][1] += 1
            else:
                loops.append([line, 0])
        elif kind == LOOP_END:
            while loops and loops[-1][0] != line:
                loops.pop()
        changes = self._changes(own, frame)
        if kind == RETURN and value is not None:
            changes.append((RETURNED, value))
        self._step(own, line, kind, changes)
        if kind == LOOP_END and loops:
            loops.pop()
        elif kind == RETURN:
            self.frames.pop()
        if self.writer.full:
            x, y, z = self.ids
            place = f"in launch {self.launch.label}, program ({x}, {y}, {z}), line {line}"
            self.writer.end(limit_reason(self.writer.limit, place))
        self.writer.check()

    def _changes(self, own: _Frame, frame: Any) -> list[tuple[str, Any]]:
        """(name, value) of locals that are not the objects they were; a deleted one has the value _MISSING.

        Locals that hide a global one start as that (eager/rewriter.py), which is no value of theirs.
        """
        known, values, outer = own.known, frame.f_locals, frame.f_globals
        parameters = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
        changes = []
        count = 0
        for name, value in values.items():
            if name[0] == ".":
                continue
            if known.get(name, _MISSING) is value:
                count += 1
            elif outer.get(name, _MISSING) is not value or name in parameters or name in known:
                count += 1
                known[name] = value
                changes.append((name, value))
        if count < len(known):
            for name in [name for name in known if name not in values]:
                del known[name]
                changes.append((name, _MISSING))
        return changes

    def _step(self, own: _Frame, line: int, kind: int, changes: list[tuple[str, Any]]) -> None:
        writer, step = self.writer, self.steps
        self.steps += 1
        loops = ";".join(f"{at}:{count}" for at, count in own.loops)
        writer.add("step", (self.number, step, kind, own.number, own.function, line, own.caller, loops))
        for index, (name, value) in enumerate(changes):
            kept = None if value is _MISSING else keep(writer, value)
            writer.add("change", (self.number, step, index, name, kept))
        pending = own.pending
        if self.loose:
            pending, self.loose = self.loose + pending, []
        for index, access in enumerate(pending):
            self._keep_access(step, index, access)
        own.pending = []

    def _keep_access(self, step: int, index: int, access: _Access) -> None:
        def kept(raw: accesses.Raw | None) -> int | None:
            return None if raw is None else self.writer.value("tensor", *raw)

        touched = access.touched
        value = access.result if touched.value is None else touched.value
        addresses = self.writer.value("tensor", *touched.addresses, touched.origin)
        row = (addresses, kept(touched.mask), kept(value), kept(access.old), int(access.done))
        operation = access.operation.removeprefix("tt.")
        self.writer.add("access", (self.number, step, index, operation, access.detail, *row))

    # ---- memory ----

    def observe(self, operation: str, operands: tuple, attributes: str, results: tuple | None) -> None:
        """Told by the extension before (results: None) and after an operation on memory."""
        if self.writer.ended is not None:
            return
        try:
            pending = self.frames[-1].pending if self.frames else self.loose
            if results is None:
                touched = accesses.touched(operation, operands)
                old = self.launch.memory.read(touched) if touched.writes else None
                pending.append(_Access(operation, accesses.detail(operation, attributes), touched, old))
            elif pending:
                access = pending[-1]
                access.done = True
                if results and access.touched.value is None:
                    access.result = _C.raw_value(results[0])
        except Exception as error:
            self.writer.end(f"it failed ({type(error).__name__}: {error})")

    # ---- the end ----

    def end(self, error: BaseException | None) -> None:
        """The program has come to its end on this thread, or raises `error`."""
        of_thread.program = None
        self.session.observe(None)
        if self.writer.ended is None:
            try:
                if error is not None:
                    self._note_failure(error)
                status, message = ("done", "") if error is None else ("error", f"{type(error).__name__}: {error}")
                if type(error).__name__ == "_Abandoned":  # launch/eager_relay.py unwinds it
                    message = "it waited when another program of the launch failed"
                row = (status, message[:LONGEST_MESSAGE], self.number)
                self.writer.update("UPDATE program SET status = ?, message = ? WHERE id = ?", row)
            except Exception as failure:
                self.writer.end(f"it failed ({type(failure).__name__}: {failure})")
        self.frames = []

    def _note_failure(self, error: BaseException) -> None:
        """Keeps the step that did not end, with what it touched."""
        if not self.frames:
            return
        own, line = self.frames[-1], 0
        frames = {frame.frame: frame for frame in self.frames}
        for frame, at in traceback.walk_tb(error.__traceback__):
            if frame in frames:
                own, line = frames[frame], at
        changes = self._changes(own, own.frame)
        self._step(own, line or own.frame.f_lineno, ERROR, changes)
