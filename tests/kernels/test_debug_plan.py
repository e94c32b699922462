"""Every launch of these kernels leaves the same bits with TILETWIN_GDB=1, statement by statement in native code.

The other tests of this folder run here once each, with their first parameters; each launch is made twice on the same
memory. tests/gdb drives gdb itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from triton.runtime.jit import JITFunction

if os.environ.get("TILETWIN_TEST_TRITON") == "1":
    pytest.skip("plans are tiletwin's", allow_module_level=True)

from test_repeated_launches import MODULES, functions_in, memory_of

SAMPLE = {"test_softmaxes", "test_flash_attention", "test_rotary"}
WAITS = "this program waits for another one"


class Twice:
    """Stands in for launches: each is made as always and with a debug plan."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.launches = self.waiting = 0
        self.monkeypatch = monkeypatch
        self.original = JITFunction.__getitem__
        original_run = JITFunction.run
        twice = self

        def getitem(function: JITFunction, grid: Any) -> Callable[..., Any]:
            return lambda *args, **kwargs: twice.launch(function, grid, args, kwargs)

        def run(function: JITFunction, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
            if warmup:
                return original_run(function, *args, grid=grid, warmup=True, **kwargs)
            return twice.launch(function, grid, args, kwargs)

        monkeypatch.setattr(JITFunction, "__getitem__", getitem)
        monkeypatch.setattr(JITFunction, "run", run)
        monkeypatch.setenv("TILETWIN_DETERMINISTIC", "1")

    def launch(self, function: JITFunction, grid: Any, args: tuple, kwargs: dict) -> Any:
        memory = memory_of([*args, *kwargs.values()])
        before = [m.clone() for m in memory]
        self.launches += 1
        self.monkeypatch.setenv("TILETWIN_GDB", "1")
        debugged = None
        try:
            self.original.__get__(function, JITFunction)(grid)(*args, **kwargs)
            debugged = [m.clone() for m in memory]
        except NotImplementedError as error:
            if WAITS not in str(error):
                raise
            self.waiting += 1
        self.monkeypatch.setenv("TILETWIN_GDB", "0")
        for m, b in zip(memory, before):
            m.copy_(b)
        result = self.original.__get__(function, JITFunction)(grid)(*args, **kwargs)
        if debugged is not None:
            assert all(torch.equal(m, d) for m, d in zip(memory, debugged)), function.__name__
        return result


@pytest.mark.parametrize("module", [pytest.param(m, marks=[] if m in SAMPLE else pytest.mark.slow) for m in MODULES])
def test_same_bits(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = Twice(monkeypatch)
    for test, chosen in functions_in(module):
        test(**chosen)
    assert twice.launches > twice.waiting, f"no test of {module} launches a kernel that gdb can look at"
