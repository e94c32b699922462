"""Where CUDA is emulated: classes of torch that are not in torch.cuda, or are made in C++, and name the device.

Here:      torch.Stream and torch.Event, torch.cuda.FloatTensor and its like, profilers that are asked for CUDA.
Not here:  torch.Generator (patches.py), torch.cuda.Stream and its like (objects.py).
Invariant: what stands for a class is a class, and `isinstance` says what it says on a GPU.
"""

from __future__ import annotations

import functools
from typing import Any

from tiletwin.torch_cuda import devices
from tiletwin.torch_cuda.marks import is_marked, mark, names_cuda, notice

TENSOR_TYPES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8",
    "BoolTensor": "bool",
}  # fmt: skip


def patch(torch: Any) -> None:
    """Replaces the classes for the rest of the process."""
    torch.Stream = _either(torch.Stream, torch.cuda.Stream)
    torch.Event = _either(torch.Event, torch.cuda.Event, takes_no_device=True)
    for name, dtype in TENSOR_TYPES.items():
        if hasattr(torch.cuda, name):
            setattr(torch.cuda, name, _tensor_type(torch, name, getattr(torch, dtype)))
    _patch_default_type(torch)
    _patch_profiler(torch)


def _either(original: Any, emulated: Any, takes_no_device: bool = False) -> Any:
    """The class `original`, which for a CUDA device, or no device, makes one of `emulated`."""

    class Either(type(original)):
        def __instancecheck__(self, value: Any) -> bool:
            return isinstance(value, (original, emulated))

        def __subclasscheck__(self, kind: type) -> bool:
            return issubclass(kind, (original, emulated))

    class Device(original, metaclass=Either):  # type: ignore[misc, valid-type]
        def __new__(cls, device: Any = None, *args: Any, **kwargs: Any) -> Any:
            if not (device is None or names_cuda(device) or isinstance(device, int)):
                return original.__new__(cls, device, *args, **kwargs)
            # Events of torch.cuda take no device: they are where they are recorded.
            return emulated(*args, **kwargs) if takes_no_device else emulated(device, *args, **kwargs)

    Device.__name__ = Device.__qualname__ = original.__name__
    Device.__module__ = original.__module__
    return Device


class CudaTensorType(type):
    """The kind of torch.cuda.FloatTensor: `dtype` and `is_cuda`, as torch's own kind of such types has them."""

    is_cuda = True

    @property
    def dtype(cls) -> Any:
        return cls._dtype  # type: ignore[attr-defined]

    def __instancecheck__(cls, value: Any) -> bool:
        return is_marked(value) and value.dtype == cls.dtype


def _tensor_type(torch: Any, name: str, dtype: Any) -> CudaTensorType:
    """torch.cuda.FloatTensor(2, 3), torch.cuda.FloatTensor([1, 2]): a tensor on the current device."""

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        notice()
        kwargs.pop("device", None)
        return mark(getattr(torch, name)(*args, **kwargs), devices.current())

    return CudaTensorType(name, (), {"__new__": new, "__module__": "torch.cuda", "_dtype": dtype})


def _patch_default_type(torch: Any) -> None:
    """torch.set_default_tensor_type of a type of CUDA: the default dtype, and the default device."""
    original = torch.set_default_tensor_type

    @functools.wraps(original)
    def set_default_tensor_type(t: Any) -> None:
        kind = t if isinstance(t, CudaTensorType) else getattr(torch.cuda, str(t).removeprefix("torch.cuda."), None)
        if isinstance(kind, CudaTensorType):
            torch.set_default_dtype(kind.dtype)
            torch.set_default_device("cuda")
        else:
            torch.set_default_device(None)
            original(t)

    torch.set_default_tensor_type = set_default_tensor_type


def _patch_profiler(torch: Any) -> None:
    """Profilers of CUDA show the CPU, because everything runs there."""
    profile = torch.autograd.profiler.profile
    original = profile.__init__

    @functools.wraps(original)
    def init(self: Any, enabled: bool = True, **kwargs: Any) -> None:
        if kwargs.pop("use_cuda", False) or kwargs.get("use_device") == "cuda":
            kwargs["use_device"], kwargs["use_cpu"] = None, True
        original(self, enabled, **kwargs)

    profile.__init__ = init
