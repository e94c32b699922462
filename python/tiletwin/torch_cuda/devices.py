"""The emulated CUDA devices: how many there are, what they say of themselves, which one a thread has selected.

Here:      the count, the numbers of an H200, the current device of each thread.
Not here:  tensors that live on a device (marks.py), torch's functions that ask (bindings.py).
Invariant: no index that reaches a caller is one of a device that there is not.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from tiletwin import variables

NAME = "NVIDIA H200 (emulated on the CPU)"
MEMORY = 141 * 10**9
CAPABILITY = (9, 0)
CUDA_VERSION = "12.8"
"""What torch.version.cuda says: scripts parse it."""

_selected = threading.local()


class DeviceProperties:
    """An H200's numbers, under the names of torch's own class of properties."""

    name = NAME
    major, minor = CAPABILITY
    total_memory = MEMORY
    multi_processor_count = 132
    is_integrated = 0
    is_multi_gpu_board = 0
    max_threads_per_multi_processor = 2048
    max_threads_per_block = 1024
    regs_per_multiprocessor = 65536
    shared_memory_per_block = 49152
    shared_memory_per_block_optin = 232448
    shared_memory_per_multiprocessor = 233472
    warp_size = 32
    L2_cache_size = 62914560
    clock_rate = 1980000
    memory_clock_rate = 3201000
    memory_bus_width = 6144
    gcnArchName = ""
    pci_bus_id = 0
    pci_device_id = 0
    pci_domain_id = 0
    uuid = "00000000-0000-0000-0000-000000000000"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, L2_cache_size={self.L2_cache_size >> 20}MB)"
        )


def count() -> int:
    """How many devices there are: as TILETWIN_CUDA_DEVICES says, or one for each process that torchrun starts here.

    None where CUDA_VISIBLE_DEVICES hides all, and TILETWIN_CUDA_DEVICES says nothing.
    Errors: ValueError, TILETWIN_CUDA_DEVICES is no number above 0.
    """
    asked = variables.text("TILETWIN_CUDA_DEVICES")
    if not asked:
        if _are_hidden():
            return 0
        local = variables.get("LOCAL_WORLD_SIZE")
        return max(1, int(local)) if local.isdigit() else 1
    if not asked.isdigit() or int(asked) < 1:
        raise ValueError(f"TILETWIN_CUDA_DEVICES={asked}: expected the number of devices to emulate, 1 or more")
    return int(asked)


@functools.cache
def _are_hidden() -> bool:
    """Whether CUDA_VISIBLE_DEVICES names no device. As the CUDA driver does, a process reads it once."""
    visible = variables.given("CUDA_VISIBLE_DEVICES")
    return visible is not None and visible.strip()[:2] in ("", "-1")


def check(index: int) -> int:
    """`index`. Errors: torch.AcceleratorError (a RuntimeError), no device has it; RuntimeError, there is no device."""
    devices = count()
    if 0 <= index < devices:
        return index
    import torch

    if devices == 0:
        raise RuntimeError(
            f"No CUDA GPUs are available: CUDA_VISIBLE_DEVICES={variables.given('CUDA_VISIBLE_DEVICES')} hides them; "
            "TILETWIN_CUDA_DEVICES=1 emulates one all the same"
        )
    there = "one device is emulated, cuda:0" if devices == 1 else f"{devices} devices are emulated"
    raise getattr(torch, "AcceleratorError", RuntimeError)(
        f"CUDA error: invalid device ordinal {index}: {there}; TILETWIN_CUDA_DEVICES={index + 1} emulates {index + 1}"
    )


def current() -> int:
    """The device that this thread has selected; at first, number 0."""
    return getattr(_selected, "index", 0)


def select(index: int) -> None:
    """Selects a device for this thread. Errors: as `check`."""
    _selected.index = check(int(index))


def exchange(index: int) -> int:
    """Selects a device unless `index` is negative; returns the one before, or -1. Errors: as `check`."""
    if index < 0:
        return -1
    before = current()
    select(index)
    return before


@functools.lru_cache(maxsize=64)
def _number_in(device: str) -> int | None:
    """Errors: RuntimeError in torch's words, the string names no device."""
    import torch

    return torch.device(device).index


def index_of(device: Any) -> int:
    """The number of a device given as an int, a string or a torch.device; None, "cuda": the current one.

    Errors: as `check`, and torch's RuntimeError for a string that names no device.
    """
    index = _number_in(device) if isinstance(device, str) else getattr(device, "index", device)
    if index is None:
        return check(0) if _are_hidden() else current()
    return check(int(index))
