"""The judge's side of a worker: a process that runs code which the judge does not trust.

Here:      asking it, limits of time and output, how it ended.
Not here:  what it does (worker.py), what it gives up (sandbox.py), how it starts and ends (starter.py).
Invariant: whatever the worker does, `ask` returns within its time or raises; afterwards `close` leaves no process and
           no file.
Time:      processor time of the worker counts, as the machine may be busy with other things. A worker that sleeps, and
           wants no processor, is ended after IDLE_SECONDS of that. One that wants one and gets little is ended much
           later, and that says nothing about the submission.
"""

from __future__ import annotations

import os
import selectors
import signal
import time
from typing import Any

import torch

from tiletwin.judge import answers, frames, usage
from tiletwin.judge.sandbox import USUAL, Limits
from tiletwin.judge.starter import Starter, StarterEnded

MOST_PRINTED = 1 << 20
"""Bytes that a worker may print; more ends it."""
MOST_ANSWERED = 1 << 30
"""Bytes of one answer."""
_KEPT = 4000
"""Bytes of what a worker prints that reports show."""
IDLE_SECONDS = 20.0
"""How long a worker may sleep while it is asked something."""
LEAST_WALL_SECONDS, WALL_FACTOR = 600.0, 10.0
"""Time on the clock that an answer may take, whatever else the machine does; the factor is of its processor time."""
_LOOK_SECONDS = 0.25
"""Between looks at what a worker has used."""


class WorkerEnded(Exception):
    """The worker ended, or was ended. `why`: "time", "output", "message", "crash" or "exit"; "busy": the machine did
    not let it work, which says nothing about the submission."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(text)
        self.why = why


class _Patience:
    """How long an answer may take. seconds: of the worker's processor time."""

    def __init__(self, process: int, seconds: float) -> None:
        self.process, self.seconds = process, seconds
        self.before = usage.of(process).processor
        self.used = self.idle = 0.0
        self.began = self.looked = time.monotonic()

    def look(self) -> None:
        """Call it often. Errors: WorkerEnded."""
        now = time.monotonic()
        passed = now - self.looked
        if passed < _LOOK_SECONDS / 2:
            return
        seen = usage.of(self.process)
        used = seen.processor - self.before
        # This process may have stood still, too: what it did not see counts little.
        if not seen.wants and used - self.used < passed / 20:
            self.idle += min(passed, 2 * _LOOK_SECONDS)
        self.used, self.looked = max(used, self.used), now
        wall = max(LEAST_WALL_SECONDS, WALL_FACTOR * self.seconds)
        if self.used > self.seconds:
            raise WorkerEnded("time", f"it did not end in time: {self.seconds:g} s of a processor")
        if self.idle > IDLE_SECONDS:
            raise WorkerEnded("time", f"it did not end in time: it slept for {IDLE_SECONDS:g} s, and nobody wakes it")
        if now - self.began > wall:
            text = f"the machine is too busy: it got {self.used:.1f} s of a processor in {wall:g} s, and did not end"
            raise WorkerEnded("busy", text)


class Worker:
    """A process in a sandbox. Attributes: printed, the first bytes of what it has printed."""

    def __init__(self, starter: Starter, limits: Limits = USUAL, module: str = "tiletwin.judge.worker") -> None:
        self.printed = bytearray()
        self._count = 0
        self._status: int | None = None
        self._is_lost = False
        self._starter, self._killed_before = starter, usage.killed_for_memory()
        ask_read, ask_write = os.pipe()
        answer_read, answer_write = os.pipe()
        out_read, out_write = os.pipe()
        numbers = list(map(str, (limits.memory, limits.disk, limits.processor)))
        try:
            self._number = starter.start(module, numbers, (ask_read, answer_write, out_write))
        except OSError:
            for number in (ask_write, answer_read, out_read):
                os.close(number)
            raise
        finally:
            for number in (ask_read, answer_write, out_write):
                os.close(number)
        self._ask, self._answer, self._out = ask_write, answer_read, out_read
        self._may_print = True
        for number in (self._answer, self._out, self._ask):
            os.set_blocking(number, False)

    def ask(
        self, head: dict[str, Any], storages: list[torch.Tensor], seconds: float, form: type
    ) -> tuple[dict, list[torch.Tensor]]:
        """Sends a message and waits for its answer. form: of answers.py. seconds: of the worker's processor time.

        Errors: WorkerEnded; nothing can be asked afterwards."""
        patience = _Patience(self._number, seconds)
        try:
            self._send(head, storages, patience)
            said, parts = frames.read(lambda size: self._read(size, patience), MOST_ANSWERED)
            return answers.checked(said, form), parts
        except frames.BadMessage as error:
            self.kill()
            raise WorkerEnded("message", f"it answered what is no answer: {error}") from None
        except WorkerEnded:
            self.kill()
            raise

    def _send(self, head: dict[str, Any], storages: list[torch.Tensor], patience: _Patience) -> None:
        class Out:
            write = staticmethod(lambda data: self._write(memoryview(data), patience))
            flush = staticmethod(lambda: None)

        frames.write(Out, head, storages)

    def _write(self, data: memoryview, patience: _Patience) -> None:
        data = data.cast("B") if data.nbytes else memoryview(b"")
        while data:
            self._wait(self._ask, selectors.EVENT_WRITE, patience)
            try:
                data = data[os.write(self._ask, data[: 1 << 20]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def _read(self, size: int, patience: _Patience) -> bytearray:
        data = bytearray()
        while len(data) < size:
            self._wait(self._answer, selectors.EVENT_READ, patience)
            try:
                part = os.read(self._answer, min(size - len(data), 1 << 20))
            except BlockingIOError:
                continue
            if not part:
                raise self._ended()
            data += part
        return data

    def _wait(self, number: int, event: int, patience: _Patience) -> None:
        """Until the pipe is ready; takes what the worker prints meanwhile."""
        with selectors.DefaultSelector() as ready:
            ready.register(number, event)
            if self._may_print:
                ready.register(self._out, selectors.EVENT_READ)
            while True:
                found = {key.fd for key, _ in ready.select(_LOOK_SECONDS)}
                patience.look()
                if self._out in found and not self._take_printed():
                    ready.unregister(self._out)
                    self._may_print = False
                if number in found:
                    return

    def _take_printed(self) -> bool:
        """Whether more may come. Errors: WorkerEnded, it printed too much."""
        part = os.read(self._out, 1 << 16)
        self._count += len(part)
        self.printed += part[: max(_KEPT - len(self.printed), 0)]
        if self._count > MOST_PRINTED:
            raise WorkerEnded("output", f"it printed more than {MOST_PRINTED >> 20} MB")
        return bool(part)

    def _ended(self) -> WorkerEnded:
        """How the process ended by itself."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and usage.runs(self._number):
            time.sleep(0.01)
        if usage.runs(self._number):
            return WorkerEnded("exit", "it closed the pipe to the judge")
        status = self._end()
        if self._is_lost:
            return WorkerEnded("busy", "the process that starts workers was ended, perhaps because memory ran out")
        if not os.WIFSIGNALED(status):
            return WorkerEnded("exit", f"the process ended with exit code {os.waitstatus_to_exitcode(status)}")
        which = signal.Signals(os.WTERMSIG(status))
        if which == signal.SIGKILL and usage.killed_for_memory() > self._killed_before:
            return WorkerEnded("busy", "the machine has too little memory: the system ended a process for that")
        return WorkerEnded("crash", f"the process ended with {which.name}")

    def processor(self) -> float:
        """Seconds of processor time that it has used; 0 once it has ended."""
        return usage.of(self._number).processor

    def _end(self) -> int:
        if self._status is None:
            try:
                self._status = self._starter.end(self._number)
            except StarterEnded:  # all of its workers have ended with it
                self._status, self._is_lost = signal.SIGKILL, True
        return self._status

    def kill(self) -> None:
        """Ends the process and everything that it started."""
        self._end()

    def close(self) -> None:
        self.kill()
        for number in (self._ask, self._answer, self._out):
            os.close(number)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
