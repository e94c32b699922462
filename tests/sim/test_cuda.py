"""CUDA C++ programs, compiled to PTX by nvcc, give on the simulator what they gave on a GPU, bit for bit."""

from __future__ import annotations

import hashlib
import pathlib
import re

import pytest
import tiletwin.checks
import tiletwin.sim
from cuda_expected import problems
from cuda_programs import programs
from cuda_recorded import ARCHIVE, differences, outputs_of, recording, run, text_of

LIMIT = 200_000_000
"""Instructions of warps: a program that does not end is a failure, no hang."""


@pytest.mark.parametrize("name", list(programs()))
def test_gives_what_the_gpu_gave(name):
    if name not in recording()["programs"]:
        pytest.fail(f"{name} is not in {ARCHIVE.name}: record it by tools/record_cuda.py")
    memory, printed, _ = run(name, limit=LIMIT)
    assert differences(name, memory) == []
    assert printed == recording()["programs"][name]["printed"]


@pytest.mark.parametrize("name", list(programs()))
def test_no_check_reports_anything(name):
    tiletwin.checks.clear()
    run(name, limit=LIMIT, checks=tiletwin.sim.CHECKS)
    found = [str(finding) for finding in tiletwin.checks.findings()]
    tiletwin.checks.clear()
    assert not found


@pytest.mark.parametrize("name", list(programs()))
def test_recording_is_what_numpy_says(name):
    assert problems(programs()[name], outputs_of(name)) == []


def test_sources_are_those_recorded():
    folder = pathlib.Path(__file__).parent / "cuda"
    recorded = {row["source"]: row["sha256"] for row in recording()["programs"].values()}
    now = {source: hashlib.sha256((folder / f"{source}.cu").read_bytes()).hexdigest() for source in recorded}
    assert recorded == now, "record again"


def test_programs_use_what_they_are_there_for():
    """A compiler that inlines the recursion away, say, would leave a test without its point."""
    wanted = {
        "recursion": r"call\.uni", "virtuals": r"\.callprototype", "machine": r"ld\.const", "prints": "vprintf",
        "wmma": r"wmma\.mma", "mma": "ldmatrix", "bulk": r"cp\.async\.bulk", "tensormap": r"cp\.async\.bulk\.tensor",
        "cluster": "mapa", "histogram": r"match\.any", "integers": "dp4a", "bitonic": r"\.extern \.shared",
    }  # fmt: skip
    sources = {row["source"] for row in recording()["programs"].values()}
    missing = [s for s, pattern in wanted.items() if s in sources and not re.search(pattern, text_of(s))]
    assert not missing
