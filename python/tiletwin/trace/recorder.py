"""Recording of eager programs: the recording of this process, and a launch's part of it.

Not here:  a program's part (program_recording.py), the file (writer.py), where notes stand (instrument.py), launches
           (launch/eager_launch.py).
Invariant: recording changes no value, and no failure of it reaches the launch: it ends the recording, with a notice.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from tiletwin import _C, origins, variables
from tiletwin.trace import accesses
from tiletwin.trace.program_recording import Function, ProgramRecording, of_thread
from tiletwin.trace.selection import Wish, size_text, wish
from tiletwin.trace.selection import default_programs as default_programs
from tiletwin.trace.values import short_text
from tiletwin.trace.writer import Writer
from tiletwin.version import is_own_module


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
        if found := origins.of(self.fn.__name__):
            self.writer.add("meta", (f"origins of {self.number}", json.dumps(found)))
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
        recorded = of_thread.program = ProgramRecording(self, ids, session)
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
    return {"value": short_text(value)}


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
    of_thread.__dict__.clear()


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
