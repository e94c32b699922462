"""What a driver is, under the names of `triton.backends.driver`."""

from tiletwin.drivers.base import (
    Benchmarker,
    DriverBase,
    GPUDriver,
)

__all__ = [
    "Benchmarker",
    "DriverBase",
    "GPUDriver",
]
