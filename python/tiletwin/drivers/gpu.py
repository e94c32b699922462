"""`triton.runtime.driver.active` where kernels run on a GPU: torch's current device and stream, the GPU's numbers.

Here:      the driver and its `utils`.
Not here:  the driver of the interpreter (interpreter.py), launches (launch/gpu_launch.py).
"""

from __future__ import annotations

import sys
from typing import Any

from tiletwin.drivers.interpreter import InterpreterDriver, Utils
from tiletwin.gpu_target import GPUTarget


def is_usable() -> bool:
    """True if torch has a GPU and launches are not sent to the CPU."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    from tiletwin._activate import interprets
    from tiletwin.torch_cuda import emulation

    return not interprets() and not emulation.is_installed() and torch.cuda.is_available()


class GpuUtils(Utils):
    """Facts about a GPU, and loading of binaries."""

    def get_device_properties(self, device: Any = 0) -> dict[str, int]:
        """Shared memory in bytes that a block may have, clocks in kHz, bus width in bits, ..."""
        import torch

        facts = torch.cuda.get_device_properties(device)
        clocks = {
            "sm_clock_rate": getattr(facts, "clock_rate", 0),
            "mem_clock_rate": getattr(facts, "memory_clock_rate", 0),
            "mem_bus_width": getattr(facts, "memory_bus_width", 0),
        }
        return {
            "max_shared_mem": facts.shared_memory_per_block_optin,
            "max_num_regs": facts.regs_per_multiprocessor,
            "multiprocessor_count": facts.multi_processor_count,
            "warpSize": facts.warp_size,
            **clocks,
        }

    def get_device_capability(self, device: Any = 0) -> tuple[int, int]:
        import torch

        return torch.cuda.get_device_capability(device)

    def get_current_device(self) -> int:
        import torch

        return torch.cuda.current_device()

    def set_current_device(self, device: Any) -> None:
        import torch

        torch.cuda.set_device(device)

    def is_stream_capturing(self, stream: int) -> bool:
        from tiletwin.native import cuda as extension

        return extension().is_capturing(self.get_current_device(), stream)


class CudaDriver(InterpreterDriver):
    """The driver of NVIDIA GPUs through torch."""

    def __init__(self) -> None:
        self.utils = GpuUtils()

    @classmethod
    def is_active(cls) -> bool:
        return is_usable()

    def get_current_target(self) -> GPUTarget:
        major, minor = self.utils.get_device_capability(self.get_current_device())
        return GPUTarget("cuda", 10 * major + minor, 32)

    def get_current_stream(self, device: Any = None) -> int:
        import torch

        return torch.cuda.current_stream(device).cuda_stream

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        from tiletwin.gpu_timing import CACHE_BYTES

        return torch.empty(CACHE_BYTES // 4, dtype=torch.int32, device="cuda")
