"""Which tensors "live on cuda" where CUDA is emulated on the CPU: those with the attribute MARK, the device's number.

Here:      setting and reading the mark; what names a device.
Not here:  who sets it when (cuda_mode.py, cuda_patches.py).
Invariant: the mark sits in the Python object, not in the storage: what only C++ holds on to loses it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from tiletwin import cuda_devices

MARK = "_tiletwin_device"
_said = False


def notice() -> None:
    """Says once what is going on; called when a script first asks for CUDA."""
    global _said
    if not _said:
        _said = True
        print("tiletwin: there is no CUDA here: device 'cuda' is emulated on the CPU", file=sys.stderr)


def is_marked(value: Any) -> bool:
    return MARK in (getattr(value, "__dict__", None) or ())


def index_of_mark(value: Any) -> int | None:
    """The number of the device that a tensor is on; None: it is on none."""
    return (getattr(value, "__dict__", None) or {}).get(MARK)


def mark(value: Any, index: int) -> Any:
    """Marks a tensor, or those in a tuple or list, as on device `index`; returns `value`."""
    import torch

    if isinstance(value, torch.Tensor):
        vars(value)[MARK] = index
    elif isinstance(value, (tuple, list)):
        for item in value:
            mark(item, index)
    return value


def mark_as(value: Any, like: Any) -> Any:
    """Marks `value` where `like` is marked; returns `value`."""
    index = index_of_mark(like)
    return value if index is None else mark(value, index)


def any_mark(values: Iterable[Any]) -> int | None:
    """The device of the first tensor among `values`, or in a tuple or list there, that is on one."""
    import torch

    for value in values:
        if isinstance(value, torch.Tensor):
            index = value.__dict__.get(MARK)
        elif isinstance(value, (tuple, list)):
            index = any_mark(value)
        else:
            continue
        if index is not None:
            return index
    return None


def set_marks(value: Any, index: int | None) -> None:
    """Marks (None: unmarks) every tensor in nested containers and modules, as `torch.load` returns them."""
    import torch

    if isinstance(value, torch.Tensor):
        if index is not None:
            vars(value)[MARK] = index
        else:
            vars(value).pop(MARK, None)
    elif isinstance(value, Mapping):
        for item in value.values():
            set_marks(item, index)
    elif isinstance(value, (tuple, list)):
        for item in value:
            set_marks(item, index)
    elif isinstance(value, torch.nn.Module):
        for item in (*value.parameters(), *value.buffers()):
            set_marks(item, index)


def names_cuda(device: Any) -> bool:
    """Whether a torch.device or a string such as "cuda:0" names an emulated device."""
    import torch

    if isinstance(device, torch.device):
        return device.type == "cuda"
    return isinstance(device, str) and device.partition(":")[0] == "cuda"


def asked_index(device: Any) -> int | None:
    """The number of the emulated device that `device` names; None: it names none.

    Errors: torch.AcceleratorError, there is no such device.
    """
    return cuda_devices.index_of(device) if names_cuda(device) else None
