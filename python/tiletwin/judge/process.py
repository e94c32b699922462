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

from tiletwin import variables
from tiletwin.judge import frames
from tiletwin.judge.sandbox import USUAL, Limits
from tiletwin.judge.starter import Starter

MOST_PRINTED = 1 << 20
"""Bytes that a worker may print; more ends it."""
MOST_ANSWERED = 1 << 30
"""Bytes of one answer."""
_KEPT = 4000
"""Bytes of what a worker prints that reports show."""
_PASSED = ("PATH", "LANG", "LC_ALL", "TILETWIN_LIBRARIES", "LD_LIBRARY_PATH", "PYTHONPATH")


class WorkerEnded(Exception):
    """The worker ended, or was ended. `why`: "time", "output", "memory", "message", "crash" or "exit"."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(text)
        self.why = why


class Worker:
    """A process in a sandbox. Attributes: printed, the first bytes of what it has printed."""

    def __init__(
        self, limits: Limits = USUAL, module: str = "tiletwin.judge.worker", starter: Starter | None = None
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tiletwin-judge-"))
        self.printed = bytearray()
        self._count = 0
        self._status: int | None = None
        ask_read, ask_write = os.pipe()
        answer_read, answer_write = os.pipe()
        out_read, out_write = os.pipe()
        numbers = list(map(str, (limits.memory, limits.disk, limits.processor)))
        self._starter = starter
        if starter is not None:
            self._number = starter.start(module, [str(self.folder), *numbers], (ask_read, answer_write, out_write))
        else:
            words = [sys.executable, "-s", "-m", module, str(self.folder), str(ask_read), str(answer_write), *numbers]
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out_write, stderr=out_write,
                pass_fds=(ask_read, answer_write), env=environment(str(self.folder)), start_new_session=True,
            )  # fmt: skip
            self._number = self._process.pid
        for number in (ask_read, answer_write, out_write):
            os.close(number)
        self._ask, self._answer, self._out = ask_write, answer_read, out_read
        self._may_print = True
        for number in (self._answer, self._out, self._ask):
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
            self._wait(self._ask, selectors.EVENT_WRITE, deadline)
            try:
                data = data[os.write(self._ask, data[: 1 << 20]) :]
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
            if self._may_print:
                ready.register(self._out, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise WorkerEnded("time", "it did not end in time")
                found = {key.fd for key, _ in ready.select(left)}
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
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and _runs(self._number):
            time.sleep(0.01)
        if _runs(self._number):
            return WorkerEnded("exit", "it closed the pipe to the judge")
        status = self._wait_for_end()
        if os.WIFSIGNALED(status):
            return WorkerEnded("crash", f"the process ended with {signal.Signals(os.WTERMSIG(status)).name}")
        return WorkerEnded("exit", f"the process ended with exit code {os.waitstatus_to_exitcode(status)}")

    def _wait_for_end(self) -> int:
        if self._status is None:
            if self._starter is not None:
                self._status = self._starter.wait(self._number)
            else:
                code = self._process.wait()
                self._status = -code if code < 0 else code << 8
        return self._status

    def kill(self) -> None:
        """Ends the process and everything that it started."""
        if self._status is None:
            for end, number in ((os.kill, self._number), (os.killpg, self._number)):
                with contextlib.suppress(ProcessLookupError):
                    end(number, signal.SIGKILL)
        self._wait_for_end()

    def close(self) -> None:
        self.kill()
        for number in (self._ask, self._answer, self._out):
            os.close(number)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _runs(number: int) -> bool:
    """Whether a process has not ended, waited for or not."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def environment(folder: str) -> dict[str, str]:
    """Of a process that runs submissions: nothing of this one's that it has no use for. folder: its own."""
    kept = {name: value for name in _PASSED if (value := variables.given(name)) is not None}
    return kept | {
        "TILETWIN_INTERPRET": "1", "TILETWIN_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "HOME": folder,
        "TMPDIR": folder, "TILETWIN_CACHE_DIR": folder, "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
