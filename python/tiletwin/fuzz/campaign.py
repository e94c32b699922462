"""Campaigns: seeds to workers, records to results, findings to files, progress on the terminal.

Here:      run().
Not here:  workers (pools.py, ray_pool.py), the database (results.py), the page (report.py).
Invariant: Ctrl-C, a dead worker and a program that hangs lose nothing that was found before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tiletwin import whole_files
from tiletwin.fuzz import findings, generator, judges
from tiletwin.fuzz.judging import Finding
from tiletwin.fuzz.pools import LocalPool, Loss, Pool
from tiletwin.fuzz.results import Kept, Results
from tiletwin.fuzz.work import Settings, Worker

_FLUSH_SECONDS = 2.0


@dataclass(frozen=True)
class Limits:
    """When a campaign ends: after so many programs or seconds, whichever comes first; 0: no limit."""

    programs: int = 0
    seconds: float = 0.0


def pool_of(settings: Settings, jobs: int, timeout: float, ray: str = "") -> Pool:
    """Errors: ray_pool.NoCluster."""
    if ray:
        from tiletwin.fuzz.ray_pool import RayPool

        return RayPool(partial(Worker, settings), jobs, timeout, ray)
    return LocalPool(settings, max(jobs, 1), timeout)


def lost_finding(loss: Loss, settings: Settings) -> Kept:
    """A worker's death as a finding, with its whole program: shrinking it would take a worker for every step."""
    program = generator.program(loss.task, settings.size, settings.only)
    finding = Finding("worker", loss.kind, loss.reason, f"the worker of seed {loss.task} {loss.kind}: {loss.reason}")
    text = findings.file_text(finding, program, judges.of_seed(settings.judges, loss.task))
    lines = findings.kernel_length(program)
    key = f"worker | {loss.kind} | {loss.reason} | seed {loss.task}"  # nobody knows yet which of them are the same
    return Kept(key, "worker", loss.kind, loss.reason, loss.task, lines, text, finding.message)


class Campaign:
    """seed: the first program's; each program has the next one."""

    def __init__(self, settings: Settings, results: Results, folder: Path | None, seed: int, limits: Limits) -> None:
        self.settings, self.results, self.folder = settings, results, folder
        self.first, self.limits = seed, limits
        self.handed = 0
        self.written: dict[str, str] = {}

    def run(self, pool: Pool) -> Iterator[dict[str, Any] | Loss]:
        """Until a limit is reached: what came back, one by one. The pool is closed by who made it."""
        end = time.monotonic() + self.limits.seconds if self.limits.seconds else None
        while True:
            over = end is not None and time.monotonic() > end
            while not over and (not self.limits.programs or self.handed < self.limits.programs):
                if not pool.start(self.first + self.handed):
                    break
                self.handed += 1
            if pool.busy == 0 and (over or (self.limits.programs and self.handed >= self.limits.programs)):
                return
            for item in pool.results(0.2):
                self.take(item)
                yield item

    def take(self, item: dict[str, Any] | Loss) -> None:
        if isinstance(item, Loss):
            kept = lost_finding(item, self.settings)
            empty = {"verdicts": [], "form": [], "operation": [], "findings": [vars(kept)]}
            self.results.add({"seed": item.task, "status": item.kind, "seconds": 0.0, **empty})
        else:
            self.results.add(item)
        self.write_findings()
        if time.time() - self.results.flushed > max(_FLUSH_SECONDS, 20 * self.results.flush_seconds):  # a busy disk
            self.results.flush()

    def write_findings(self) -> None:
        """Every finding whose text is new: the first one, or a smaller one."""
        if self.folder is None:
            return
        for key, kept in self.results.findings.items():
            if kept.text and self.written.get(key) != kept.text:
                whole_files.write(self.folder / findings.file_name(key), kept.text)
                self.written[key] = kept.text
