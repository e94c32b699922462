"""Choosing an autotuner's configuration by time, for launches on a GPU.

Here:      which launches run on a GPU, timing each configuration, choices kept on disk.
Not here:  the tuner's interface and its choice on the CPU (autotuner.py), how a call is timed (gpu_timing.py).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tiletwin import _C, knobs
from tiletwin._activate import interprets
from tiletwin.errors import AutotunerError, CompilationError, OutOfResources
from tiletwin.version import TILETWIN_VERSION

QUANTILES = (0.5, 0.2, 0.8)
"""Of the times of a configuration: the first one decides."""


class Choice(NamedTuple):
    """The configuration taken, and how it was found."""

    config: Any
    timings: dict[Any, list[float]]
    """Milliseconds by configuration, at QUANTILES; infinite: it does not compile or does not fit."""
    seconds: float | None
    cache_hit: bool


def on_gpu(values: Iterable[Any]) -> bool:
    """True if a launch with these arguments runs on a GPU."""
    return not interprets() and any(map(_is_on_gpu, values))


def _is_on_gpu(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_on_gpu, value))
    value = getattr(value, "base", value)  # of a descriptor, or of a tensor read as another dtype
    if hasattr(value, "is_cuda"):
        return value.is_cuda is True
    return hasattr(value, "data_ptr") and bool(_C.array_info(value)["on_device"])


def _time(tuner: Any, config: Any, args: tuple, grid: Any, kwargs: dict[str, Any]) -> list[float]:
    named = {**tuner._arguments(args, kwargs), **config.all_kwargs()}

    def call() -> None:
        if config.pre_hook:
            config.pre_hook(named)
        tuner.pre_hook(named)
        try:
            tuner.fn.run(*args, grid=grid, warmup=False, **{**kwargs, **config.all_kwargs()})
        except Exception as error:
            tuner.post_hook(named, exception=error)
            raise
        tuner.post_hook(named, exception=None)

    try:
        return list(tuner.do_bench(call, quantiles=QUANTILES))
    except (CompilationError, OutOfResources) as error:
        tuner.failures[config] = error
        return [math.inf] * len(QUANTILES)


def _file_key(tuner: Any, key: tuple, configs: Sequence[Any]) -> str:
    """Changes with the kernel, the configurations, the arguments' key, the GPU and the version of tiletwin."""
    import torch

    parts = [
        TILETWIN_VERSION,
        torch.cuda.get_device_name(),
        tuner.base_jit_function.cache_key,
        repr(key),
        *map(str, configs),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _stored(path: str | None, configs: Sequence[Any]) -> Any:
    """The configuration that a file names; None: there is no such file, or something else wrote it."""
    if path is None:
        return None
    try:
        with open(path) as file:
            best = json.load(file)["best"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return next((config for config in configs if str(config) == best), None)


def choose(tuner: Any, key: tuple, configs: Sequence[Any], args: tuple, grid: Any, kwargs: dict[str, Any]) -> Choice:
    """Times every configuration on the arguments at hand, as the launch would run it, and takes the fastest.

    Errors: AutotunerError, none of them compiles and fits; what a kernel that faults raises.
    """
    from tiletwin.file_cache import get_cache_manager

    keep = (tuner.cache_results or knobs.autotuning.cache) and not any(c.pre_hook for c in configs)
    manager = get_cache_manager(_file_key(tuner, key, configs)) if keep else None
    file_name = f"{tuner.__name__[:150]}.autotune.json"
    known = _stored(manager.get_file(file_name), configs) if manager is not None else None
    if known is not None:
        return Choice(known, {}, None, True)
    started = time.perf_counter()
    tuner.failures = {}
    timings = {config: _time(tuner, config, args, grid, kwargs) for config in configs}
    seconds = time.perf_counter() - started
    best = min(timings, key=lambda config: timings[config][0])
    if math.isinf(timings[best][0]):
        if len(tuner.failures) == 1:
            raise next(iter(tuner.failures.values()))
        text = "\n".join(f"  {config}: {str(error).splitlines()[-1]}" for config, error in tuner.failures.items())
        raise AutotunerError(f"{tuner.__name__}: none of the configurations can be run:\n{text}")
    if manager is not None:
        rows = [[str(config), times] for config, times in timings.items()]
        content = json.dumps({"key": repr(key), "best": str(best), "timings": rows, "pid": os.getpid()})
        manager.put(content, file_name, binary=False)
    return Choice(best, timings, seconds, False)
