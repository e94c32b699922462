"""The judge's side of a worker: a process that runs code which the judge does not trust.

Here:      starting it, asking it, limits of time and output, how it ended.
Not here:  what it does (worker.py), what it gives up (sandbox.py).
Invariant: whatever the worker does, `ask` returns within its time or raises; afterwards `close` leaves no process and
           no file.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from tiletwin.judge import frames
from tiletwin.judge.sandbox import USUAL, Limits

MOST_PRINTED = 1 << 20
"""Bytes that a worker may print; more ends it."""
MOST_ANSWERED = 1 << 30
"""Bytes of one answer."""
_KEPT = 4000
"""Bytes of what a worker prints that reports show."""
_PASSED = ("PATH", "LANG", "LC_ALL", "TILETWIN_LIBRARIES", "TILETWIN_NUM_THREADS", "LD_LIBRARY_PATH", "PYTHONPATH")


class WorkerEnded(Exception):
    """The worker ended, or was ended. `why`: "time", "output", "memory", "message", "crash" or "exit"."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(text)
        self.why = why


class Worker:
    """A process in a sandbox. Attributes: printed, the first bytes of what it has printed."""

    def __init__(self, limits: Limits = USUAL, module: str = "tiletwin.judge.worker") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tiletwin-judge-"))
        self.printed = bytearray()
        self._count = 0
        ask_read, ask_write = os.pipe()
        answer_read, answer_write = os.pipe()
        numbers = [limits.memory, limits.disk, limits.processor]
        words = [sys.executable, "-s", "-m", module, self.folder, ask_read, answer_write, *numbers]
        environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
        environment |= {
            "TILETWIN_INTERPRET": "1", "HOME": str(self.folder), "TMPDIR": str(self.folder),
            "TILETWIN_CACHE_DIR": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        self._process = subprocess.Popen(
            list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            pass_fds=(ask_read, answer_write), env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(ask_read)
        os.close(answer_write)
        self._ask = os.fdopen(ask_write, "wb")
        self._answer = answer_read
        self._out = self._process.stdout
        for number in (self._answer, self._out.fileno(), self._ask.fileno()):  # type: ignore[union-attr]
            os.set_blocking(number, False)

    def ask(
        self, head: dict[str, Any], storages: list[torch.Tensor], seconds: float
    ) -> tuple[dict, list[torch.Tensor]]:
        """Sends a message and waits for its answer. Errors: WorkerEnded; nothing can be asked afterwards."""
        deadline = time.monotonic() + seconds
        try:
            self._send(head, storages, deadline)
            return frames.read(lambda size: self._read(size, deadline), MOST_ANSWERED)
        except frames.BadMessage as error:
            self.kill()
            raise WorkerEnded("message", f"it answered what is no answer: {error}") from None
        except WorkerEnded:
            self.kill()
            raise

    def _send(self, head: dict[str, Any], storages: list[torch.Tensor], deadline: float) -> None:
        class Out:
            write = staticmethod(lambda data: self._write(memoryview(data), deadline))
            flush = staticmethod(lambda: None)

        frames.write(Out, head, storages)

    def _write(self, data: memoryview, deadline: float) -> None:
        data = data.cast("B") if data.nbytes else memoryview(b"")
        while data:
            self._wait(self._ask.fileno(), selectors.EVENT_WRITE, deadline)
            try:
                data = data[os.write(self._ask.fileno(), data[: 1 << 20]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def _read(self, size: int, deadline: float) -> bytearray:
        data = bytearray()
        while len(data) < size:
            self._wait(self._answer, selectors.EVENT_READ, deadline)
            try:
                part = os.read(self._answer, min(size - len(data), 1 << 20))
            except BlockingIOError:
                continue
            if not part:
                raise self._ended()
            data += part
        return data

    def _wait(self, number: int, event: int, deadline: float) -> None:
        """Until the pipe is ready; takes what the worker prints meanwhile."""
        with selectors.DefaultSelector() as ready:
            ready.register(number, event)
            if self._out is not None:
                ready.register(self._out, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise WorkerEnded("time", "it did not end in time")
                found = {key.fd for key, _ in ready.select(left)}
                if self._out is not None and self._out.fileno() in found and not self._take_printed():
                    ready.unregister(self._out)
                    self._out = None
                if number in found:
                    return

    def _take_printed(self) -> bool:
        """Whether more may come. Errors: WorkerEnded, it printed too much."""
        part = os.read(self._out.fileno(), 1 << 16)  # type: ignore[union-attr]
        self._count += len(part)
        self.printed += part[: max(_KEPT - len(self.printed), 0)]
        if self._count > MOST_PRINTED:
            raise WorkerEnded("output", f"it printed more than {MOST_PRINTED >> 20} MB")
        return bool(part)

    def _ended(self) -> WorkerEnded:
        """How the process ended by itself."""
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return WorkerEnded("exit", "it closed the pipe to the judge")
        if code < 0:
            name = signal.Signals(-code).name
            return WorkerEnded("crash", f"the process ended with {name}")
        return WorkerEnded("exit", f"the process ended with exit code {code}")

    def kill(self) -> None:
        """Ends the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        self.kill()
        with contextlib.suppress(OSError):
            self._ask.close()
        os.close(self._answer)
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
