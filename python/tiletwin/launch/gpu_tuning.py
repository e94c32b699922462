"""Choosing an autotuner's configuration by time, for launches on a GPU.

Here:      which launches run on a GPU, what is tried and in which order, trial runs with their hooks, choices on disk.
Not here:  the tuner's interface and its choice on the CPU (autotuner.py), choices by estimates (tuning_estimates.py),
           the search (tuning_search.py), how a call is timed (gpu_timing.py, tuning_clock.py), compilation beside each
           other (tuning_compile.py).
Idea:      compile all, order them by what other keys took or by what the compiled code says, search. TILETWIN_TUNING=
           every, or a `do_bench` or `_bench` that is not ours, measures every configuration in full, as Triton does.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tiletwin import _C, knobs, variables
from tiletwin._activate import interprets
from tiletwin.launch import tuning_records
from tiletwin.launch.configurations import nothing_left
from tiletwin.version import TILETWIN_VERSION

QUANTILES = (0.5, 0.2, 0.8)
"""Of the times of a configuration: the first one decides."""
NEVER = [math.inf] * len(QUANTILES)
WAYS = ("search", "every")


class Choice(NamedTuple):
    """The configuration taken, and how it was found."""

    config: Any
    timings: dict[Any, list[float]]
    """Milliseconds by configuration, at QUANTILES; infinite: it does not compile, does not fit, or was left out."""
    seconds: float | None
    cache_hit: bool

    def described(self) -> str:
        """How it was found, for a line of print."""
        if self.cache_hit:
            return "from disk"
        measured = sum(times[0] < math.inf for times in self.timings.values())
        return f"as the fastest of {measured} that were measured ({len(self.timings)} configurations)"


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


def way() -> str:
    """How configurations are compared. Errors: ValueError, TILETWIN_TUNING has no such word."""
    chosen = variables.text("TILETWIN_TUNING") or "search"
    if chosen not in WAYS:
        raise ValueError(f"TILETWIN_TUNING is {chosen!r}; it must be 'search' or 'every'")
    return chosen


class Trial:
    """Trial runs of one tuning."""

    def __init__(self, tuner: Any, args: tuple, grid: Any, kwargs: dict[str, Any]) -> None:
        self.tuner, self.args, self.grid, self.kwargs = tuner, args, grid, kwargs
        self.failures: dict[Any, Exception] = {}

    def arguments(self, config: Any) -> dict[str, Any]:
        """All arguments by name, as hooks get them."""
        return {**self.tuner._arguments(self.args, self.kwargs), **config.all_kwargs()}

    def call(self, config: Any) -> None:
        """One run with its hooks. What is known to fail fails here, so that hooks see it. Errors: the launch's."""
        tuner, named = self.tuner, self.arguments(config)
        if config.pre_hook:
            config.pre_hook(named)
        tuner.pre_hook(named)
        try:
            if config in self.failures:
                raise self.failures[config]
            tuner.fn.run(*self.args, grid=self.grid, warmup=False, **{**self.kwargs, **config.all_kwargs()})
        except Exception as error:
            self.failures[config] = error
            tuner.post_hook(named, exception=error)
            raise
        tuner.post_hook(named, exception=None)

    def compile(self, config: Any) -> Any:
        """The kernel that a launch would run. The configuration's hook sets what it is compiled for."""
        self.tuner._call_config_hook(config, self.args, self.kwargs)
        return self.tuner.fn.run(*self.args, grid=self.grid, warmup=True, **{**self.kwargs, **config.all_kwargs()})


def time_in_full(tuner: Any, config: Any, args: tuple, grid: Any, kwargs: dict[str, Any]) -> list[float]:
    """Times of a configuration at QUANTILES, by the tuner's `do_bench`; infinite if it cannot run."""
    from tiletwin.launch.tuning_compile import UNUSABLE

    trial = Trial(tuner, args, grid, kwargs)
    try:
        return list(tuner.do_bench(functools.partial(trial.call, config), quantiles=QUANTILES))
    except UNUSABLE as error:
        tuner.failures[config] = error
        return list(NEVER)


def file_key(tuner: Any, key: tuple, configs: Sequence[Any], gpu: str, way: str) -> str:
    """Changes with the kernel, the configurations, the arguments' key, the GPU, how configurations are compared, and
    the version of tiletwin."""
    parts = [TILETWIN_VERSION, gpu, tuner.base_jit_function.cache_key, repr(key), way, *map(str, configs)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _file_key(tuner: Any, key: tuple, configs: Sequence[Any]) -> str:
    import torch

    return file_key(tuner, key, configs, torch.cuda.get_device_name(), way())


def is_kept(tuner: Any, configs: Sequence[Any]) -> bool:
    """Whether choices go to disk."""
    return (tuner.cache_results or knobs.autotuning.cache) and not any(config.pre_hook for config in configs)


def written(key: tuple, best: Any, timings: dict[Any, list[float]]) -> str:
    """A choice as the text of a file."""
    rows = [[str(config), times] for config, times in timings.items()]
    return json.dumps({"key": repr(key), "best": str(best), "timings": rows, "pid": os.getpid()})


def stored(path: str | None, configs: Sequence[Any]) -> Any:
    """The configuration that a file names; None: there is no such file, or something else wrote it."""
    if path is None:
        return None
    try:
        with open(path) as file:
            best = json.load(file)["best"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return next((config for config in configs if str(config) == best), None)


def _records(manager: Any, name: str) -> list[tuning_records.Record]:
    """Times of other keys, that a file has."""
    path = manager.get_file(name)
    try:
        with open(path) as file:
            return tuning_records.read(file.read())
    except (OSError, TypeError):
        return []


def _search(trial: Trial, key: tuple, configs: Sequence[Any], clock: Any) -> dict[Any, list[float]]:
    """Timings by configuration, in the order of `configs`."""
    from tiletwin import cuda
    from tiletwin.launch import tuning_compile, tuning_model
    from tiletwin.launch.tuning_search import search
    from tiletwin.testing import _summarize_statistics

    forecast = tuning_records.forecast(trial.tuner._records, key, [str(config) for config in configs])
    tried = [config for config in configs if forecast[str(config)] < math.inf]
    prepare = [functools.partial(trial.compile, config) for config in tried]
    compiled = tuning_compile.compile_all(prepare, trial.grid, [trial.arguments(config) for config in tried])
    trial.failures.update({tried[at]: error for at, error in compiled.failures.items()})
    gpu = cuda.device_facts(cuda.current_device()) if compiled.needs else {}
    guesses = {tried[at]: tuning_model.relative_time(needs, gpu) for at, needs in compiled.needs.items()}
    hopeful = tuning_model.HOPELESS * min(guesses.values(), default=math.inf)
    tried = [config for config in tried if guesses.get(config, 0.0) <= hopeful]
    tried.sort(key=lambda config: (forecast[str(config)], guesses.get(config, 0.0)))
    found = search(tried, clock)
    timings = {config: list(NEVER) for config in configs}
    timings |= {config: _summarize_statistics(times, QUANTILES, "median") for config, times in found.times.items()}
    return timings


def measure(tuner: Any, key: tuple, configs: Sequence[Any], args: tuple, grid: Any, kwargs: dict[str, Any]) -> dict:
    """Timings by configuration; `tuner.failures` has the errors of those that cannot run."""
    from tiletwin.launch import tuning_clock
    from tiletwin.launch.tuning_compile import UNUSABLE

    tuner.failures = {}
    clock = None
    trial = Trial(tuner, args, grid, kwargs)
    if way() == "search" and tuner._has_own_bench():
        clock = tuning_clock.clock_for(tuner.do_bench, trial.call, UNUSABLE)
    if clock is None:
        return {config: tuner._bench(*args, config=config, grid=grid, **kwargs) for config in configs}
    timings = _search(trial, key, configs, clock)
    tuner.failures = trial.failures
    return timings


def choose(tuner: Any, key: tuple, configs: Sequence[Any], args: tuple, grid: Any, kwargs: dict[str, Any]) -> Choice:
    """Takes the fastest configuration on the arguments at hand; a single one without a run.

    Errors: AutotunerError, none of them compiles and fits; ValueError, an argument is also set by configurations; what
    a kernel that faults raises.
    """
    from tiletwin.file_cache import get_cache_manager

    if len(configs) == 1:
        return Choice(configs[0], {}, None, False)
    for config in configs:
        tuner._refuse_clash(config, args, kwargs)
    manager = get_cache_manager(_file_key(tuner, key, configs)) if is_kept(tuner, configs) else None
    file_name = f"{tuner.__name__[:150]}.autotune.json"
    known = stored(manager.get_file(file_name), configs) if manager is not None else None
    if known is not None:
        return Choice(known, {}, None, True)
    started = time.perf_counter()
    shared, records_name = None, f"{tuner.__name__[:150]}.timings.json"
    if manager is not None:
        shared = get_cache_manager(_file_key(tuner, (), configs))
        for record in _records(shared, records_name):
            tuner._records = tuning_records.merged(tuner._records, record)
    timings = measure(tuner, key, configs, args, grid, kwargs)
    seconds = time.perf_counter() - started
    best = min(timings, key=lambda config: timings[config][0])
    if math.isinf(timings[best][0]):
        raise nothing_left(tuner, tuner.failures.items(), "can be run")
    told = {config: times for config, times in timings.items() if times[0] < math.inf or config in tuner.failures}
    tuner._records = tuning_records.merged(tuner._records, tuning_records.of_timings(key, told))
    if manager is not None and shared is not None:
        manager.put(written(key, best, timings), file_name, binary=False)
        shared.put(tuning_records.written(tuner._records), records_name, binary=False)
    return Choice(best, timings, seconds, False)
