"""Every launch of these kernels leaves the same bits on one thread and on two, however often it runs.

The other tests of this folder run here once each, with their first parameters, and each of their launches is repeated.
Kernels from files with atomics (sums of floats, tickets, locks) run with TILETWIN_DETERMINISTIC=1.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from triton.runtime.jit import JITFunction

if os.environ.get("TILETWIN_TEST_TRITON") == "1" or os.environ.get("TILETWIN_TEST_DEVICE") == "cuda":
    pytest.skip("the number of threads is that of the interpreter", allow_module_level=True)

REPLACE_LAUNCHES = {Path(__file__).stem, "test_debug_plan"}
MODULES = sorted(path.stem for path in Path(__file__).parent.glob("test_*.py") if path.stem not in REPLACE_LAUNCHES)
THREADS = ("1", "2", "1", "2")


def tensors_of(arguments: Any) -> Iterator[torch.Tensor]:
    for a in arguments:
        if isinstance(a, torch.Tensor):
            yield a
        elif isinstance(a, (tuple, list)):
            yield from tensors_of(a)
        elif isinstance(getattr(a, "base", None), torch.Tensor):  # a tensor descriptor
            yield a.base


def memory_of(arguments: Any) -> list[torch.Tensor]:
    """The storages behind the arguments, as bytes."""
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in tensors_of(arguments)}
    return [torch.empty(0, dtype=torch.uint8).set_(s) for s in storages.values()]


class Repeated:
    """Stands in for launches: each runs once per entry of THREADS on the same bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.launches = 0
        self.monkeypatch = monkeypatch
        self.original = JITFunction.__getitem__
        original_run = JITFunction.run
        repeated = self

        def getitem(function: JITFunction, grid: Any) -> Callable[..., Any]:
            return lambda *args, **kwargs: repeated.launch(function, grid, args, kwargs)

        def run(function: JITFunction, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
            if warmup:
                return original_run(function, *args, grid=grid, warmup=True, **kwargs)
            return repeated.launch(function, grid, args, kwargs)

        monkeypatch.setattr(JITFunction, "__getitem__", getitem)
        monkeypatch.setattr(JITFunction, "run", run)

    def launch(self, function: JITFunction, grid: Any, args: tuple, kwargs: dict) -> Any:
        memory = memory_of([*args, *kwargs.values()])
        before = [m.clone() for m in memory]
        self.launches += 1
        with_atomics = "atomic_" in Path(str(inspect.getsourcefile(function.fn))).read_text()
        self.monkeypatch.setenv("TILETWIN_DETERMINISTIC", str(int(with_atomics)))
        first: list[torch.Tensor] = []
        for threads in THREADS:
            for m, b in zip(memory, before):
                m.copy_(b)
            self.monkeypatch.setenv("TILETWIN_NUM_THREADS", threads)
            result = self.original(function, grid)(*args, **kwargs)
            first = first or [m.clone() for m in memory]
            assert all(torch.equal(m, f) for m, f in zip(memory, first)), f"{function.__name__} on {threads} threads"
        return result


def first_parameters(test: Callable) -> dict[str, Any]:
    """Arguments by the first value of each `parametrize`."""
    chosen: dict[str, Any] = {}
    for mark in getattr(test, "pytestmark", []):
        if mark.name != "parametrize":
            continue
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        value = next(iter(mark.args[1]))
        if hasattr(value, "marks"):  # pytest.param
            values = value.values
        else:
            values = [value] if len(names) == 1 else value
        chosen |= dict(zip([name.strip() for name in names], values))
    return chosen


def functions_in(module: str) -> list[tuple[Callable, dict[str, Any]]]:
    """Tests that need nothing but their parameters, not the slow ones."""
    found = []
    for name, test in inspect.getmembers(importlib.import_module(module), inspect.isfunction):
        marks = {mark.name for mark in getattr(test, "pytestmark", [])}
        if name.startswith("test_") and test.__module__ == module and not marks & {"slow", "gpu", "skipif"}:
            chosen = first_parameters(test)
            if set(inspect.signature(test).parameters) == set(chosen):
                found.append((test, chosen))
    return found


@pytest.mark.parametrize("module", MODULES)
def test_same_bits_on_any_threads(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    repeated = Repeated(monkeypatch)
    for test, chosen in functions_in(module):
        test(**chosen)
    assert repeated.launches, f"no test of {module} launches a kernel"
