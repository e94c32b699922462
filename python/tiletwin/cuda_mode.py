"""The torch function mode under which device="cuda" means the CPU.

Here:      what torch functions see and return: requests for CUDA become requests for the CPU, their results are marked.
Not here:  the mark (cuda_marks.py), what no function mode sees (cuda_patches.py).
Invariant: what torch makes of marked tensors is marked, so `.cuda()` and `.cpu()` copy exactly where a GPU would.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tiletwin.cuda_marks import MARK, any_marked, is_marked, mark, names_cuda, notice

Tensor: Any = torch.Tensor  # its getters have attributes that its stub does not
CUDA0, CPU = torch.device("cuda", 0), torch.device("cpu")
PINNED = "_tiletwin_pinned"
_MORE = re.compile(r", (?:size|dtype|grad_fn|requires_grad|layout|names)=")
_PREFIX = "torch.cuda."

# Getters are made anew at each access: they are equal, not identical.
_DEVICE, _IS_CUDA, _IS_CPU = Tensor.device.__get__, Tensor.is_cuda.__get__, Tensor.is_cpu.__get__
_SET_DATA = Tensor.data.__set__
# Neither their arguments nor their results name a device.
_PLAIN = {
    Tensor.shape.__get__, Tensor.dtype.__get__, Tensor.ndim.__get__, Tensor.requires_grad.__get__,
    Tensor.size, Tensor.stride, Tensor.numel, Tensor.data_ptr, Tensor.dim, Tensor.is_contiguous, Tensor.element_size,
    Tensor.untyped_storage, Tensor.storage_offset, Tensor.__len__, Tensor.item, Tensor.tolist, Tensor.__bool__,
    Tensor.__format__,
}  # fmt: skip


def _move(x: Any, to_cuda: bool, moved: Callable[[], Any]) -> Any:
    """The result of moving x: a copy if it changes sides, else what torch makes of it."""
    y = moved()
    if is_marked(x):
        if to_cuda:
            return mark(y)
        if y is x:
            y = x.detach().clone().requires_grad_(x.requires_grad) if x.is_leaf else x.clone()
        y.__dict__.pop(MARK, None)
        return y
    if not to_cuda:
        return y
    return mark(x.clone() if y is x else y)


def _cuda(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    notice()
    return _move(x, True, lambda: x)


def _cpu(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return _move(x, False, lambda: x)


def _to(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """tensor.to(device, dtype), in any of its spellings."""
    rest: list[Any] = list(args)
    target: Any
    target, place = kwargs.get("device"), None
    for i, value in enumerate(rest):
        if isinstance(value, (str, torch.device)) or (type(value) is int and i == 0):
            target, place = value, i
        elif isinstance(value, torch.Tensor):
            target = CUDA0 if is_marked(value) else value.device
            rest[i] = value.dtype
    if isinstance(kwargs.get("other"), Tensor):
        other = kwargs.pop("other")
        target, kwargs["dtype"] = (CUDA0 if is_marked(other) else other.device), other.dtype
    if type(target) is int:
        target = torch.device("cuda", target)
    if target is None:
        result = func(x, *rest, **kwargs)
        return mark(result) if is_marked(x) else result
    to_cuda = names_cuda(target)
    if to_cuda:
        notice()
        if place is not None:
            rest[place] = CPU
        elif "device" in kwargs:
            kwargs["device"] = CPU
    kwargs.pop("non_blocking", None)
    return _move(x, to_cuda, lambda: func(x, *rest, **kwargs))


def _type(func: Any, x: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """tensor.type(), tensor.type(dtype): a name that begins with torch.cuda is one of the emulated device."""
    if dtype is None:
        text = func(x)
        return text.replace("torch.", _PREFIX, 1) if is_marked(x) else text
    if isinstance(dtype, str) and dtype.startswith(_PREFIX):
        return _move(x, True, lambda: func(x, dtype.replace(_PREFIX, "torch.", 1)))
    if isinstance(dtype, str) and dtype.startswith("torch."):
        return _move(x, False, lambda: func(x, dtype))
    result = func(x, dtype, *args, **kwargs)
    return mark(result) if is_marked(x) else result


def _repr(func: Any, x: Any, **kwargs: Any) -> str:
    """As on a GPU: the device stands behind the numbers."""
    text = func(x, **kwargs)
    if not is_marked(x) or not text.endswith(")"):
        return text
    more = _MORE.search(text)
    end = more.start() if more else len(text) - 1
    return f"{text[:end]}, device='{CUDA0}'{text[end:]}"


def _numpy(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if is_marked(x):
        raise TypeError("can't convert cuda:0 device type tensor to numpy: tensor.cpu() copies it to the host's memory")
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
    return func(x, lambda gradient: hook(mark(gradient)), **kwargs)


def _set_data(func: Any, x: Any, value: Any) -> None:
    func(x, value)
    if is_marked(value):
        mark(x)
    else:
        x.__dict__.pop(MARK, None)


_HANDLERS: dict[Any, Callable[..., Any]] = {
    _DEVICE: lambda func, x: CUDA0 if is_marked(x) else func(x),
    _IS_CUDA: lambda func, x: is_marked(x),
    _IS_CPU: lambda func, x: not is_marked(x) and func(x),
    _SET_DATA: _set_data,
    Tensor.get_device: lambda func, x: 0 if is_marked(x) else func(x),
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


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    """Any other function: on the CPU; its result is marked if CUDA was asked for, or was where its arguments are."""
    to_cuda = False
    device = kwargs.get("device")
    if device is not None:
        if isinstance(device, int) and not isinstance(device, bool):
            device = torch.device("cuda", device)
        to_cuda = names_cuda(device)
        if to_cuda:
            notice()
            kwargs = {**kwargs, "device": CPU}
    pin = kwargs.get("pin_memory")
    if pin:
        kwargs = {**kwargs, "pin_memory": False}
    if any(type(a) is torch.device and a.type == "cuda" for a in args):
        to_cuda = True
        args = tuple(CPU if type(a) is torch.device and a.type == "cuda" else a for a in args)
    result = func(*args, **kwargs)
    if result is None or result is kwargs.get("out") or (args and result is args[0]):
        return result  # in place: it stays where it was
    if to_cuda or (device is None and (any_marked(args) or any_marked(kwargs.values()))):
        mark(result)
    elif pin and isinstance(result, Tensor):
        setattr(result, PINNED, True)
    return result
