"""The interpreter's driver, which answers as the GPU it stands in for, an H200.

Here:      target, device numbers, properties, streams that do nothing.
Not here:  torch.cuda (torch_cuda/emulation.py), the driver of GPUs (gpu.py), which one is in use (chosen.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiletwin import ports
from tiletwin._refused import refuse
from tiletwin.drivers.base import GPUDriver
from tiletwin.gpu_target import DEFAULT_TARGET, GPUTarget

DEVICE_PROPERTIES: dict[str, int] = {
    "max_shared_mem": 232448,
    "max_num_regs": 65536,
    "multiprocessor_count": 132,
    "warpSize": 32,
    "sm_clock_rate": 1980000,
    "mem_clock_rate": 3201000,
    "mem_bus_width": 6144,
}
"""Numbers of an H200: bytes of shared memory a block may use, clocks in kHz, bus width in bits."""


def _index(device: Any) -> int:
    """Number of a device given as an int, a string or a torch.device. Errors: ValueError, it is not device 0."""
    if isinstance(device, str):
        device = device.partition(":")[2] or 0
    number = getattr(device, "index", device)
    if callable(number):  # str and tuple have a method of that name
        number = 0
    number = int(number or 0)
    if number != 0:
        raise ValueError(f"there is one device, number 0, not {number}")
    return number


def _refused(name: str) -> Callable[..., Any]:
    """A method that would touch a GPU."""
    return lambda self, *args, **kwargs: refuse(f"triton.backends.driver.utils.{name}")


class Utils:
    """Facts about the device, as Triton's driver module gives them. What would touch a GPU is refused."""

    def get_device_properties(self, device: Any = 0) -> dict[str, int]:
        """Shared memory in bytes, clocks in kHz, bus width in bits, ..."""
        _index(device)
        return dict(DEVICE_PROPERTIES)

    def get_device_capability(self, device: Any = 0) -> tuple[int, int]:
        _index(device)
        return divmod(int(DEFAULT_TARGET.arch), 10)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: Any) -> None:
        _index(device)

    def get_default_stream(self, device: Any = 0) -> int:
        return 0

    def is_stream_capturing(self, stream: int) -> bool:
        return False

    def set_printf_fifo_size(self, size: int) -> None:
        """tl.device_print writes at once here; no buffer can overflow."""

    def build_signature_metadata(self, signature: Any) -> bytes:
        """Types of a launch's arguments, packed for a GPU's launcher."""
        return repr(list(signature)).encode()

    load_binary = _refused("load_binary")
    unload_module = _refused("unload_module")
    launch = _refused("launch")
    fill_tma_descriptor_tiled = _refused("fill_tma_descriptor_tiled")
    fill_tma_descriptor_im2col = _refused("fill_tma_descriptor_im2col")
    cuOccupancyMaxActiveClusters = _refused("cuOccupancyMaxActiveClusters")


class RefusedLauncher:
    """`driver.active.launcher_cls`: would launch GPU binaries."""

    def __init__(self, src: Any, metadata: Any) -> None:
        refuse("triton.backends.driver.utils.launch")


class InterpreterDriver(GPUDriver):
    """The active driver: one device, the CPU, that answers as a GPU."""

    launcher_cls = RefusedLauncher

    def __init__(self) -> None:
        self.utils = Utils()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        return DEFAULT_TARGET

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        from tiletwin.torch_cuda import emulation

        return torch.device("cuda", 0) if emulation.is_installed() else torch.device("cpu")

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_benchmarker(self) -> Any:
        return ports.benchmark.function()

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1 << 20, dtype=torch.int32)

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

    @staticmethod
    def map_python_to_cpp_type(ty: str) -> str:
        """The C++ type of a signature string. Floats are handed over as doubles."""
        if ty.startswith("*"):
            return "CUdeviceptr"
        if ty.startswith("tensordesc") or ty == "nvTmaDesc":
            return "CUtensorMap"
        if ty in ("fp16", "bf16", "fp32", "f32", "fp64"):
            return "double"
        if ty in ("i1", "u1"):
            return "int8_t" if ty == "i1" else "uint8_t"
        if ty[:1] in ("i", "u") and ty[1:] in ("8", "16", "32", "64"):
            return f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t"
        raise KeyError(f"{ty!r} is no type in a kernel's signature")


class HostDriver(InterpreterDriver):
    """That of tensors of the host, which libraries look for under the name "cpu". It gives the same answers, and is not
    active, since one driver is."""

    @classmethod
    def is_active(cls) -> bool:
        return False
