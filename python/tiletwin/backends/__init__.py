"""Targets of compilation, under the names of `triton.backends`.

Here:      `backends`: the one there is, by name; scripts look through it for an active driver.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tiletwin.backends.compiler import BaseBackend
from tiletwin.drivers.base import DriverBase
from tiletwin.gpu_target import GPUTarget


class Backend(NamedTuple):
    """The classes of a backend."""

    compiler: type[BaseBackend]
    driver: type[DriverBase]


def _backends() -> dict[str, Backend]:
    from tiletwin.backends.nvidia.compiler import CUDABackend
    from tiletwin.drivers.interpreter import HostDriver, InterpreterDriver

    class HostBackend(CUDABackend):
        """For tensors of the host; their kernels are the same."""

        @staticmethod
        def supports_target(target: GPUTarget) -> bool:
            return target.backend == "cpu"

    return {"nvidia": Backend(CUDABackend, InterpreterDriver), "cpu": Backend(HostBackend, HostDriver)}


def __getattr__(name: str) -> Any:
    if name == "backends":
        globals()[name] = _backends()
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
