"""Where CUDA is emulated: torch functions that refuse tensors of several devices.

Here:      which functions do, and their error.
Not here:  launches, which look at the marks themselves (python/src/Classify.cpp).
Invariant: what is refused here is refused on a GPU, too. Tensors without a mark are never the reason.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from tiletwin.torch_cuda.marks import HOST, MARK

_OF_ONE_DEVICE = frozenset(
    "matmul mm bmm mv dot addmm addmv addbmm baddbmm linear bilinear cat concat stack hstack vstack index_select "
    "gather embedding conv1d conv2d conv3d layer_norm batch_norm".split()
)
"""Functions that torch refuses tensors of several devices for, beside those that it tags as pointwise."""


@functools.cache
def _refuses_mixes(name: str) -> bool:
    if name.rstrip("_") in _OF_ONE_DEVICE:
        return True
    if name == "fill_":  # tagged, and reads its number from any device
        return False
    operator: Any = getattr(torch.ops.aten, name, None)
    overloads = operator.overloads() if isinstance(operator, torch._ops.OpOverloadPacket) else ()
    return any(torch.Tag.pointwise in getattr(operator, overload).tags for overload in overloads)


def _name(place: int) -> str:
    return "cpu" if place == HOST else f"cuda:{place}"


def check_places(func: Any, given: list[Any]) -> None:
    """Errors: RuntimeError as torch's on a GPU, tensors are known to be on several devices. Numbers of the host may."""
    known = [t for t in given if MARK in t.__dict__ and not (t.__dict__[MARK] == HOST and t.dim() == 0)]
    where = dict.fromkeys(_name(t.__dict__[MARK]) for t in known)
    if len(where) < 2 or not _refuses_mixes(getattr(func, "__name__", "")):
        return
    first, second, *_ = sorted(where, key=lambda place: (place == "cpu", place))
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}! "
        f"({func.__name__}; device 'cuda' is emulated on the CPU here)"
    )
