"""Where CUDA is emulated: regions of torch.autocast("cuda"), in which the CPU computes.

Here:      a call of torch with the settings of regions of CUDA in the place of the CPU's.
Not here:  which calls are the emulated device's (mode.py).
Invariant: the settings of the CPU are afterwards what they were.
"""

from __future__ import annotations

from typing import Any

import torch

_REDUCED = (torch.float16, torch.bfloat16)
is_any_enabled: Any = torch._C._is_any_autocast_enabled


def call(func: Any, args: Any, kwargs: Any, on_cuda: bool) -> Any:
    """Inside of autocast regions: what runs on the CPU for a device is cast as regions of CUDA ask for."""
    wanted = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
    before = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    if not on_cuda or not (wanted[0] or before[0]) or wanted == before or wanted[1] not in _REDUCED:
        return func(*args, **kwargs)
    torch.set_autocast_enabled("cpu", wanted[0])
    torch.set_autocast_dtype("cpu", wanted[1])
    try:
        return func(*args, **kwargs)
    finally:
        torch.set_autocast_enabled("cpu", before[0])
        torch.set_autocast_dtype("cpu", before[1])
