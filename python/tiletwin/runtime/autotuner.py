"""`@triton.autotune` and `@triton.heuristics`, under the names of `triton.runtime.autotuner`."""

from tiletwin.errors import PTXASError
from tiletwin.launch.autotuner import (
    Autotuner,
    AutotunerError,
    Config,
    Heuristics,
    KernelInterface,
    OutOfResources,
    autotune,
    heuristics,
    knobs,
)

__all__ = [
    "Autotuner",
    "AutotunerError",
    "Config",
    "Heuristics",
    "KernelInterface",
    "OutOfResources",
    "PTXASError",
    "autotune",
    "heuristics",
    "knobs",
]
