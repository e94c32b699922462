"""What a driver is.

Here:      the interface. Not here: the driver in use (chosen.py).
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Benchmarker(Protocol):
    """A function that times a call: `triton.testing.do_bench` or one like it."""

    def __call__(self, kernel_call: Callable, *, quantiles: list[float], **kwargs: Any) -> Sequence[float]: ...


class DriverBase(metaclass=ABCMeta):
    """Answers for a device. `triton.runtime.driver.set_active` takes an instance."""

    @classmethod
    @abstractmethod
    def is_active(cls) -> bool:
        """True if the device is there."""

    @abstractmethod
    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C++ type of a signature string ("i32", "*fp16")."""

    @abstractmethod
    def get_current_target(self) -> Any:
        """The GPUTarget kernels are compiled for."""

    @abstractmethod
    def get_active_torch_device(self) -> Any:
        """The torch.device that tensors for kernels live on."""

    @abstractmethod
    def get_benchmarker(self) -> Benchmarker:
        """The function that times kernels."""

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        """Memory for a GPU profiler; nothing asks for it here."""
        raise NotImplementedError(f"{type(self).__name__} has no memory for profilers")


class GPUDriver(DriverBase):
    """Base of drivers of GPUs. `utils` knows facts of devices."""

    utils: Any

    def get_current_device(self) -> int:
        return self.utils.get_current_device()

    def set_current_device(self, device: Any) -> None:
        self.utils.set_current_device(device)

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return self.utils.get_device_capability(device)

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args
