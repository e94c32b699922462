"""Workers in processes of this machine: seeds out, records back, nothing lost when one dies.

Here:      Pool, what a campaign asks of workers; LocalPool.
Not here:  workers on other machines (ray_pool.py), what a worker does (work.py).
Invariant: every seed that was handed out comes back once: as a record, or as a loss with the reason.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tiletwin.fuzz.work import Settings, Worker


@dataclass(frozen=True)
class Loss:
    """A seed whose worker ended or took too long. kind: "died" or "hangs"."""

    seed: int
    kind: str
    reason: str


class Pool(Protocol):
    """Workers of a campaign."""

    def start(self, seed: int) -> bool:
        """Hands a seed to a worker that is free; False: none is."""
        ...

    def results(self, seconds: float) -> Iterator[dict[str, Any] | Loss]:
        """What has come back, after waiting no longer than that for the first."""
        ...

    @property
    def busy(self) -> int:
        """Seeds that are out."""
        ...

    def close(self) -> None: ...


def _serve(connection: Any, settings: Settings) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the leader's to hear
    worker = Worker(settings)
    connection.send("ready")
    try:
        while (seed := connection.recv()) is not None:
            connection.send(worker.run(seed))
    except (EOFError, BrokenPipeError):  # the leader has gone
        pass
    finally:
        worker.close()


class _Process:
    def __init__(self, settings: Settings) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, settings), daemon=True)
        self.process.start()
        other.close()
        self.is_ready = False
        self.seed: int | None = None
        self.since = time.monotonic()

    def stop(self) -> None:
        """Ends the process at once."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def ended(self) -> str:
        """How it ended, for people."""
        self.process.join(5)
        code = self.process.exitcode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return signal.Signals(-code).name
        return f"exit code {code}"


class LocalPool:
    """jobs: processes. timeout: seconds for one program; its worker is ended and another one started."""

    _START_SECONDS = 120
    MOST_STARTS = 3
    """Starts that fail one after the other, until the campaign ends."""

    def __init__(self, settings: Settings, jobs: int, timeout: float) -> None:
        self.folder = tempfile.mkdtemp(prefix="tiletwin-fuzz-")  # here, since a worker that is killed removes nothing
        self.settings, self.timeout = replace(settings, folder=self.folder), timeout
        self.workers = [_Process(self.settings) for _ in range(jobs)]
        self.failed_starts = 0

    @property
    def busy(self) -> int:
        return sum(worker.seed is not None for worker in self.workers)

    def start(self, seed: int) -> bool:
        for worker in self.workers:
            if worker.is_ready and worker.seed is None:
                worker.seed, worker.since = seed, time.monotonic()
                try:
                    worker.connection.send(seed)
                except OSError:  # it died idle; results() sees that
                    continue
                return True
        return False

    def results(self, seconds: float) -> Iterator[dict[str, Any] | Loss]:
        connections = [worker.connection for worker in self.workers]
        ready = multiprocessing.connection.wait(connections, seconds)
        for number, worker in enumerate(self.workers):
            if worker.connection in ready:
                try:
                    told = worker.connection.recv()
                except (EOFError, OSError):
                    yield from self._lost(number, "died", worker.ended())
                    continue
                if told == "ready":
                    worker.is_ready, worker.since = True, time.monotonic()
                    self.failed_starts = 0
                    continue
                worker.seed = None
                yield {**told, "worker": f"{os.uname().nodename}:{worker.process.pid}"}
            elif worker.seed is not None and time.monotonic() - worker.since > self.timeout:
                yield from self._lost(number, "hangs", f"no result in {self.timeout:g} s")
            elif not worker.is_ready and time.monotonic() - worker.since > self._START_SECONDS:
                yield from self._lost(number, "hangs", "it does not start")

    def _lost(self, number: int, kind: str, reason: str) -> Iterator[Loss]:
        worker = self.workers[number]
        worker.stop()
        if not worker.is_ready:
            self.failed_starts += 1
            if self.failed_starts >= self.MOST_STARTS:
                raise RuntimeError(f"workers do not start: {reason}")
        self.workers[number] = _Process(self.settings)
        if worker.seed is not None:
            yield Loss(worker.seed, kind, reason)

    def close(self) -> None:
        for worker in self.workers:
            if worker.seed is None and worker.is_ready:
                with contextlib.suppress(OSError):
                    worker.connection.send(None)
        for worker in self.workers:
            if worker.seed is None and worker.is_ready:
                worker.process.join(10)
            worker.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
