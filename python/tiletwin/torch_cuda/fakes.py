"""Where CUDA is emulated: torch's fake tensors, with which programs are traced without data.

Here:      fake tensors of tensors on a device, and those that are asked for on one.
Not here:  operations on them, which the function mode sees as it sees all others (mode.py).
Invariant: torch's C++ takes a fake tensor for one of the CPU, as it takes the emulated tensors; the mark says where it
           is for the script. Inside an operation, where no function mode is on, `.device` is what C++ says.
"""

from __future__ import annotations

import functools
from typing import Any

from tiletwin.torch_cuda import devices
from tiletwin.torch_cuda.marks import asked_index, index_of_mark, mark, mark_as

_DEVICES = ("device", "fake_device", "_fake_device")


def patch(torch: Any) -> None:
    """Replaces what makes fake tensors, and says where they are, for the rest of the process."""
    try:
        from torch._subclasses.fake_tensor import FakeTensor, FakeTensorConverter, FakeTensorMode
    except ImportError:
        return
    Fake: Any = FakeTensor
    Converter: Any = FakeTensorConverter
    Mode: Any = FakeTensorMode
    new, place, convert, run = Fake.__new__, Fake.device, Converter.from_real_tensor, Mode.dispatch

    @functools.wraps(new)
    def new_fake(cls: Any, *args: Any, **kwargs: Any) -> Any:
        """(mode, element, device) or by keyword: a device of CUDA becomes the CPU, and a mark."""
        arguments: list[Any] = list(args)
        index = asked_index(arguments[2]) if len(arguments) > 2 else None
        if index is not None:
            arguments[2] = torch.device("cpu")
        for name in _DEVICES:
            asked = asked_index(kwargs.get(name))
            if asked is not None:
                index, kwargs[name] = asked, torch.device("cpu")
        with torch._C.DisableTorchFunction():
            made = new(cls, *arguments, **kwargs)
        return made if index is None else mark(made, index)

    @functools.wraps(convert)
    def convert_marked(self: Any, fake_mode: Any, t: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            return mark_as(convert(self, fake_mode, t, *args, **kwargs), t)

    @functools.wraps(run)
    def dispatch(self: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():  # autograd calls operations while the mode is on
            return run(self, *args, **kwargs)

    def where(self: Any) -> Any:
        index = index_of_mark(self)
        if index is None or not torch._C._is_torch_function_mode_enabled():
            return place.fget(self)
        return torch.device("cuda", devices.check(index))

    Fake.__new__ = new_fake
    Fake.device = property(where, place.fset)
    Converter.from_real_tensor = convert_marked
    Mode.dispatch = dispatch
