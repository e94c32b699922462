"""Recordings as Python objects: Trace, Recording, Launch; what they hold is from programs.py and moment.py.

Here:      `open`.
Not here:  rows of files (reader.py), text and pictures (text.py, app.py, html.py).
Invariant: objects are made of rows and never change; values are read from the file when they are asked for.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import msgspec

from tiletwin.origins import Origin
from tiletwin.trace.moment import Access, Buffer, Function, Shown, Value
from tiletwin.trace.programs import Program, Step
from tiletwin.trace.reader import File, TraceError, files_of

_ORIGINS = tuple[Origin, ...]


class Launch(Shown):
    """One launch of a kernel."""

    def __init__(self, recording: Recording, row: tuple) -> None:
        self.recording = recording
        self.number, function, self.count, x, y, z, self.started, arguments = row
        self.grid: tuple[int, int, int] = (x, y, z)
        try:
            self.function: Function = recording.functions[function]
            self.arguments = msgspec.json.decode(arguments, type=list[dict[str, Any]])
        except (KeyError, ValueError, TypeError) as error:
            raise recording.file.fail(f"launch {self.number} is damaged: {error!r}") from None

    @property
    def kernel(self) -> str:
        return self.function.name

    @functools.cached_property
    def origins(self) -> tuple[Origin, ...]:
        """Lines of the script for which the kernel was generated; empty for one that the script wrote itself."""
        try:
            return msgspec.json.decode(self.recording.meta.get(f"origins of {self.number}", "[]"), type=_ORIGINS)
        except msgspec.DecodeError as error:
            raise self.recording.file.fail(f"launch {self.number} is damaged: {error!r}") from None

    @functools.cached_property
    def buffers(self) -> list[Buffer]:
        rows = self.recording.file.rows(
            "SELECT name, begin, size, type, first, shape, strides FROM buffer WHERE launch = ? ORDER BY number",
            "tiiTITT",
            (self.number,),
        )

        def numbers(text: str | None) -> tuple[int, ...] | None:
            return None if text is None else tuple(int(n) for n in text.split(",") if n)

        try:
            return [
                Buffer(n, b, s, t, b if f is None else f, numbers(shape), numbers(strides))
                for n, b, s, t, f, shape, strides in rows
            ]
        except (ValueError, AttributeError) as error:
            raise self.recording.file.fail(f"a buffer of launch {self.number} is damaged: {error}") from None

    @functools.cached_property
    def programs(self) -> list[Program]:
        rows = self.recording.file.rows(
            "SELECT id, x, y, z, status, message FROM program WHERE launch = ? ORDER BY id", "iiiitt", (self.number,)
        )
        return [Program(self, row) for row in rows]

    def program(self, *ids: int) -> Program:
        """The recorded program with that id; parts that are left out are 0.

        Raises:
            TraceError: no such program was recorded.
        """
        wanted = (*ids, 0, 0)[:3]
        for program in self.programs:
            if program.id == wanted:
                return program
        have = ", ".join(str(p.id) for p in self.programs) or "none"
        raise TraceError(f"program {wanted} of {self.kernel} was not recorded; recorded are {have}")

    def __repr__(self) -> str:
        return f"<launch of {self.kernel}, grid {self.grid}: {len(self.programs)} programs recorded>"


class Recording:
    """One file: what one process recorded."""

    def __init__(self, path: str) -> None:
        self.file = File(path)
        self.path = path
        self.meta: dict[str, str] = dict(self.file.rows("SELECT key, value FROM meta", "tt"))
        self._values: dict[int, Value] = {}

    @functools.cached_property
    def functions(self) -> dict[int, Function]:
        rows = self.file.rows("SELECT id, name, file, first_line, source FROM function", "ittit")
        return {n: Function(name, file, first, source.splitlines(True)) for n, name, file, first, source in rows}

    @functools.cached_property
    def launches(self) -> list[Launch]:
        rows = self.file.rows(
            "SELECT id, function, number, x, y, z, started, arguments FROM launch ORDER BY id", "iiiiiirt"
        )
        return [Launch(self, row) for row in rows]

    def value(self, number: int) -> Value:
        """Errors: TraceError, the file lacks it."""
        found = self._values.get(number)
        if found is None:
            rows = self.file.rows(
                f"SELECT kind, type, shape, codec, data, {self.file.origin} FROM value WHERE id = ?",
                "ttttbT",
                (number,),
            )
            if not rows:
                raise self.file.fail(f"value {number} is missing")
            found = Value(self, number, rows[0])
            if len(self._values) > 4096:
                self._values.clear()
            self._values[number] = found
        return found

    @property
    def ending(self) -> str | None:
        """Why the record ends before the process did; None: it is whole."""
        if "ended" in self.meta:
            return self.meta["ended"]
        if "closed" in self.meta:
            return None
        if self._still_runs():
            return f"process {self.meta.get('pid')} still runs and may record more"
        return "the process was killed, or its disk was full: what it had not yet written is missing"

    def _still_runs(self) -> bool:
        pid = self.meta.get("pid", "")
        if self.meta.get("host") != os.uname().nodename or not pid.isdigit():
            return False
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return False
        except (PermissionError, OverflowError):
            pass
        return True


class Trace(Shown):
    """All recordings of a folder."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.recordings: list[Recording] = []
        self.problems: list[str] = []
        """Files that cannot be read, and why."""
        for path in files_of(place):
            try:
                self.recordings.append(Recording(path))
            except TraceError as error:
                self.problems.append(str(error))
        if not self.recordings:
            raise TraceError("\n".join(self.problems))

    @property
    def launches(self) -> list[Launch]:
        """Of all processes, oldest file first."""
        return [launch for recording in self.recordings for launch in recording.launches]

    @property
    def endings(self) -> list[str]:
        """Why recordings end early, one text a file."""
        return [f"{os.path.basename(r.path)}: {r.ending}" for r in self.recordings if r.ending]

    def close(self) -> None:
        for recording in self.recordings:
            recording.file.close()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<recordings in {self.place}: {len(self.launches)} launches>"


def open(place: str | os.PathLike[str]) -> Trace:
    """The recordings in a folder (or one file).

    Raises:
        TraceError: there is nothing to read.
    """
    return Trace(os.fspath(place))


__all__ = ["Access", "Buffer", "Function", "Launch", "Program", "Step", "Trace", "Value", "open"]
