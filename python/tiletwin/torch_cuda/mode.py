"""The torch function mode under which device="cuda" means the CPU.

Here:      what torch functions see and return: requests for CUDA become requests for the CPU, their results are marked.
Not here:  the mark (marks.py), errors of mixes (mixes.py), what no function mode sees (patches.py), regions of autocast
           (autocast.py), kernels in Python in the place of torch's (overrides.py).
Invariant: what torch makes of marked tensors is marked, so `.cuda()` and `.cpu()` copy exactly where a GPU would.
           No tensor that was there before a call is marked by it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode

from tiletwin.torch_cuda import autocast, cuda_only, devices, overrides
from tiletwin.torch_cuda.marks import (
    HOST,
    MARK,
    asked_index,
    calling,
    index_of_mark,
    is_marked,
    mark,
    mark_as,
    mark_new,
    names_cuda,
    notice,
    place_of,
    tensors_in,
)
from tiletwin.torch_cuda.mixes import check_places
from tiletwin.torch_cuda.types import CudaTensorType

Tensor: Any = torch.Tensor  # its getters have attributes that its stub does not
_BINDING: Any = torch._C
CPU = torch.device("cpu")
PINNED = "_tiletwin_pinned"
_MORE = re.compile(r", (?:size|dtype|grad_fn|requires_grad|layout|names)=")
_PREFIX = "torch.cuda."

_IS_EXCLUDED, _PYTHON = _BINDING._dispatch_tls_is_dispatch_key_excluded, _BINDING.DispatchKey.Python
_DISPATCH_MODE, _FAKE = _BINDING._get_dispatch_mode, _BINDING._TorchDispatchModeKey.FAKE

# Getters are made anew at each access: they are equal, not identical.
_DEVICE, _IS_CUDA, _IS_CPU = Tensor.device.__get__, Tensor.is_cuda.__get__, Tensor.is_cpu.__get__
_SET_DATA = Tensor.data.__set__
_PARSE_TO = _BINDING._nn._parse_to
# Where a real tensor is, also the one of which a program that traces without data makes a fake one itself.
_PLACES = {_DEVICE, _IS_CUDA, _IS_CPU, Tensor.get_device}
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
    if y is x and index_of_mark(x) != index:
        y = x.clone()
    return y if y is x else mark(y, HOST if index is None else index)


def _formatted(x: Any, kwargs: Any) -> Callable[[], Any]:
    layout = kwargs.get("memory_format", torch.preserve_format)
    return lambda: x if layout == torch.preserve_format else x.to(memory_format=layout)


def _cuda(func: Any, x: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
    notice()
    if not (device is None or isinstance(device, int) or names_cuda(device)):
        raise RuntimeError(f"Invalid device, must be cuda device: {device}")
    return _move(x, devices.index_of(device), _formatted(x, kwargs))


def _cpu(func: Any, x: Any, **kwargs: Any) -> Any:
    return _move(x, None, _formatted(x, kwargs))


def _to(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """tensor.to(device, dtype), in any of its spellings."""
    rest: list[Any] = list(args)
    target: Any
    target, place = kwargs.get("device"), None
    for i, value in enumerate(rest):
        if isinstance(value, (str, torch.device)) or (type(value) is int and i == 0):
            target, place = value, i
        elif isinstance(value, Tensor):
            target, rest[i] = _place(value), rest[i].dtype
    if isinstance(kwargs.get("other"), Tensor):
        other = kwargs.pop("other")
        target, kwargs["dtype"] = _place(other), other.dtype
    if type(target) is int:
        target = _device(target)
    if target is None:
        return run(func, (x, *rest), kwargs)
    index = asked_index(target)
    if index is None and torch.device(target).type != "cpu":
        return func(x, *rest, **kwargs)
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
        return _move(x, devices.current(), lambda: func(x, dtype.replace(_PREFIX, "torch.", 1)))
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


def _grad(func: Any, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """torch.autograd.grad: a gradient is where its tensor is."""
    gradients = func(outputs, inputs, *args, **kwargs)
    for gradient, x in zip(gradients, (inputs,) if isinstance(inputs, Tensor) else inputs):
        if isinstance(gradient, Tensor):
            mark_as(gradient, x)
    return gradients


def _pack(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Sequences and their lengths: these are the host's, wherever the sequences are."""
    sequences, lengths = func(x, *args, **kwargs)
    return mark_as(sequences, x), mark_new(lengths, HOST, args)


def _parse_to(func: Any, *args: Any, **kwargs: Any) -> Any:
    """The arguments of Module.to. They stay as they are: tensors are moved one by one. A number means a GPU."""
    first, *rest = args or (kwargs.pop("tensor", None),)
    if type(first) is int:
        first = _device(first)
    elif isinstance(first, Tensor):
        return func(_place(first), first.dtype, *rest, **kwargs)
    return func(*([] if first is None else [first]), *rest, **kwargs)


def _set_data(func: Any, x: Any, value: Any) -> None:
    place = place_of(value)
    func(x, value)
    x.__dict__.pop(MARK, None)
    if place is not None:
        mark(x, place)


def from_data(func: Any, *args: Any, **kwargs: Any) -> Any:
    """torch.tensor, as_tensor, asarray: only where it stays on its side is memory shared with what is given."""
    data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
    before = place_of(data) if isinstance(data, Tensor) else HOST
    device = kwargs.get("device")
    if device is None:
        made = calling(before, func, *args, **kwargs)
        return made if before is None else mark_new(made, before, (data,))
    if isinstance(device, int):
        device = _device(device)
    index = asked_index(device)
    if index is not None:
        notice()
        kwargs["device"] = CPU
    elif torch.device(device).type != "cpu":
        return func(*args, **kwargs)
    pin = kwargs.pop("pin_memory", False)
    moves = func is not torch.tensor and index != (None if before == HOST else before)
    if moves and func is torch.asarray:
        if kwargs.get("copy") is False:
            raise ValueError(f"can't alias tensor with a different device than '{device}'")
        kwargs["copy"] = True
    made = calling(HOST if index is None else index, func, *args, **kwargs)
    if moves and func is torch.as_tensor:
        made = made.clone()
    if pin:
        setattr(made, PINNED, True)
    return mark_new(made, HOST if index is None else index, (data,))


_HANDLERS: dict[Any, Callable[..., Any]] = {
    _DEVICE: lambda func, x: _place(x),
    _IS_CUDA: lambda func, x: is_marked(x) or func(x),
    _IS_CPU: lambda func, x: not is_marked(x) and func(x),
    _SET_DATA: _set_data,
    Tensor.get_device: lambda func, x: x.__dict__[MARK] if is_marked(x) else func(x),
    torch.get_device: lambda func, input: input.__dict__[MARK] if is_marked(input) else func(input),
    Tensor.cuda: _cuda,
    Tensor.cpu: _cpu,
    Tensor.to: _to,
    Tensor.type: _type,
    Tensor.type_as: lambda func, x, other: _to(Tensor.to, x, other),
    torch.tensor: from_data,
    torch.as_tensor: from_data,
    torch.asarray: from_data,
    _BINDING._VariableFunctions._pack_padded_sequence: _pack,
    _BINDING._VariableFunctions._pad_packed_sequence: _pack,
    Tensor.__repr__: _repr,
    Tensor.numpy: _numpy,
    Tensor.__array__: _numpy,
    Tensor.pin_memory: _pin,
    Tensor.is_pinned: lambda func, x, *args, **kwargs: getattr(x, PINNED, False),
    Tensor.register_hook: _register_hook,
    torch.autograd.grad: _grad,
    **cuda_only.HANDLERS,
    _PARSE_TO: _parse_to,
}


class CudaOnCpu(TorchFunctionMode):
    """Runs CUDA requests on the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.device or func in _PLAIN:
            return func(*args, **kwargs)
        if is_faking(types) and not (func in _PLACES and is_marked(args[0])):
            return func(*args, **kwargs)
        for kind in types:
            if kind is not Tensor and _BINDING._is_torch_function_enabled() and _has_own_function(kind):
                return _by_subclasses(func, types, args, kwargs)
        handler = _HANDLERS.get(func)
        if handler is not None:
            return handler(func, *args, **kwargs)
        narrow = cuda_only.NARROW_HANDLERS.get(func)
        if narrow is not None and cuda_only.is_narrow(args) and not autocast.is_any_enabled():
            return narrow(func, *args, **kwargs)
        return run(func, args, kwargs)


def is_on() -> bool:
    """Whether the mode sees what this thread calls: not inside of a torch function or an operator that it handles."""
    return any(isinstance(mode, CudaOnCpu) for mode in torch.overrides._get_current_function_mode_stack())


def in_mode(function: Callable) -> Callable:
    """`function`, which C++ code of torch calls, with the mode on."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_on():
            return function(*args, **kwargs)
        with CudaOnCpu():
            return function(*args, **kwargs)

    return call


def is_faking(types: Any) -> bool:
    """Whether no data is computed on: fake tensors are on CUDA by torch's own means."""
    if _DISPATCH_MODE(_FAKE) is not None:
        return not _IS_EXCLUDED(_PYTHON)  # code that is to compute for once switches all dispatch modes off
    return any(issubclass(kind, FakeTensor) for kind in types)


@functools.cache
def _has_own_function(kind: type) -> bool:
    """Whether a subclass of Tensor has a __torch_function__ of its own."""
    own = getattr(kind.__torch_function__, "__func__", None)  # type: ignore[attr-defined]
    return issubclass(kind, Tensor) and own not in (None, Tensor.__torch_function__.__func__)


def _by_subclasses(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """What the subclasses' own __torch_function__ returns, asked as torch asks them, with the mode on."""
    for kind in types:
        if _has_own_function(kind):
            with CudaOnCpu():
                result = kind.__torch_function__(func, types, args, kwargs)
            if result is not NotImplemented:
                return result
    return func(*args, **kwargs)


def run(func: Any, args: Any, kwargs: Any) -> Any:
    """Runs any other function on the CPU. Its result is marked if the call names CUDA or if its arguments are there."""
    index: int | None = None
    device = kwargs.get("device")
    if device is not None:
        if isinstance(device, int) and not isinstance(device, bool):
            device = _device(device)
        index = asked_index(device)
        if index is not None:
            notice()
            if not _is_library_operator(func):
                kwargs = {**kwargs, "device": CPU}
    pin = kwargs.get("pin_memory")
    if pin:
        kwargs = {**kwargs, "pin_memory": False}
    for a in args:
        if type(a) is torch.device:
            device = a
            if a.type == "cuda":
                index = devices.index_of(a)
                if not _is_library_operator(func):
                    args = tuple(CPU if type(b) is torch.device and b.type == "cuda" else b for b in args)
            break
    given = tensors_in((*args, *kwargs.values())) if kwargs else tensors_in(args)
    places = [t.__dict__.get(MARK) for t in given]
    if index is not None:
        place: int | None = index
    elif device is not None:
        place = HOST if torch.device(device).type == "cpu" else None
    else:
        place = None if None in places or (not given and _is_library_operator(func)) else HOST
        for one in places:
            if one is not None and one != HOST:
                index = place = one
                break
    if len(places) > 1 and places.count(places[0]) < len(places) and not _is_library_operator(func):
        check_places(func, given)
    if index is not None and overrides.KERNELS:
        func = functools.partial(overrides.call, func)
    if autocast.is_any_enabled():
        result = calling(place, autocast.call, func, args, kwargs, index is not None)
    else:
        result = calling(place, func, *args, **kwargs)
    if result is None or result is kwargs.get("out"):
        return result
    if args and result is args[0]:
        at = place_of(result)
        if device is None or place is None or place == (HOST if at is None else at):
            return result  # in place: it stays where it was
        return mark(result.clone(), place)
    if pin and isinstance(result, Tensor) and index is None:
        setattr(result, PINNED, True)
    if place is not None:
        if device is None and places.count(place) < len(places):
            _mark_views(result, given)
        if device is None:
            mark_new(result, place, given if None in places else ())
        else:  # whatever code in Python marked it as, which was asked for the CPU
            mark([made for made in tensors_in((result,)) if not any(made is t for t in given)], place)
    return result


def _is_library_operator(func: Any) -> bool:
    """Whether kernels that libraries wrote take the arguments: they get the device that the call names."""
    kinds = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
    return isinstance(func, kinds) and not str(func).startswith(("aten.", "prims."))


def _mark_views(result: Any, given: list[Any]) -> None:
    """Of tensors on several sides: what shares memory with one of them is where that is."""
    for made in tensors_in((result,)):
        base = next((t for t in given if t is not made and _BINDING._is_alias_of(made, t)), None)
        if base is not None and not any(made is t for t in given) and MARK not in made.__dict__:
            mark_as(made, base)
