"""The queue of the service: jobs of clients, each client in its turn, and the thread that hands them to workers.

Here:      Desk, Job, what is full.
Not here:  HTTP (app.py), one verdict (work_items.py), workers (fuzz/pools.py).
Invariant: each job ends: with a verdict, or with the reason why there is none. What is kept is bounded: waiting jobs,
           of all and of each client, and finished ones, of which the oldest are forgotten.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tiletwin.fuzz.pools import Loss, Pool
from tiletwin.judge.many import lost, renamed
from tiletwin.judge.verdicts import NOT_JUDGED
from tiletwin.judge.work_items import Item

_LOOK_SECONDS = 0.05
"""Between looks for new jobs while workers are busy."""


class Full(Exception):
    """No more jobs are taken. of_client: of this client's."""

    def __init__(self, text: str, of_client: bool) -> None:
        super().__init__(text)
        self.of_client = of_client


@dataclass
class Job:
    """answer: the verdict. began: when a worker got it, on the clock of time.monotonic; 0: it waits."""

    client: str
    item: Item
    key: str
    answer: Future[dict[str, Any]] = field(default_factory=Future)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    made: float = field(default_factory=time.monotonic)
    began: float = 0.0

    @property
    def state(self) -> str:
        return "done" if self.answer.done() else "running" if self.began else "queued"


class Desk:
    """make_pool: called in the desk's thread. most: waiting jobs of all; most_of_client: jobs of one client that are
    not done; kept: finished jobs and verdicts. on_verdict: called with each job that is done. Any thread may ask."""

    def __init__(
        self, make_pool: Callable[[], Pool], *, most: int, most_of_client: int, kept: int,
        on_verdict: Callable[[Job], None],
    ) -> None:  # fmt: skip
        self.most, self.most_of_client, self.kept = most, most_of_client, kept
        self.problem = ""
        """Why nothing is judged any more; empty: all is well."""
        self._make_pool, self._on_verdict = make_pool, on_verdict
        self._lock = threading.Lock()  # of all below
        self._wake = threading.Event()
        self._is_closing = False
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._open: dict[str, list[Job]] = {}
        """Jobs that are not done, by the key of what is judged: the same thing is judged once."""
        self._waiting: OrderedDict[str, deque[str]] = OrderedDict()
        """Keys, by client; the client whose turn it is stands first."""
        self._verdicts: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._thread = threading.Thread(target=self._work, name="desk", daemon=True)
        self._thread.start()

    # ---- for clients ----

    def submit(self, client: str, item: Item) -> Job:
        """Errors: Full."""
        job = Job(client, item, item.key)
        with self._lock:
            if self.problem:
                raise Full(self.problem, False)
            if sum(map(len, self._waiting.values())) >= self.most:
                raise Full(f"{self.most} jobs are waiting; try again later", False)
            own = sum(one.client == client for jobs in self._open.values() for one in jobs)
            if own >= self.most_of_client:
                raise Full(f"{own} jobs of this client are not done; wait for one of them", True)
            self._jobs[job.id] = job
            known = self._verdicts.get(job.key)
            if known is None and job.key not in self._open:
                self._waiting.setdefault(client, deque()).append(job.key)
            if known is None:
                self._open.setdefault(job.key, []).append(job)
        if known is not None:
            self._finish(job, known)
        self._wake.set()
        return job

    def job(self, client: str, number: str) -> Job | None:
        """One of the client's jobs."""
        with self._lock:
            found = self._jobs.get(number)
        return found if found is not None and found.client == client else None

    def forget(self, job: Job) -> None:
        """Its answer is not wanted any more. What waits is not judged; what is being judged is judged to its end."""
        with self._lock:
            self._jobs.pop(job.id, None)
            jobs = self._open.get(job.key, [])
            if job in jobs:
                jobs.remove(job)
                if not jobs and not job.began:
                    del self._open[job.key]
                    for keys in self._waiting.values():
                        with contextlib.suppress(ValueError):
                            keys.remove(job.key)
        job.answer.cancel()

    def counts(self) -> tuple[int, int]:
        """Things that wait, and that are judged now."""
        with self._lock:
            waiting = sum(map(len, self._waiting.values()))
            return waiting, len(self._open) - waiting

    def close(self) -> None:
        """Ends the workers. Jobs that are not done end without a verdict."""
        self._is_closing = True
        self._wake.set()
        self._thread.join()

    # ---- the thread ----

    def _work(self) -> None:
        pool: Pool | None = None
        try:
            pool = self._make_pool()
            while not self._is_closing:
                self._hand_out(pool)
                if not pool.busy and not self._waiting:
                    self._wake.wait(1.0)
                self._wake.clear()
                for said in pool.results(_LOOK_SECONDS):
                    self._take(said)
        except (RuntimeError, OSError) as error:  # workers that do not start, no memory
            self.problem = f"nothing can be judged: {error}"
        finally:
            if pool is not None:
                pool.close()
            with self._lock:
                self.problem = self.problem or "the service ends"
                left = [job for jobs in self._open.values() for job in jobs]
                self._open.clear()
                self._waiting.clear()
            for job in left:
                job.answer.cancel()

    def _hand_out(self, pool: Pool) -> None:
        """As many as workers take, one of each client in turn."""
        with self._lock:
            while self._waiting:
                client, keys = next(iter(self._waiting.items()))
                if keys:
                    jobs = self._open[keys[0]]
                    if not pool.start(msgspec.to_builtins(jobs[0].item)):
                        return
                    keys.popleft()
                    for job in jobs:
                        job.began = time.monotonic()
                self._waiting.move_to_end(client)
                if not keys:
                    del self._waiting[client]

    def _take(self, said: dict[str, Any] | Loss) -> None:
        if isinstance(said, Loss):
            item = msgspec.convert(said.task, Item)
            key, verdict = item.key, lost(item, said)
        else:
            key, verdict = said["key"], said["verdict"]
        with self._lock:
            jobs = self._open.pop(key, [])
            if verdict["verdict"] != NOT_JUDGED:
                self._verdicts[key] = verdict
            while len(self._verdicts) > self.kept:
                self._verdicts.popitem(last=False)
        for job in jobs:
            self._finish(job, verdict)

    def _finish(self, job: Job, verdict: dict[str, Any]) -> None:
        try:
            job.answer.set_result(renamed(verdict, job.item))
        except InvalidStateError:  # it has just been forgotten
            return
        self._on_verdict(job)
        with self._lock:
            done = [number for number, one in self._jobs.items() if one.answer.done()]
            for number in done[: max(len(done) - self.kept, 0)]:
                del self._jobs[number]
