"""`triton.runtime.driver`: answers as the GPU that the interpreter stands in for, an H200.

Here:      target, device numbers, properties, streams that do nothing.
Not here:  torch.cuda (cuda_emulation.py).
"""

from __future__ import annotations

from typing import Any

from tiletwin.backends.compiler import DEFAULT_TARGET, GPUTarget

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


class Utils:
    """Facts about the device, as Triton's driver module gives them."""

    def get_device_properties(self, device: int = 0) -> dict[str, int]:
        return dict(DEVICE_PROPERTIES)

    def load_binary(self, *args: Any) -> Any:
        raise NotImplementedError("kernels are interpreted on the CPU here: there is no GPU to load a binary on")


class InterpreterDriver:
    """The active driver: one device, the CPU, that answers as a GPU."""

    def __init__(self) -> None:
        self.utils = Utils()

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        return DEFAULT_TARGET

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        if device != 0:
            raise ValueError(f"there is one device, number 0, not {device}")

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return divmod(int(DEFAULT_TARGET.arch), 10)

    def get_active_torch_device(self) -> Any:
        import torch

        from tiletwin import cuda_emulation

        return torch.device("cuda", 0) if cuda_emulation.is_installed() else torch.device("cpu")

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_benchmarker(self) -> Any:
        from tiletwin.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1 << 20, dtype=torch.int32)

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        table = {"i1": "int8_t", "u1": "int8_t", "fp16": "double", "bf16": "double", "fp32": "double", "fp64": "double"}
        if ty.startswith("*"):
            return "CUdeviceptr"
        if ty in table:
            return table[ty]
        return f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t"


class DriverConfig:
    """`driver`: `active` is the driver in use; it can be set and reset."""

    def __init__(self) -> None:
        self._default = InterpreterDriver()
        self.active: Any = self._default

    @property
    def default(self) -> InterpreterDriver:
        return self._default

    def set_active(self, driver: Any) -> None:
        self.active = driver

    def reset_active(self) -> None:
        self.active = self._default


driver = DriverConfig()
