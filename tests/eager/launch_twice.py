"""A plugin for pytest: launches run twice, in eager mode on copies of the arguments and compiled.

Both must leave the same bytes. Tests need not know of it: `pytest -p launch_twice tests/kernels`.

Here:      copying arguments with what they share, comparing, counting.
Not here:  which tests run (test_kernels_same_bits.py).
Invariant: a kernel with the same types and compile-time values is compared once; programs of both launches run in the
           order of their ids, so that sums by atomics agree.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from tiletwin.errors import DeadlockError
from tiletwin.runtime.jit import JITFunction
from tiletwin.tools.tensor_descriptor import TensorDescriptor

MOST_PROGRAMS = int(os.environ.get("LAUNCH_TWICE_PROGRAMS", "64"))
"""Of larger grids that many programs, chosen at random, run in eager mode, and the others compiled."""

EAGER = {"TILETWIN_EAGER": "1"}
compared: set[tuple] = set()
launched: set[str] = set()


class Copier:
    """Copies of arguments; what shares memory shares it in the copies too."""

    def __init__(self) -> None:
        self.storages: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
        self.arrays: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def copy(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            pair = self.storages.setdefault(storage.data_ptr(), (storage, storage.clone()))
            made = torch.empty(0, dtype=value.dtype)
            return made.set_(pair[1], value.storage_offset(), value.size(), value.stride())
        if isinstance(value, np.ndarray):
            return self.arrays.setdefault(id(value), (value, value.copy()))[1]
        if isinstance(value, TensorDescriptor):
            return TensorDescriptor(self.copy(value.base), value.shape, value.strides, value.block_shape, value.padding)
        if isinstance(value, tuple):
            items = [self.copy(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        return value

    def differences(self) -> list[str]:
        """Where originals and copies differ, after both have been used."""
        found = []
        for pair in self.storages.values():
            original, copied = (torch.empty(0, dtype=torch.uint8).set_(storage) for storage in pair)
            if not torch.equal(original, copied):
                at = (original != copied).nonzero().flatten()
                found.append(f"{at.numel()} of {original.numel()} bytes, the first at {int(at[0])}")
        for original, copied in self.arrays.values():
            if original.tobytes() != copied.tobytes():
                found.append(f"an array of shape {original.shape}")
        return found


def kind(value: Any) -> Any:
    """What a launch is specialised by, roughly."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return type(value).__name__
    if isinstance(value, tuple):
        return tuple(map(kind, value))
    return type(value).__name__ if isinstance(value, (np.ndarray, TensorDescriptor)) else repr(value)


def programs_of(total: int) -> str:
    """A value of TILETWIN_PROGRAM for a grid of one dimension; empty: all."""
    if total <= MOST_PROGRAMS:
        return ""
    return f"random:{MOST_PROGRAMS}"


def grid_size(grid: Any, fn: JITFunction, args: tuple, kwargs: dict[str, Any]) -> int:
    if callable(grid):
        bound = {p.name: p.default for p in fn.params} | dict(zip(fn.arg_names, args)) | kwargs
        grid = grid(bound)
    return int(np.prod([int(g) for g in (grid if isinstance(grid, (tuple, list)) else (grid,))]))


def eager_launch(launch: Any, args: tuple, kwargs: dict[str, Any], settings: dict[str, str]) -> Copier:
    """Launches on copies with these environment variables; the copies."""
    copier = Copier()
    copies = [copier.copy(value) for value in args], {name: copier.copy(value) for name, value in kwargs.items()}
    os.environ.update(settings)
    try:
        launch(*copies[0], **copies[1])
    finally:
        for name in settings:
            del os.environ[name]
    return copier


def is_new(fn: JITFunction, args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether no launch of `fn` with these types and compile-time values was looked at; notes that this one is."""
    constants = {p.name for p in fn.params if p.is_constexpr}
    named = dict(zip(fn.arg_names, args)) | kwargs
    key = (id(fn), *((name, repr(v) if name in constants else kind(v)) for name, v in named.items()))
    launched.add(fn.__name__)
    if key in compared or os.environ.get("TILETWIN_EAGER", "0") == "1":
        return False
    compared.add(key)
    return True


def replace_launches(launch: Callable[[JITFunction, Any, tuple, dict[str, Any]], Any]) -> None:
    """Launches go through `launch(fn, grid, args, kwargs)` for the rest of the process; a warm-up does not."""
    original_run = JITFunction.run

    def run(self: JITFunction, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        if warmup:
            return original_run(self, *args, grid=grid, warmup=True, **kwargs)
        return launch(self, grid, args, kwargs)

    JITFunction.run = run
    JITFunction.__getitem__ = lambda self, grid: lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)


def launch_twice(fn: JITFunction, grid: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    launch = fn._launcher.bind(grid)
    if not is_new(fn, args, kwargs):
        return launch(*args, **kwargs)
    programs = programs_of(grid_size(grid, fn, args, kwargs))
    try:
        copier = eager_launch(launch, args, kwargs, {"TILETWIN_PROGRAM": programs} if programs else EAGER)
    except DeadlockError:  # an eager program waits for one that runs compiled after it: all of them in eager mode
        copier = eager_launch(launch, args, kwargs, EAGER)
    kernel = launch(*args, **kwargs)
    found = copier.differences()
    assert not found, f"{fn.__name__}: eager mode differs from compiled mode in {found}"
    return kernel


def pytest_configure() -> None:
    replace_launches(launch_twice)


def pytest_unconfigure() -> None:
    print(f"\nlaunch_twice: {len(compared)} launches of {len(launched)} kernels compared", file=sys.__stdout__)
