"""Whether a process interprets: one rule, the same for the start of a process, for launches, timing and knobs.

Here:      every environment of tests/data/interprets.txt in Python.
Not here:  the same in C++ (tests/runtime/EnvironmentTest.cpp).
"""

from __future__ import annotations

import os
import pathlib
from typing import NamedTuple

import children
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from process import run_code
from tiletwin import _activate, gpu_timing, knobs
from tiletwin.drivers import gpu as gpu_driver
from tiletwin.launch import gpu_tuning

TABLE = pathlib.Path(__file__).resolve().parents[1] / "data" / "interprets.txt"


class Row(NamedTuple):
    place: str
    is_triton: bool
    variables: dict[str, str]


def rows() -> list[Row]:
    found = []
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            place, answers, variables = (part.strip() for part in line.split("|"))
            found.append(Row(place, answers == "triton", dict(word.split("=", 1) for word in variables.split())))
    return found


@triton.jit
def ones(o_ptr):
    tl.store(o_ptr + tl.arange(0, 4), 1.0)


class OnGpu:
    is_cuda = True


@pytest.fixture(params=rows(), ids=lambda row: " ".join(f"{k}={v}" for k, v in row.variables.items()) or "nothing")
def row(request, monkeypatch) -> Row:
    children.clean(monkeypatch)
    for name, value in request.param.variables.items():
        monkeypatch.setenv(name, value)
    return request.param


def test_the_rule(row) -> None:
    assert _activate.wanted() is row.is_triton
    asked = [_activate.interprets, lambda: knobs.runtime.interpret, lambda: not gpu_tuning.on_gpu([OnGpu()])]
    for ask in asked:
        if row.place == "ERROR":
            expected = "expected one of: interp, sim, cuda, diff; correct or unset the variable"
            with pytest.raises(ValueError, match=f"TILETWIN_BACKEND={row.variables['TILETWIN_BACKEND']}: {expected}"):
                ask()
        else:
            assert ask() is (row.place == "CPU")
    if row.place == "CPU":
        assert not gpu_timing.available() and not gpu_driver.is_usable()


def test_a_launch_refuses_what_is_no_backend(monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_BACKEND", "gpu")
    with pytest.raises(ValueError, match=r"ones: TILETWIN_BACKEND=gpu: expected one of: interp, sim, cuda, diff"):
        ones[(1,)](np.zeros(4, np.float32))
    with pytest.raises(ValueError, match=r"ones: TILETWIN_BACKEND=gpu: expected one of"):
        ones.warmup(np.zeros(4, np.float32), grid=(1,))


@pytest.mark.parametrize("value", _activate.OFF)
@pytest.mark.parametrize("variable", ["TILETWIN_CHECK", "TILETWIN_GDB", "TILETWIN_NUMERICS"])
def test_what_is_off_is_off_for_launches_too(monkeypatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value.upper())
    result = np.zeros(4, np.float32)
    ones[(1,)](result)
    assert (result == 1).all()


def test_knobs_set_by_hand(monkeypatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with knobs.runtime.scope():
        knobs.runtime.interpret = True
        assert os.environ["TRITON_INTERPRET"] == "1" and _activate.interprets()


@pytest.mark.parametrize(
    "variables, expected",
    [
        ({"TRITON_INTERPRET": "1"}, "False False"),
        ({"TILETWIN_BACKEND": "cuda"}, "True False"),
        ({"TILETWIN": "1", "TRITON_INTERPRET": "1"}, "True True"),
        ({"TILETWIN_BACKEND": "diff", "TILETWIN_DIFF": "interp"}, "True True"),
    ],
    ids=str,
)
def test_at_the_start(variables, expected) -> None:
    """Whether `import triton` gives tiletwin, and CUDA will be emulated: then torch.cuda's import is watched."""
    code = """
        import sys
        kinds = [type(finder).__name__ for finder in sys.meta_path]
        print("TritonFinder" in kinds, "BeforeTorchCuda" in kinds)
    """
    assert run_code(code, startup=True, **variables).stdout == expected + "\n"
