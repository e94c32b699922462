"""Recording of eager programs: which launches and programs, their steps, and what each step changed.

Here:      the recording of this process, a launch's part of it, a program's part; the notes that instrumented kernels
           make (instrument.py) and the accesses that the extension tells of.
Not here:  the file (writer.py), values (values.py), where the notes stand (instrument.py), launches
           (launch/eager_launch.py).
Invariant: recording changes no value, and no failure of it reaches the launch: it ends the recording, with a notice.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from tiletwin import _C, variables
from tiletwin.trace import accesses
from tiletwin.trace.format import CALL, ERROR, ITERATION, LOOP_END, RETURN
from tiletwin.trace.selection import Wish, size_text, wish
from tiletwin.trace.selection import default_programs as default_programs
from tiletwin.trace.values import keep
from tiletwin.trace.writer import Writer, limit_reason
from tiletwin.version import is_own_module

RETURNED = "(return)"
"""The name under which a step keeps what a function returned."""
LONGEST_MESSAGE = 4000
_MISSING = object()
_thread = threading.local()  # .program: the ProgramRecording of the program this thread runs, or None


class _Frame:
    """A running call of an instrumented function."""

    __slots__ = ("caller", "frame", "function", "known", "loops", "number", "pending")

    def __init__(self, frame: Any, number: int, caller: int, function: int) -> None:
        self.frame = frame
        self.number = number
        self.caller = caller
        self.function = function
        self.known: dict[str, Any] = {}
        self.loops: list[list[int]] = []
        self.pending: list[_Access] = []


class _Access:
    """An operation on memory whose step has not ended."""

    __slots__ = ("detail", "done", "old", "operation", "result", "touched")

    def __init__(self, operation: str, detail: str, touched: accesses.Touched, old: accesses.Raw | None) -> None:
        self.operation = operation
        self.detail = detail
        self.touched = touched
        self.old = old
        self.result: accesses.Raw | None = None
        self.done = False


class Function:
    """What a note knows of the function it stands in; called by the instrumented body."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn

    def __call__(self, line: int, kind: int, value: Any = None) -> Any:
        program = getattr(_thread, "program", None)
        if program is not None:
            program.note(self.fn, sys._getframe(1), line, kind, value)
        return value


class ProgramRecording:
    """The steps of one program, as it runs."""

    def __init__(self, launch: LaunchRecording, ids: tuple[int, int, int], session: Any) -> None:
        self.launch = launch
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
        _thread.program = None
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


class LaunchRecording:
    """The recorded part of one launch."""

    def __init__(self, recording: Recording, fn: Any, number: int, grid: tuple[int, int, int]) -> None:
        self.recording = recording
        self.writer = recording.writer
        self.fn = fn
        self.count = number
        self.grid = grid
        self.number = self.writer.new_id("launch")
        self.label = f"{self.number} ({fn.__name__})"
        self.memory = accesses.Memory([])
        self.programs: frozenset[int] = frozenset()

    def begin(self, arguments: dict[str, Any], session: Any, programs: Any) -> None:
        """The launch begins. programs: linear ids of those to record."""
        try:
            self._begin(arguments, session, programs)
        except Exception as error:
            self.writer.end(f"it failed ({type(error).__name__}: {error})")

    def _begin(self, arguments: dict[str, Any], session: Any, programs: Any) -> None:
        self.programs = frozenset(programs)
        buffers = session.buffers()
        self.memory = accesses.Memory(buffers)
        self.recording.claim_functions()
        described = {name: _described(value) for name, value in arguments.items()}
        texts = [{"name": name, **facts} for name, facts in described.items()]
        function = self.recording.function_id(self.fn)
        row = (self.number, function, self.count, *self.grid, time.time(), json.dumps(texts))
        self.writer.add("launch", row)
        for index, (name, begin, end, _, _) in enumerate(buffers):
            facts = described.get(name) or described.get(name.split(".")[0].split("[")[0]) or {}
            shape, strides = (facts.get(key) for key in ("shape", "strides"))
            texts = [None if v is None else ",".join(map(str, v)) for v in (shape, strides)]
            self.writer.add("buffer", (self.number, index, name, begin, end - begin, facts.get("type"),
                                       facts.get("data"), *texts))  # fmt: skip
        self.writer.check()

    def begin_program(self, program: int, ids: tuple[int, int, int], session: Any) -> ProgramRecording | None:
        """A program begins on this thread, in `session`; None: it is not among the recorded ones."""
        if program not in self.programs or self.writer.ended is not None:
            return None
        recorded = _thread.program = ProgramRecording(self, ids, session)
        session.observe(recorded.observe)
        return recorded


def _described(value: Any) -> dict[str, Any]:
    """An argument: {type, shape, strides, data} of arrays, {value} of others."""
    base = getattr(value, "base", None)
    if base is not None and hasattr(value, "block_shape"):
        return {**_described(base), "block_shape": [int(n) for n in value.block_shape]}
    if hasattr(value, "shape") and (hasattr(value, "data_ptr") or hasattr(value, "__array_interface__")):
        try:
            facts = _C.array_info(value)
            shape = [int(n) for n in value.shape]
            if callable(getattr(value, "stride", None)):
                strides = [int(n) for n in value.stride()]
            else:
                strides = [int(n) // value.itemsize for n in value.strides]
            return {"type": facts["type"], "shape": shape, "strides": strides, "data": facts["data"]}
        except (TypeError, ValueError, AttributeError, RuntimeError):
            pass
    text = getattr(value, "__name__", None) if callable(value) else None
    text = text or repr(value)
    return {"value": text if len(text) <= 300 else text[:297] + "..."}


class Recording:
    """What this process records, to one file."""

    def __init__(self, wanted: Wish) -> None:
        self.wish = wanted
        self.writer = Writer(wanted.folder, wanted.limit)
        self.counts: dict[str, int] = {}
        self._functions: dict[int, tuple[int, Any]] = {}
        self._noticed = False

    def function_id(self, fn: Any) -> int:
        known = self._functions.get(id(fn))
        if known is None:
            number = self.writer.new_id("function")
            known = self._functions[id(fn)] = (number, fn)
            source = "".join(fn.source_lines)
            self.writer.add("function", (number, fn.__name__, fn.file, fn.first_line, source), len(source))
        return known[0]

    def claim_functions(self) -> None:
        """Functions that were rewritten without notes are forgotten; they are rewritten when they run next."""
        from tiletwin.kernels import callables

        for fn in list(callables.by_full_name.values()):
            made = fn.__dict__.get("_eager_function")
            if made is not None and not is_noted(made) and takes_notes(fn):
                del fn.__dict__["_eager_function"]

    def launch(self, fn: Any, grid: tuple[int, int, int]) -> LaunchRecording | None:
        """The recording of the launch that begins; None: it is not among the wanted ones."""
        number = self.counts.get(fn.__name__, 0)
        self.counts[fn.__name__] = number + 1
        if self.writer.ended is not None or not self.wish.includes(fn.__name__, number) or 0 in grid:
            return None
        return LaunchRecording(self, fn, number, grid)

    def notice(self, chosen_by_default: bool) -> None:
        """Says once where the record goes and what it keeps."""
        if self._noticed:
            return
        self._noticed = True
        programs = "the first, the middle and the last program" if chosen_by_default else "the chosen programs"
        launches = variables.text("TILETWIN_RECORD_LAUNCHES")
        which = f"of the launches {launches}" if launches else "of the first 4 launches of each kernel"
        print(
            f"tiletwin: recording {programs} {which} to {self.writer.path}, at most {size_text(self.writer.limit)} "
            "(TILETWIN_PROGRAM, TILETWIN_RECORD_LAUNCHES and TILETWIN_RECORD_LIMIT choose others); "
            f"look at it with: tiletwin trace {self.wish.folder}",
            file=sys.stderr,
        )


_recording: Recording | None = None
_abandoned: list[Any] = []  # of a parent process; closing their connections here would release the parent's locks
_lock = threading.Lock()


def _forget_in_child() -> None:
    global _recording, _lock
    _lock = threading.Lock()
    if _recording is not None:
        _abandoned.append(_recording)
        _recording = None
    _thread.__dict__.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def current() -> Recording | None:
    """The recording that the environment asks for, begun if need be; None: it asks for none.

    Errors: ValueError, a variable that cannot be read; RecordError, a folder that cannot be written.
    """
    global _recording
    wanted = wish()
    if wanted is None:
        return None
    with _lock:
        if _recording is None or _recording.wish.folder != wanted.folder:
            import atexit

            if _recording is not None:
                _recording.writer.close()
            else:
                atexit.register(close)
            _recording = Recording(wanted)
        _recording.wish = wanted
        _recording.writer.limit = wanted.limit
    return _recording


def close() -> None:
    """Ends the recording of this process and writes what is left; the next launch begins another file."""
    global _recording
    with _lock:
        if _recording is not None:
            _recording.writer.close()
            _recording = None


def wants(fn: Any) -> bool:
    """Whether a launch of `fn` is to be recorded, now or later."""
    recording = current()
    if recording is None or recording.writer.ended is not None:
        return False
    return recording.counts.get(fn.__name__, 0) <= recording.wish.last_launch(fn.__name__)


def takes_notes(fn: Any) -> bool:
    """Whether a function's steps are recorded: those of the user's, not the language's own."""
    return not is_own_module(fn.__module__)


def is_noted(function: Any) -> bool:
    return getattr(function, "_tiletwin_noted", False)


def note_maker(fn: Any) -> Callable[..., Any] | None:
    """What the rewritten body of `fn` is to call behind its statements; None: nothing."""
    return Function(fn) if _recording is not None and takes_notes(fn) else None
