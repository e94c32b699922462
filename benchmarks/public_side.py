"""One compiler's side of the benchmark of public kernels: a process that runs the cases it is asked for.

Here:      making a case, its result's fingerprint, kernels' times, how tuners are cut short.
Not here:  who asks (public_kernels.py), the cases (public_rows*.py).
Invariant: a line on stdin is a case's name, a line on the former stdout is the answer as JSON. What kernels print goes
           to stderr.
"""

from __future__ import annotations

import functools
import json
import math
import os
import statistics
import sys
import time
import traceback
from collections import defaultdict
from typing import Any

ROUNDS = 8


def load_cases() -> dict[str, Any]:
    import public_rows
    import public_rows_products
    from public_sources import CASES

    assert public_rows and public_rows_products
    return CASES


@functools.cache
def memory_larger_than_caches() -> Any:
    """256 MB of a GPU: who writes it finds nothing else in the caches afterwards."""
    import torch

    return torch.empty(64 << 20, dtype=torch.int32, device="cuda")


def tensors_of(result: Any) -> list[Any]:
    import torch

    items = result if isinstance(result, (tuple, list)) else (result,)
    return [item.detach() for item in items if isinstance(item, torch.Tensor)]


def fingerprint(result: Any) -> list[list[float]]:
    """Mean, root of the mean square and 61 samples of each tensor."""
    import torch

    found = []
    for tensor in tensors_of(result):
        flat = tensor.reshape(-1).to(torch.float64)
        places = torch.arange(61, device=flat.device) * (flat.numel() - 1) // 60
        found.append([float(flat.mean()), float(flat.square().mean().sqrt()), *flat[places].tolist()])
    return found


def profiled(run: Any) -> list[dict[str, float]]:
    """Microseconds of each kernel in each of several calls; the caches hold other data before each call."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    other = memory_larger_than_caches()
    calls: list[dict[str, float]] = []
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(ROUNDS):
            other.bitwise_not_()
            torch.cuda.synchronize()
            run()
            torch.cuda.synchronize()
    # Clearing begins a call: no case computes bitwise_not of as much.
    events = sorted(
        (event for event in profiler.events() if event.device_type.name == "CUDA"),
        key=lambda event: event.time_range.start,
    )
    for event in events:
        duration = event.time_range.end - event.time_range.start
        if "bitwise_not" in event.name and duration > 30:
            calls.append(defaultdict(float))
        elif calls:
            calls[-1][event.name] += duration
    return calls


def kernel_times(run: Any) -> dict[str, list[float]]:
    """By kernel its times in the calls that `profiled` makes."""
    calls = profiled(run)
    names = {name for call in calls for name in call}
    return {name: [call.get(name, 0.0) for call in calls] for name in names}


def tuner_time(call: Any, *_: Any, quantiles: Any = (0.5,), **__: Any) -> list[float]:
    """Milliseconds of a launch that finds nothing in the caches and of one behind it, which finds what the first left.
    In a case a kernel reads some of what the kernel before it wrote, so either alone may choose what is slow there."""

    def twice() -> None:
        call()
        call()

    call()
    times = [sum(found.values()) / 1000 for found in profiled(twice)]
    return [statistics.median(times)] * len(quantiles)


def cut_tuners(most: int, timed: bool, chosen: dict[str, str]) -> None:
    """Leaves tuners at most so many configurations (0: all), and writes into `chosen` what they take. Where nothing is
    timed each configuration is compiled and run once, and the first one taken."""
    import triton.testing as testing
    from triton.runtime.autotuner import Autotuner

    prune, launch = Autotuner.prune_configs, Autotuner.run

    def fewer(self: Any, *given: Any, **named: Any) -> Any:
        configs = list(prune(self, *given, **named))
        return configs[:: math.ceil(len(configs) / most)] if most and len(configs) > most else configs

    def once(call: Any, *_: Any, quantiles: Any = (0.5,), **__: Any) -> list[float]:
        call()
        return [1.0] * len(quantiles)

    def told(self: Any, *given: Any, **named: Any) -> Any:
        self.cache_results = False  # what was taken without timing is not to be found on disk
        result = launch(self, *given, **named)
        if len(self.configs) > 1:
            chosen[self.base_fn.__name__] = str(self.best_config)
        return result

    Autotuner.prune_configs, Autotuner.run = fewer, told
    testing.do_bench = tuner_time if timed else once


def serve(timed: bool, most: int) -> None:
    """Answers until stdin ends. The last case asked for stays as it is, to be timed again."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch
    import triton

    on_gpu = os.environ.get("TILETWIN_INTERPRET") != "1"
    chosen: dict[str, str] = {}
    if on_gpu:
        cut_tuners(most, timed, chosen)
    about = {
        "device": torch.cuda.get_device_name() if on_gpu else "none",
        "triton": triton.__version__,
        "torch": torch.__version__,
        "is": os.path.basename(os.path.dirname(triton.__file__)),
    }
    current, run = "", None
    for line in sys.stdin:
        name, started, found = line.strip(), time.perf_counter(), dict(about)
        try:
            if name != current:
                current, run = "", None
                chosen.clear()
                if on_gpu:
                    torch.cuda.empty_cache()
                torch.manual_seed(0)
                run = load_cases()[name].make()
                found["result"] = fingerprint(run())
                current = name
            assert run is not None
            if on_gpu and timed:
                run()
                found["us"] = kernel_times(run)
            found["chosen"] = dict(chosen)
        except Exception as failure:
            text = "".join(traceback.format_exception(failure)[-4:])[-1500:]
            found["error"], found["where"] = f"{type(failure).__name__}: {str(failure)[:400]}", text
        found["seconds"] = round(time.perf_counter() - started, 2)
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1] == "timed", int(sys.argv[2]))
