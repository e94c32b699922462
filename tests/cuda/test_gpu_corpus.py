"""The PTX that Triton made of 400 kernels gives through `tiletwin.cuda` what an H200 gave for it, bit for bit.

Here:      every recorded case of both architectures, assembled by ptxas; some by the driver's own compiler.
Not here:  the cases and their data (tests/sim/ptx_cases.py), the same on the simulator (tests/sim/test_ptx_corpus.py).
"""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sim"))

import ptx_cases
from tiletwin import cuda

pytestmark = pytest.mark.gpu
NEWEST_PTX = "9.0"
"""The texts say 9.4 and use nothing newer than this, which CUDA 13.0 takes."""
DRIVER_EVERY = 25
CASES = [(a, name) for a in ptx_cases.ARCHITECTURES for name in ptx_cases.recorded_names(a)]


def text_of(case: ptx_cases.Case) -> str:
    return re.sub(r"^\.version 9\.4", f".version {NEWEST_PTX}", case.text, count=1, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def assembled() -> dict[tuple[str, str], cuda.ptxas.Assembled]:
    """Every case, all cores at once."""
    capability = cuda.device_facts()["capability"]
    if capability != 90:
        pytest.skip(f"the texts for sm_90a and what is recorded are an H200's; this GPU is sm_{capability}")

    def assemble(key: tuple[str, str]) -> cuda.ptxas.Assembled:
        case = ptx_cases.all_cases(key[0])[key[1]]
        return cuda.ptxas.assemble(text_of(case), "sm_90a" if key[0] == "sm_90" else "sm_90", file=f"{case.name}.ptx")

    for architecture in ptx_cases.ARCHITECTURES:
        ptx_cases.all_cases(architecture)  # read once, before threads do
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(CASES, pool.map(assemble, CASES)))


def run(case: ptx_cases.Case, kernel: cuda.Kernel) -> dict[str, np.ndarray]:
    """Every pointer argument after a launch, flat."""
    meta, arrays = ptx_cases.inputs(case.name)
    memory: dict[str, np.ndarray] = {}
    values: list = []
    for parameter, name in zip(kernel.parameters, case.arguments, strict=False):
        kind = meta["types"][name]
        if name in meta["sizes"]:
            size = meta["sizes"][name]
            whole = np.zeros(max(size, ptx_cases.READS_PAST_THE_END.get(case.name, 0)), ptx_cases.element_type(kind))
            if name in arrays:
                whole[:size] = arrays[name].reshape(-1)
            memory[name] = whole[:size]
            values.append(whole)
        else:
            values.append(ptx_cases.scalar(meta["scalars"][name], kind, parameter))
    grid = (*meta["grid"], 1, 1)[:3]
    scratch = np.zeros(max(case.scratch, 1) * grid[0] * grid[1] * grid[2] + 256, np.uint8)
    values += [scratch[-scratch.ctypes.data % 128 :], 0][: len(kernel.parameters) - len(values)]
    kernel(*values, grid=grid, block=32 * case.warps, shared=case.shared)
    return memory


@pytest.mark.parametrize("architecture, name", CASES, ids=[f"{a}-{n}" for a, n in CASES])
def test_same_bits_as_an_h200(architecture, name, assembled, monkeypatch):
    made = assembled[architecture, name]
    monkeypatch.setattr(cuda.ptxas, "assemble", lambda *_, **__: made)
    case = ptx_cases.all_cases(architecture)[name]
    kernel = cuda.load(text_of(case), assembler="ptxas", file=f"{name}.ptx")[case.entry]
    assert kernel.report is not None and kernel.report.registers == kernel.attributes["registers"]
    assert not ptx_cases.differences(case, run(case, kernel))


SAMPLE = CASES[::DRIVER_EVERY]


@pytest.mark.parametrize("architecture, name", SAMPLE, ids=[f"{a}-{n}" for a, n in SAMPLE])
def test_same_bits_by_the_drivers_compiler(architecture, name):
    case = ptx_cases.all_cases(architecture)[name]
    kernel = cuda.load(text_of(case), assembler="driver", file=f"{name}.ptx")[case.entry]
    assert not ptx_cases.differences(case, run(case, kernel))
