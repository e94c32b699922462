"""Workers on the machines of a Ray cluster; the same Pool as processes of one machine.

Here:      RayPool.
Not here:  what a worker does (work.py; of the judge, judge/work_items.py).
Ray is imported here only, and is an optional dependency (tiletwin[cluster]).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from tiletwin.fuzz.pools import Loss, ProcessPool, Work


class NoCluster(RuntimeError):
    """Ray is not installed, or no cluster answers."""


class _Actor:
    """One worker, in a process that Ray places somewhere."""

    def __init__(self, make: Callable[[], Work]) -> None:
        self.worker = make()

    def where(self) -> str:
        import os

        return f"{os.uname().nodename}:{os.getpid()}"

    def node(self) -> str:
        """The machine, as Ray numbers them."""
        import ray

        return ray.get_runtime_context().get_node_id()

    def run(self, task: Any) -> dict[str, Any]:
        return {**self.worker.run(task), "worker": self.where()}

    def close(self) -> None:
        self.worker.close()


class RayPool:
    """make: makes what an actor has (pickled). address: of a cluster, as ray.init takes it. jobs: actors of one core
    each; 0: one for each core.

    A lost actor is replaced, on whichever machine has room then. Errors: NoCluster.
    """

    def __init__(self, make: Callable[[], Work], jobs: int, timeout: float, address: str) -> None:
        try:
            import ray
        except ImportError:
            raise NoCluster("Ray is not installed: pip install 'tiletwin[cluster]'") from None
        self.ray, self.make, self.timeout = ray, make, timeout
        self._owns_ray = not ray.is_initialized()
        if self._owns_ray:
            try:
                ray.init(address=address, log_to_driver=False, configure_logging=False)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise NoCluster(f"no Ray cluster at {address}: {error}") from None
        cores = int(ray.cluster_resources().get("CPU", 1))
        # Restarting is ours, so that the task that was lost is known.
        self.kind = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Actor)
        self.actors = [self.kind.remote(make) for _ in range(jobs or cores)]
        self.out: dict[Any, tuple[int, Any, float]] = {}
        """By reference: number of the actor, task, since when."""
        self.died = 0

    @property
    def busy(self) -> int:
        return len(self.out)

    def start(self, task: Any) -> bool:
        taken = {number for number, _, _ in self.out.values()}
        for number, actor in enumerate(self.actors):
            if number not in taken:
                self.out[actor.run.remote(task)] = number, task, time.monotonic()
                return True
        return False

    def results(self, seconds: float) -> Iterator[dict[str, Any] | Loss]:
        if not self.out:
            return
        ready, _ = self.ray.wait(list(self.out), num_returns=len(self.out), timeout=0)
        if not ready:
            ready, _ = self.ray.wait(list(self.out), num_returns=1, timeout=seconds)
        for reference in ready:
            number, task, _ = self.out.pop(reference)
            try:
                record = self.ray.get(reference)
            except self.ray.exceptions.RayError as error:
                self.died += 1
                if self.died >= ProcessPool.MOST_STARTS * len(self.actors):
                    raise RuntimeError(f"workers die one after the other, and none has a result: {error}") from None
                self._replace(number)
                yield Loss(task, "died", type(error).__name__)
                continue
            self.died = 0
            yield record
        for reference, (number, task, since) in list(self.out.items()):
            if time.monotonic() - since > self.timeout:
                del self.out[reference]
                self._replace(number)
                yield Loss(task, "hangs", f"no result in {self.timeout:g} s")

    def _replace(self, number: int) -> None:
        with contextlib.suppress(self.ray.exceptions.RayError):
            self.ray.kill(self.actors[number])
        self.actors[number] = self.kind.remote(self.make)

    def close(self) -> None:
        """Those that have nothing to do put away what they made; the others are ended as they are."""
        taken = {number for number, _, _ in self.out.values()}
        closing = [actor.close.remote() for number, actor in enumerate(self.actors) if number not in taken]
        if closing:
            self.ray.wait(closing, num_returns=len(closing), timeout=10)
        for actor in self.actors:
            with contextlib.suppress(self.ray.exceptions.RayError):
                self.ray.kill(actor)
        if self._owns_ray:
            self.ray.shutdown()
