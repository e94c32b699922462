"""What Prometheus reads of the service.

Not here:  when it is counted (app.py).
"""

from __future__ import annotations

import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

_SECONDS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60, 120, 600)


class Metrics:
    """One service's, with a registry of its own."""

    def __init__(self) -> None:
        made = self.registry = CollectorRegistry()
        ProcessCollector(registry=made)
        self.requests = Counter("tiletwin_requests", "Answers.", ["method", "route", "status"], registry=made)
        self.verdicts = Counter("tiletwin_verdicts", "Verdicts.", ["verdict"], registry=made)
        self.waited = Histogram(
            "tiletwin_wait_seconds", "From a job's arrival to its start.", buckets=_SECONDS, registry=made
        )
        self.judged = Histogram("tiletwin_judge_seconds", "Of one verdict.", buckets=_SECONDS, registry=made)
        self.queued = Gauge("tiletwin_queued", "Jobs that wait.", registry=made)
        self.running = Gauge("tiletwin_running", "Jobs that are judged now.", registry=made)

    def count(self, job: Any) -> None:
        """A job that is done."""
        verdict = job.answer.result()
        self.verdicts.labels(verdict["verdict"]).inc()
        self.waited.observe((job.began or time.monotonic()) - job.made)
        self.judged.observe(verdict["seconds"])

    def text(self, queued: int, running: int) -> bytes:
        self.queued.set(queued)
        self.running.set(running)
        return generate_latest(self.registry)
