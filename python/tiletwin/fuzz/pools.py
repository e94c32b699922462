"""Workers in processes of this machine: tasks out, records back, nothing lost when one dies.

Here:      Pool, what who leads asks of workers; ProcessPool; LocalPool, of a campaign, whose tasks are seeds.
Not here:  workers on other machines (ray_pool.py), what a worker does (work.py; of the judge, judge/work_items.py).
Invariant: every task that was handed out comes back once: as a record, or as a loss with the reason. Workers end when
           their leader does, however that ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from tiletwin.fuzz.work import Settings, Worker


@dataclass(frozen=True)
class Loss:
    """A task whose worker ended or took too long. kind: "died" or "hangs"."""

    task: Any
    kind: str
    reason: str


class Work(Protocol):
    """What runs tasks, one after the other, in a process of its own. Tasks and records are plain data."""

    def run(self, task: Any, /) -> dict[str, Any]: ...

    def close(self) -> None: ...


class Pool(Protocol):
    """Workers of a campaign, or of many verdicts."""

    def start(self, task: Any) -> bool:
        """Hands a task to a worker that is free; False: none is."""
        ...

    def results(self, seconds: float) -> Iterator[dict[str, Any] | Loss]:
        """What has come back, after waiting no longer than that for the first."""
        ...

    @property
    def busy(self) -> int:
        """Tasks that are out."""
        ...

    def close(self) -> None: ...


def _end_with_leader() -> None:
    leader = multiprocessing.parent_process()
    if leader is not None:
        multiprocessing.connection.wait([leader.sentinel])
        os._exit(1)


def _serve(connection: Any, make: Callable[[], Work]) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the leader's to hear
    threading.Thread(target=_end_with_leader, daemon=True).start()
    worker = make()
    connection.send("ready")
    try:
        while (task := connection.recv()) is not None:
            connection.send(worker.run(task))
    except (EOFError, BrokenPipeError):  # the leader has gone
        pass
    finally:
        worker.close()


class _Process:
    def __init__(self, make: Callable[[], Work]) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, make), daemon=True)
        self.process.start()
        other.close()
        self.is_ready = False
        self.task: Any = None
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


class ProcessPool:
    """make: makes what a process has (pickled). jobs: processes. timeout: seconds for one task; its worker is ended and
    another one started."""

    _START_SECONDS = 120
    MOST_STARTS = 3
    """Starts that fail one after the other, until the pool gives up."""

    def __init__(self, make: Callable[[], Work], jobs: int, timeout: float) -> None:
        self.make, self.timeout = make, timeout
        self.workers = [_Process(make) for _ in range(jobs)]
        self.failed_starts = 0

    @property
    def busy(self) -> int:
        return sum(worker.task is not None for worker in self.workers)

    def start(self, task: Any) -> bool:
        for worker in self.workers:
            if worker.is_ready and worker.task is None:
                worker.task, worker.since = task, time.monotonic()
                try:
                    worker.connection.send(task)
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
                worker.task = None
                yield {**told, "worker": f"{os.uname().nodename}:{worker.process.pid}"}
            elif worker.task is not None and time.monotonic() - worker.since > self.timeout:
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
        self.workers[number] = _Process(self.make)
        if worker.task is not None:
            yield Loss(worker.task, kind, reason)

    def close(self) -> None:
        for worker in self.workers:
            if worker.task is None and worker.is_ready:
                with contextlib.suppress(OSError):
                    worker.connection.send(None)
        for worker in self.workers:
            if worker.task is None and worker.is_ready:
                worker.process.join(10)
            worker.stop()


class LocalPool(ProcessPool):
    """Of a campaign. Attribute folder: where its workers keep files."""

    def __init__(self, settings: Settings, jobs: int, timeout: float) -> None:
        self.folder = tempfile.mkdtemp(prefix="tiletwin-fuzz-")  # here, since a worker that is killed removes nothing
        super().__init__(partial(Worker, replace(settings, folder=self.folder)), jobs, timeout)

    def close(self) -> None:
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)
