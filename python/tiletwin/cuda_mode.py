"""The torch function mode under which device="cuda" means the CPU.

Here:      what torch functions see and return: requests for CUDA become requests for the CPU, their results are marked.
Not here:  the mark (cuda_marks.py), what no function mode sees (cuda_patches.py).
Invariant: what torch makes of marked tensors is marked, so `.cuda()` and `.cpu()` copy exactly where a GPU would.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tiletwin import cuda_devices
from tiletwin.cuda_marks import MARK, any_mark, asked_index, index_of_mark, is_marked, mark, mark_as, notice
from tiletwin.cuda_types import CudaTensorType

Tensor: Any = torch.Tensor  # its getters have attributes that its stub does not
_BINDING: Any = torch._C
CPU = torch.device("cpu")
PINNED = "_tiletwin_pinned"
_MORE = re.compile(r", (?:size|dtype|grad_fn|requires_grad|layout|names)=")
_PREFIX = "torch.cuda."

# Getters are made anew at each access: they are equal, not identical.
_DEVICE, _IS_CUDA, _IS_CPU = Tensor.device.__get__, Tensor.is_cuda.__get__, Tensor.is_cpu.__get__
_SET_DATA = Tensor.data.__set__
_PARSE_TO = _BINDING._nn._parse_to
# Neither their arguments nor their results name a device.
_PLAIN = {
    Tensor.shape.__get__, Tensor.dtype.__get__, Tensor.ndim.__get__, Tensor.requires_grad.__get__,
    Tensor.size, Tensor.stride, Tensor.numel, Tensor.data_ptr, Tensor.dim, Tensor.is_contiguous, Tensor.element_size,
    Tensor.untyped_storage, Tensor.storage_offset, Tensor.__len__, Tensor.item, Tensor.tolist, Tensor.__bool__,
    Tensor.__format__,
}  # fmt: skip


@functools.lru_cache(maxsize=64)
def _device(index: int) -> torch.device:
    return torch.device("cuda", index)


def _place(x: Any) -> torch.device:
    """Where a tensor is for the script. No mode is on in a handler: there `x.device` is where it really is."""
    index = index_of_mark(x)
    return x.device if index is None else _device(index)


def _move(x: Any, index: int | None, moved: Callable[[], Any]) -> Any:
    """The result of moving x to a device, or (None) to the host: a copy if it changes places, else what torch makes."""
    y = moved()
    before = index_of_mark(x)
    if y is x and before != index:
        y = x.clone()
    if index is not None:
        return mark(y, index)
    if before is not None:
        y.__dict__.pop(MARK, None)
    return y


def _cuda(func: Any, x: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
    notice()
    return _move(x, cuda_devices.index_of(device), lambda: x)


def _cpu(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return _move(x, None, lambda: x)


def _to(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """tensor.to(device, dtype), in any of its spellings."""
    rest: list[Any] = list(args)
    target: Any
    target, place = kwargs.get("device"), None
    for i, value in enumerate(rest):
        if isinstance(value, (str, torch.device)) or (type(value) is int and i == 0):
            target, place = value, i
        elif isinstance(value, torch.Tensor):
            target, rest[i] = _place(value), value.dtype
    if isinstance(kwargs.get("other"), Tensor):
        other = kwargs.pop("other")
        target, kwargs["dtype"] = _place(other), other.dtype
    if type(target) is int:
        target = _device(target)
    if target is None:
        return mark_as(func(x, *rest, **kwargs), x)
    index = asked_index(target)
    if index is not None:
        notice()
        if place is not None:
            rest[place] = CPU
        elif "device" in kwargs:
            kwargs["device"] = CPU
    kwargs.pop("non_blocking", None)
    return _move(x, index, lambda: func(x, *rest, **kwargs))


def _type(func: Any, x: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """tensor.type(), tensor.type(dtype): a name that begins with torch.cuda is one of the emulated device."""
    if isinstance(dtype, CudaTensorType):
        dtype = f"{_PREFIX}{dtype.__name__}"
    if dtype is None:
        text = func(x)
        return text.replace("torch.", _PREFIX, 1) if is_marked(x) else text
    if isinstance(dtype, str) and dtype.startswith(_PREFIX):
        return _move(x, cuda_devices.current(), lambda: func(x, dtype.replace(_PREFIX, "torch.", 1)))
    if isinstance(dtype, str) and dtype.startswith("torch."):
        return _move(x, None, lambda: func(x, dtype))
    return mark_as(func(x, dtype, *args, **kwargs), x)


def _repr(func: Any, x: Any, **kwargs: Any) -> str:
    """As on a GPU: the device stands behind the numbers."""
    text = func(x, **kwargs)
    if not is_marked(x) or not text.endswith(")"):
        return text
    more = _MORE.search(text)
    end = more.start() if more else len(text) - 1
    return f"{text[:end]}, device='{_place(x)}'{text[end:]}"


def _numpy(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if is_marked(x):
        raise TypeError(
            f"can't convert {_place(x)} device type tensor to numpy: tensor.cpu() copies it to the host's memory"
        )
    return func(x, *args, **kwargs)


def _pin(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if is_marked(x):
        raise RuntimeError(f"cannot pin '{x.type()}': only dense CPU tensors can be pinned")
    if getattr(x, PINNED, False):
        return x
    pinned = x.clone()
    setattr(pinned, PINNED, True)
    return pinned


def _register_hook(func: Any, x: Any, hook: Callable, **kwargs: Any) -> Any:
    """Gradients come from C++ without a mark."""
    if not is_marked(x):
        return func(x, hook, **kwargs)
    return func(x, lambda gradient: hook(mark_as(gradient, x)), **kwargs)


def _parse_to(func: Any, *args: Any, **kwargs: Any) -> Any:
    """The arguments of Module.to. They stay as they are: tensors are moved one by one. A number means a GPU."""
    first, *rest = args or (kwargs.pop("tensor", None),)
    if type(first) is int:
        first = _device(first)
    elif isinstance(first, Tensor):
        return func(_place(first), first.dtype, *rest, **kwargs)
    return func(*([] if first is None else [first]), *rest, **kwargs)


def _set_data(func: Any, x: Any, value: Any) -> None:
    func(x, value)
    if is_marked(value):
        mark_as(x, value)
    else:
        x.__dict__.pop(MARK, None)


_HANDLERS: dict[Any, Callable[..., Any]] = {
    _DEVICE: lambda func, x: _place(x),
    _IS_CUDA: lambda func, x: is_marked(x) or func(x),
    _IS_CPU: lambda func, x: not is_marked(x) and func(x),
    _SET_DATA: _set_data,
    Tensor.get_device: lambda func, x: x.__dict__[MARK] if is_marked(x) else func(x),
    Tensor.cuda: _cuda,
    Tensor.cpu: _cpu,
    Tensor.to: _to,
    Tensor.type: _type,
    Tensor.__repr__: _repr,
    Tensor.numpy: _numpy,
    Tensor.__array__: _numpy,
    Tensor.pin_memory: _pin,
    Tensor.is_pinned: lambda func, x, *args: getattr(x, PINNED, False),
    Tensor.register_hook: _register_hook,
    _PARSE_TO: _parse_to,
}


class CudaOnCpu(TorchFunctionMode):
    """Runs CUDA requests on the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.device or func in _PLAIN:
            return func(*args, **kwargs)
        handler = _HANDLERS.get(func)
        if handler is not None:
            return handler(func, *args, **kwargs)
        return _run(func, args, kwargs)


def marks_new_tensors() -> bool:
    """Whether tensors that are made here get a device. Inside of an operator that torch runs they do not: its functions
    run below this mode."""
    return any(isinstance(mode, CudaOnCpu) for mode in torch.overrides._get_current_function_mode_stack())


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    """Any other function: on the CPU; its result is marked if CUDA was asked for, or was where its arguments are."""
    index: int | None = None
    device = kwargs.get("device")
    if device is not None:
        if isinstance(device, int) and not isinstance(device, bool):
            device = _device(device)
        index = asked_index(device)
        if index is not None:
            notice()
            kwargs = {**kwargs, "device": CPU}
    pin = kwargs.get("pin_memory")
    if pin:
        kwargs = {**kwargs, "pin_memory": False}
    for a in args:
        if type(a) is torch.device and a.type == "cuda":
            index = cuda_devices.index_of(a)
            args = tuple(CPU if type(b) is torch.device and b.type == "cuda" else b for b in args)
            break
    result = func(*args, **kwargs)
    if result is None or result is kwargs.get("out") or (args and result is args[0]):
        return result  # in place: it stays where it was
    if device is None and index is None:
        index = any_mark(args)
        if index is None:
            index = any_mark(kwargs.values())
    if index is not None:
        mark(result, index)
    elif pin and isinstance(result, Tensor):
        setattr(result, PINNED, True)
    return result
