"""Where a tensor is for the script while CUDA is emulated on the CPU: the attribute MARK of its Python object.

Here:      setting and reading the mark; what names a device.
Not here:  who sets it when (mode.py, patches.py).
Invariant: the mark is a device's number, or HOST. A tensor without one was made, or passed on, by C++ code of torch:
           it may be on either side. The mark sits in the Python object, not in the storage.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterable
from typing import Any

import torch

from tiletwin.torch_cuda import devices

Tensor: Any = torch.Tensor
MARK = "_tiletwin_device"
HOST = -1
"""The mark of tensors that are known to be the host's."""


class Calls(threading.local):
    """What is known of the call of torch that this thread is in."""

    place: int | None = None
    """Where the call computes: a device's number, HOST, or None, as far as its arguments say. Of what C++ code in the
    call makes and hands to operators that are written in Python nothing else is known."""


CALLS = Calls()


def calling(place: int | None, func: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of torch that computes at `place`; None: where the call does in which it is."""
    outer = CALLS.place
    if place is not None:
        CALLS.place = place
    try:
        return func(*args, **kwargs)
    finally:
        CALLS.place = outer


@functools.cache
def say_once(text: str) -> None:
    """A line on stderr, once in a process."""
    print(f"tiletwin: {text}", file=sys.stderr)


def notice() -> None:
    """Says once what is going on; called when a script first asks for CUDA."""
    say_once("there is no CUDA here: device 'cuda' is emulated on the CPU")


def place_of(value: Any) -> int | None:
    """The number of the device that a tensor is on, or HOST; None: nobody knows, or it is no tensor."""
    return (getattr(value, "__dict__", None) or {}).get(MARK)


def index_of_mark(value: Any) -> int | None:
    """The number of the device that a tensor is on; None: it is on none, as far as is known."""
    place = (getattr(value, "__dict__", None) or {}).get(MARK)
    return None if place == HOST else place


def is_marked(value: Any) -> bool:
    """Whether a tensor is known to be on a device."""
    return index_of_mark(value) is not None


def mark(value: Any, place: int) -> Any:
    """Puts a tensor, or those in a tuple or list, on device `place` (HOST: on the host); returns `value`."""
    if isinstance(value, Tensor):
        vars(value)[MARK] = place
    elif isinstance(value, (tuple, list)):
        for item in value:
            mark(item, place)
    return value


def mark_new(value: Any, place: int, arguments: Iterable[Any] = ()) -> Any:
    """As `mark`, for what a function returned: what has a mark keeps it, and so does what is one of `arguments`."""
    if isinstance(value, Tensor):
        facts = value.__dict__
        if MARK not in facts and not (arguments and any(value is a for a in arguments)):
            facts[MARK] = place
    elif isinstance(value, (tuple, list)):
        for item in value:
            mark_new(item, place, arguments)
    return value


def mark_as(value: Any, like: Any) -> Any:
    """Marks `value` as `like` is marked, if it is; returns `value`."""
    place = place_of(like)
    return value if place is None else mark(value, place)


def tensors_in(values: Iterable[Any]) -> list[Any]:
    """The tensors among `values`, and in tuples and lists there."""
    found = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += tensors_in(value)
    return found


def any_mark(values: Iterable[Any]) -> int | None:
    """The device of the first tensor among `values`, or in a tuple or list there, that is on one."""
    return next((tensor.__dict__[MARK] for tensor in tensors_in(values) if is_marked(tensor)), None)


def names_cuda(device: Any) -> bool:
    """Whether a torch.device or a string such as "cuda:0" names an emulated device."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return isinstance(device, str) and device.partition(":")[0] == "cuda"


def asked_index(device: Any) -> int | None:
    """The number of the emulated device that `device` names; None: it names none.

    Errors: torch.AcceleratorError, there is no such device.
    """
    return devices.index_of(device) if names_cuda(device) else None
