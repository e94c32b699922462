"""The driver in use, under the names of `triton.runtime.driver`."""

from tiletwin.drivers.chosen import (
    DEVICE_PROPERTIES,
    DriverConfig,
    InterpreterDriver,
    RefusedLauncher,
    Utils,
    driver,
)

__all__ = [
    "DEVICE_PROPERTIES",
    "DriverConfig",
    "InterpreterDriver",
    "RefusedLauncher",
    "Utils",
    "driver",
]
