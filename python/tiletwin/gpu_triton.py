"""Real Triton in a process of `tiletwin gpu`: its tuner.

Here:      what autotuning measures with.
Not here:  the driver's library and ptxas, which Triton finds by variables (gpu.py); tensors
           (torch_cuda/virtual_gpu.py).
Reason:    a tuner that repeats each configuration until it has 100 ms takes hours where a launch takes a second, and
           what it measures says nothing about a GPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any


def measure_once(call: Callable[[], Any], *, quantiles: Sequence[float] | None = None, **others: Any) -> Any:
    """Triton's benchmarker: the milliseconds of one call, or a list with that for each quantile."""
    from tiletwin.torch_cuda.marks import say_once  # imports torch, which may be importing Triton when this module is

    say_once("autotuning runs each configuration once: times on the virtual GPU say nothing about a GPU")
    begin = time.perf_counter()
    call()
    taken = (time.perf_counter() - begin) * 1e3
    return taken if quantiles is None else [taken] * len(quantiles)


def prepare(module: Any) -> None:
    """Called when Triton's CUDA driver has been imported."""
    module.CudaDriver.get_benchmarker = lambda self: measure_once
