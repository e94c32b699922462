"""Workers on the machines of a Ray cluster; the same Pool as processes of one machine.

Here:      RayPool.
Not here:  what a worker does (work.py).
Ray is imported here only, and is an optional dependency (tiletwin[cluster]).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from tiletwin.fuzz.pools import LocalPool, Loss
from tiletwin.fuzz.work import Settings, Worker


class NoCluster(RuntimeError):
    """Ray is not installed, or no cluster answers."""


class _Actor:
    """One worker, in a process that Ray places somewhere."""

    def __init__(self, settings: Settings) -> None:
        self.worker = Worker(settings)

    def where(self) -> str:
        import os

        return f"{os.uname().nodename}:{os.getpid()}"

    def node(self) -> str:
        """The machine, as Ray numbers them."""
        import ray

        return ray.get_runtime_context().get_node_id()

    def run(self, seed: int) -> dict[str, Any]:
        return {**self.worker.run(seed), "worker": self.where()}


class RayPool:
    """address: of a cluster, as ray.init takes it. jobs: actors of one core each; 0: one for each core.

    A lost actor is replaced, on whichever machine has room then. Errors: NoCluster.
    """

    def __init__(self, settings: Settings, jobs: int, timeout: float, address: str) -> None:
        try:
            import ray
        except ImportError:
            raise NoCluster("Ray is not installed: pip install 'tiletwin[cluster]'") from None
        self.ray, self.settings, self.timeout = ray, settings, timeout
        self._owns_ray = not ray.is_initialized()
        if self._owns_ray:
            try:
                ray.init(address=address, log_to_driver=False, configure_logging=False)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise NoCluster(f"no Ray cluster at {address}: {error}") from None
        cores = int(ray.cluster_resources().get("CPU", 1))
        # Restarting is ours, so that the seed that was lost is known.
        self.kind = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Actor)
        self.actors = [self.kind.remote(settings) for _ in range(jobs or cores)]
        self.out: dict[Any, tuple[int, int, float]] = {}
        """By reference: number of the actor, seed, since when."""
        self.died = 0

    @property
    def busy(self) -> int:
        return len(self.out)

    def start(self, seed: int) -> bool:
        taken = {number for number, _, _ in self.out.values()}
        for number, actor in enumerate(self.actors):
            if number not in taken:
                self.out[actor.run.remote(seed)] = number, seed, time.monotonic()
                return True
        return False

    def results(self, seconds: float) -> Iterator[dict[str, Any] | Loss]:
        if not self.out:
            return
        ready, _ = self.ray.wait(list(self.out), num_returns=len(self.out), timeout=0)
        if not ready:
            ready, _ = self.ray.wait(list(self.out), num_returns=1, timeout=seconds)
        for reference in ready:
            number, seed, _ = self.out.pop(reference)
            try:
                record = self.ray.get(reference)
            except self.ray.exceptions.RayError as error:
                self.died += 1
                if self.died >= LocalPool.MOST_STARTS * len(self.actors):
                    raise RuntimeError(f"workers die one after the other, and none has a result: {error}") from None
                self._replace(number)
                yield Loss(seed, "died", type(error).__name__)
                continue
            self.died = 0
            yield record
        for reference, (number, seed, since) in list(self.out.items()):
            if time.monotonic() - since > self.timeout:
                del self.out[reference]
                self._replace(number)
                yield Loss(seed, "hangs", f"no result in {self.timeout:g} s")

    def _replace(self, number: int) -> None:
        with contextlib.suppress(self.ray.exceptions.RayError):
            self.ray.kill(self.actors[number])
        self.actors[number] = self.kind.remote(self.settings)

    def close(self) -> None:
        for actor in self.actors:
            with contextlib.suppress(self.ray.exceptions.RayError):
                self.ray.kill(actor)
        if self._owns_ray:
            self.ray.shutdown()
