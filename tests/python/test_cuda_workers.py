"""Tensors on the emulated device go to other processes, and process groups of NCCL are served."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from process import HERE, run_python

pytest.importorskip("torch")
FILE = str(Path(HERE) / "cuda_workers.py")


def free_port() -> str:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return str(server.getsockname()[1])


@pytest.mark.parametrize("method", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_a_tensor_is_in_the_worker_where_it_was(method: str) -> None:
    done = run_python(FILE, method, startup=True, TILETWIN_INTERPRET="1", TILETWIN_CUDA_DEVICES="2")
    assert done.returncode == 0, done.stderr
    found, twice, host, tensor = json.loads(done.stdout)
    assert found == ["cuda", 1, True, "Parameter", 3.0] and (twice, host) == ("cuda:1", "cpu")
    assert tensor == [1 if method == "fork" else 2] * 3  # what was handed over is shared, what was inherited is not


@pytest.mark.parametrize("world", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nccl_is_served_by_gloo(world: int) -> None:
    done = run_python(
        FILE, "nccl", str(world), free_port(), startup=True, TILETWIN_INTERPRET="1", TILETWIN_CUDA_DEVICES=str(world)
    )
    assert done.returncode == 0, done.stderr
    total, mean, ranks, devices, backend = json.loads(done.stdout)
    assert total == [sum(range(1, world + 1))] * 3 and mean == [(world - 1) / 2] * 2
    assert ranks == list(range(world)) and devices == ["cuda:0"] and backend == "gloo"
    assert done.stderr.count("process groups of backend 'nccl' are served by gloo") == world
