"""Which tensors "live on cuda" where CUDA is emulated on the CPU: those with the attribute MARK.

Here:      setting and reading the mark; what names the device.
Not here:  who sets it when (cuda_mode.py, cuda_patches.py).
Invariant: the mark sits in the Python object, not in the storage: what only C++ holds on to loses it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

MARK = "_tiletwin_cuda"
_said = False


def notice() -> None:
    """Says once what is going on; called when a script first asks for CUDA."""
    global _said
    if not _said:
        _said = True
        print("tiletwin: there is no CUDA here: device 'cuda' is emulated on the CPU", file=sys.stderr)


def is_marked(value: Any) -> bool:
    return MARK in (getattr(value, "__dict__", None) or ())


def mark(value: Any) -> Any:
    """Marks a tensor, or those in a tuple or list; returns `value`."""
    import torch

    if isinstance(value, torch.Tensor):
        vars(value)[MARK] = True
    elif isinstance(value, (tuple, list)):
        for item in value:
            mark(item)
    return value


def any_marked(values: Iterable[Any]) -> bool:
    """Whether a tensor among `values`, or in a tuple or list there, is marked."""
    import torch

    for value in values:
        if isinstance(value, torch.Tensor):
            if MARK in value.__dict__:
                return True
        elif isinstance(value, (tuple, list)) and any_marked(value):
            return True
    return False


def set_marks(value: Any, on_cuda: bool) -> None:
    """Marks or unmarks every tensor in nested containers and modules, as `torch.load` returns them."""
    import torch

    if isinstance(value, torch.Tensor):
        if on_cuda:
            vars(value)[MARK] = True
        else:
            vars(value).pop(MARK, None)
    elif isinstance(value, Mapping):
        for item in value.values():
            set_marks(item, on_cuda)
    elif isinstance(value, (tuple, list)):
        for item in value:
            set_marks(item, on_cuda)
    elif isinstance(value, torch.nn.Module):
        for item in (*value.parameters(), *value.buffers()):
            set_marks(item, on_cuda)


def names_cuda(device: Any) -> bool:
    """Whether a torch.device or a string such as "cuda:0" names the emulated device."""
    import torch

    if isinstance(device, torch.device):
        return device.type == "cuda"
    return isinstance(device, str) and device.partition(":")[0] == "cuda"
