"""The driver in use.

Not here:  the drivers (interpreter.py, gpu.py).
"""

from __future__ import annotations

from typing import Any

from tiletwin.drivers import gpu as gpu_driver
from tiletwin.drivers.interpreter import (  # noqa: F401  names of runtime/driver.py
    DEVICE_PROPERTIES,
    InterpreterDriver,
    RefusedLauncher,
    Utils,
)


class DriverConfig:
    """`driver`: `active` is the driver in use; it can be set and reset."""

    def __init__(self) -> None:
        self._interpreter = InterpreterDriver()
        self._gpu: InterpreterDriver | None = None
        self._chosen: Any = None

    @property
    def default(self) -> InterpreterDriver:
        """That of the GPU where kernels run on one, else the interpreter's."""
        if not gpu_driver.is_usable():
            return self._interpreter
        if self._gpu is None:
            self._gpu = gpu_driver.CudaDriver()
        return self._gpu

    @property
    def active(self) -> Any:
        return self.default if self._chosen is None else self._chosen

    @active.setter
    def active(self, driver: Any) -> None:
        self._chosen = driver

    def set_active(self, driver: Any) -> None:
        self._chosen = driver

    def reset_active(self) -> None:
        self._chosen = None


driver = DriverConfig()


def launch_capability() -> int:
    """What kernels are compiled for where no argument tells the GPU, by the driver; 0: launches are interpreted."""
    active = driver.active
    return 0 if type(active) is InterpreterDriver else int(active.get_current_target().arch)
