"""The GPUs of this machine, the current one, the current stream.

Here:      what torch says where torch uses CUDA, else what the driver says.
Not here:  limits of GPUs that are not there (tiletwin/devices.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from tiletwin.native import cuda as extension


def device_count() -> int:
    """GPUs that this process sees. Errors: CudaError, no driver, or it sees none."""
    return extension().device_count()


@cache
def device_facts(number: int = 0) -> dict[str, Any]:
    """name, capability (90 is sm_90), memory_bytes and limits of a GPU. Errors: CudaError, there is none of that
    number."""
    return extension().device(number)


def torch_functions() -> tuple[Callable[[], int], Callable[[int], int]] | None:
    """What torch's CUDA part tells the current GPU, and the current stream of one, by; None: it is not in use."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch._C, "_cuda_getDevice") or not torch.cuda.is_initialized():
        return None
    return torch._C._cuda_getDevice, torch._C._cuda_getCurrentRawStream


def current_device() -> int:
    """Number of the GPU that torch has chosen, or of the driver's context of this thread; 0 if there is neither."""
    told = torch_functions()
    return told[0]() if told else max(extension().current_device(), 0)


def current_stream(device: int) -> int:
    """torch's current stream on a GPU, as a number; 0, the default stream, without torch."""
    told = torch_functions()
    return told[1](device) if told else 0


def stream_number(stream: Any, device: int) -> int:
    """A stream as a number: torch's streams, numbers, None for the current one. Errors: TypeError, it is none of
    these."""
    if stream is None:
        return current_stream(device)
    number = getattr(stream, "cuda_stream", stream)
    if not hasattr(number, "__index__"):
        raise TypeError(f"stream has to be a torch stream, a number or None, not {stream!r}")
    return number.__index__()


def device_number(device: Any) -> int:
    """A GPU as a number: "cuda:1", torch.device, 1, None for the current one. Errors: ValueError, it is none of
    these."""
    if device is None:
        return current_device()
    if isinstance(device, str):
        kind, _, digits = device.partition(":")
        if kind != "cuda" or (digits and not digits.isdecimal()):
            raise ValueError(f"device has to be a number, or cuda or cuda:NUMBER, not {device!r}")
        return int(digits) if digits else current_device()
    if getattr(device, "type", "cuda") != "cuda":
        raise ValueError(f"device has to be a CUDA device, not {device}")
    number = device if isinstance(device, int) else getattr(device, "index", None)
    return current_device() if number is None else int(number)
