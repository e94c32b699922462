"""PyTorch's CPU build and real Triton in `tiletwin gpu`: a test is a function of torch_clients.py or triton_corpus."""

from __future__ import annotations

import sys
from pathlib import Path

import children
import pytest
from tiletwin.diff import triton_process

FILE = Path(__file__).with_name("torch_clients.py")


def run(name: str, *options: str, python: str = sys.executable, **values: str):
    paths = {"PYTHONPATH": children.environment(FILE.parent)["PYTHONPATH"]}
    return children.run("-m", "tiletwin", "gpu", *options, "--", python, str(FILE), name, **paths, **values)


@pytest.mark.parametrize("name", ["tensors", "streams"])
def test_pytorch(name):
    ran = run(name)
    assert ran.returncode == 0, ran.stderr


def test_pytorch_says_what_the_driver_says():
    assert run("numbers", "--count", "2").stdout == "2 (9, 0) 132\n"
    assert run("numbers", "--arch", "sm_80").stdout == "1 (8, 0) 108\n"


@pytest.fixture
def triton(tmp_path) -> dict[str, str]:
    python = triton_process.python()
    if python is None:
        pytest.skip("real Triton is not installed; TILETWIN_TRITON names a Python that has it")
    return {"python": str(python), "TRITON_CACHE_DIR": str(tmp_path)}


def test_triton(triton):
    ran = run("add", **triton)
    assert ran.returncode == 0 and "added" in ran.stdout, ran.stderr
    assert "cpu tensor?" in ran.stdout
    assert "autotuning runs each configuration once" in ran.stderr


def test_triton_reads_behind_a_tensor(triton):
    ran = run("behind_the_end", **triton)
    assert ran.returncode == 1
    assert "triton_kernels.py:10" in ran.stderr and "registered host memory" in ran.stderr
    assert "an illegal memory access was encountered" in ran.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_triton_gives_the_bits_of_an_h200(triton):
    python = triton.pop("python")
    corpus = FILE.with_name("triton_corpus.py")
    ran = children.run("-m", "tiletwin", "gpu", "--", python, corpus, timeout=800, **triton)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(": same\n") > 300
