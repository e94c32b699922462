"""Campaigns on a Ray cluster: two nodes on this machine, one of which dies, and a worker that dies."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiletwin.fuzz.campaign import Campaign, Limits, pool_of
from tiletwin.fuzz.results import Results
from tiletwin.fuzz.work import Settings

pytestmark = pytest.mark.slow
HERE = Path(__file__).resolve().parent


def patiently(start: Callable[[], Any], tries: int = 5) -> Any:
    """Ray gives a node 30 s to start, which a busy machine may not keep."""
    for left in reversed(range(tries)):
        try:
            return start()
        except Exception as error:
            if not left or "timed out" not in str(error):
                raise


def _add_node(cluster: Any) -> None:
    patiently(lambda: cluster.add_node(num_cpus=1))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator:
    """Two nodes of one core each, as processes that talk over the loopback device."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster

    # Ray puts a print and a debugger of its own into this process.
    monkeypatch.setattr(builtins, "print", print)
    monkeypatch.setenv("PYTHONBREAKPOINT", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("BAD_JUDGE", getattr(request, "param", ""))  # nodes hand their environment to workers
    head = {"num_cpus": 1, "include_dashboard": False}
    made = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
    _add_node(made)
    try:
        made.wait_for_nodes(120)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def campaign(address: str, settings: Settings, count: int, while_running=lambda pool, done: None) -> Results:
    results = Results()
    pool = pool_of(settings, 2, 120, address)
    try:
        for done, _ in enumerate(Campaign(settings, results, None, 0, Limits(programs=count)).run(pool)):
            while_running(pool, done)
    finally:
        pool.close()
    return results


def test_two_nodes_share_the_work_and_a_lost_one_loses_nothing(cluster) -> None:
    nodes: set[str] = set()

    def look(pool, done: int) -> None:
        if done == 3:
            nodes.update(pool.ray.get([actor.node.remote() for actor in pool.actors]))
            cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)
            _add_node(cluster)

    results = campaign(cluster.address, Settings(("interp",), shrink_seconds=0), 12, look)
    assert results.programs == 12 and len(nodes) == 2
    assert results.statuses["ran"] + results.statuses["died"] == 12
    assert results.statuses["ran"] >= 10, results.statuses


@pytest.mark.parametrize("cluster", ["dies at 3"], indirect=True)
def test_a_worker_that_dies_is_a_finding(cluster) -> None:
    settings = Settings(("interp", "bad"), shrink_seconds=0, judge_modules=("bad_judges",))
    results = campaign(cluster.address, settings, 6)
    assert results.programs == 6 and results.statuses["died"] == 1
    (kept,) = results.findings.values()
    assert (kept.kind, kept.seed) == ("died", 3) and "def kernel(" in kept.text
