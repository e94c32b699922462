"""torch.cuda on a machine without CUDA, while kernels are interpreted: scripts that say device="cuda" run on the CPU.

Here:      the torch function mode that maps devices, the notice.
Not here:  the functions of torch.cuda (torch_cuda.py), launches (they see CPU tensors), `triton.runtime.driver`.
Invariant: a tensor that "lives on cuda" is a CPU tensor with the attribute MARK; its `.device` and `.is_cuda` say cuda.
What torch makes of marked tensors is marked too, so `.cuda()` and `.cpu()` copy exactly where they would copy on a GPU.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from tiletwin import _C, torch_cuda

MARK = "_tiletwin_cuda"

_mode: Any = None


def is_installed() -> bool:
    return _mode is not None


def prepare(torch: Any) -> None:
    """Called when torch has been imported in a process that interprets kernels."""
    _quiet_compiler(torch)
    if not torch.cuda.is_available():
        install(torch)


def _quiet_compiler(torch: Any) -> None:
    """torch.compile would generate Triton code of its own, for a GPU: it returns the model as it is, and says so."""
    original = torch.compile

    @functools.wraps(original)
    def compile(model: Any = None, **kwargs: Any) -> Any:
        print(
            "tiletwin: torch.compile does nothing while kernels are interpreted (Inductor needs a GPU's Triton); "
            "the model runs uncompiled",
            file=sys.stderr,
        )
        return (lambda fn: fn) if model is None else model

    torch.compile = compile
    try:
        from torch.utils import _triton
    except ImportError:
        return
    for name in ("has_triton_package", "has_triton"):
        if hasattr(_triton, name):
            setattr(_triton, name, lambda: False)


def _is_cuda(torch: Any, device: Any) -> bool:
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return isinstance(device, str) and device.partition(":")[0] == "cuda"


def _marked(value: Any) -> bool:
    return getattr(value, "__dict__", None) is not None and MARK in value.__dict__


def install(torch: Any) -> None:
    """Maps CUDA to the CPU for the rest of the process."""
    global _mode
    if _mode is not None:
        return
    torch_cuda.patch(torch)
    _patch_torch(torch)
    _mode = _make_mode(torch)
    _mode.__enter__()
    _C.set_torch_guard(torch._C.DisableTorchFunction)


def _notice() -> None:
    """Says once what is going on; called when a script first asks for CUDA."""
    if not _notice.said:  # type: ignore[attr-defined]
        _notice.said = True  # type: ignore[attr-defined]
        print("tiletwin: there is no CUDA here: device 'cuda' is emulated on the CPU", file=sys.stderr)


_notice.said = False  # type: ignore[attr-defined]


def _make_mode(torch: Any) -> Any:
    from torch.overrides import TorchFunctionMode

    Tensor = torch.Tensor
    cuda0, cpu = torch.device("cuda", 0), torch.device("cpu")
    device_get, is_cuda_get, is_cpu_get = Tensor.device.__get__, Tensor.is_cuda.__get__, Tensor.is_cpu.__get__
    data_set = Tensor.data.__set__
    plain_queries = {
        Tensor.shape.__get__, Tensor.dtype.__get__, Tensor.ndim.__get__, Tensor.requires_grad.__get__,
        Tensor.size, Tensor.stride,
        Tensor.numel, Tensor.data_ptr, Tensor.dim, Tensor.is_contiguous, Tensor.element_size, Tensor.untyped_storage,
        Tensor.storage_offset, Tensor.__repr__, Tensor.__len__, Tensor.item, Tensor.tolist, Tensor.__bool__,
        Tensor.__format__,
    }  # fmt: skip

    def mark(value: Any) -> Any:
        if isinstance(value, Tensor):
            value.__dict__[MARK] = True
        elif isinstance(value, (tuple, list)):
            for item in value:
                mark(item)
        return value

    def any_marked(values: Any) -> bool:
        for value in values:
            if isinstance(value, Tensor):
                if MARK in value.__dict__:
                    return True
            elif isinstance(value, (tuple, list)) and any_marked(value):
                return True
        return False

    def move(x: Any, to_cuda: bool, moved: Callable[[], Any]) -> Any:
        """The result of moving x: a copy if it changes sides, else what torch makes of it."""
        y = moved()
        if MARK in x.__dict__:
            if to_cuda:
                return mark(y)
            if y is x:
                y = x.detach().clone().requires_grad_(x.requires_grad) if x.is_leaf else x.clone()
            y.__dict__.pop(MARK, None)
            return y
        if not to_cuda:
            return y
        return mark(x.clone() if y is x else y)

    def has_cuda(device: Any) -> bool:
        return device is not None and _is_cuda(torch, device)

    class CudaOnCpu(TorchFunctionMode):
        """Runs CUDA requests on the CPU."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if func is torch.device or func in plain_queries:
                return func(*args, **kwargs)
            x = args[0] if args else None
            if func == device_get:  # wrappers are made anew: equal, not identical
                return cuda0 if _marked(x) else func(*args)
            if func == is_cuda_get:
                return _marked(x)
            if func == is_cpu_get:
                return not _marked(x) and func(*args)
            if func is Tensor.get_device:
                return 0 if _marked(x) else func(*args)
            if func is Tensor.cuda:
                _notice()
                return move(x, True, lambda: x)
            if func is Tensor.cpu:
                return move(x, False, lambda: x)
            if func is Tensor.pin_memory:
                return x
            if func is Tensor.is_pinned:
                return False
            if func is Tensor.to:
                return self._to(func, args, kwargs)
            if func == data_set:
                result = func(*args, **kwargs)
                if _marked(args[1]):
                    mark(x)
                return result
            to_cuda = False
            device = kwargs.get("device")
            if device is not None:
                if isinstance(device, int) and not isinstance(device, bool):
                    device = torch.device("cuda", device)
                to_cuda = has_cuda(device)
                if to_cuda:
                    _notice()
                    kwargs = {**kwargs, "device": cpu}
            if kwargs.get("pin_memory"):
                kwargs = {**kwargs, "pin_memory": False}
            if any(type(a) is torch.device and a.type == "cuda" for a in args):
                to_cuda = True
                args = tuple(cpu if type(a) is torch.device and a.type == "cuda" else a for a in args)
            result = func(*args, **kwargs)
            if to_cuda or (device is None and (any_marked(args) or any_marked(kwargs.values()))):
                mark(result)
                if isinstance(x, Tensor) and result is None and any_marked(args[1:]):
                    mark(x)
            return result

        def _to(self, func: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
            x = args[0]
            rest = list(args[1:])
            target = kwargs.get("device")
            place = None
            for i, value in enumerate(rest):
                if isinstance(value, (str, torch.device)) or (type(value) is int and i == 0):
                    target, place = value, i
                elif isinstance(value, Tensor):
                    like: Any = value
                    target = cuda0 if _marked(like) else like.device
                    rest[i] = like.dtype
            if type(target) is int:
                target = torch.device("cuda", target)
            if target is None:
                result = func(x, *rest, **kwargs)
                return mark(result) if _marked(x) else result
            to_cuda = has_cuda(target)
            if to_cuda:
                _notice()
            if place is not None and to_cuda:
                rest[place] = cpu
            elif to_cuda and "device" in kwargs:
                kwargs = {**kwargs, "device": cpu}
            kwargs = {k: v for k, v in kwargs.items() if k != "non_blocking"}
            return move(x, to_cuda, lambda: func(x, *rest, **kwargs))

    return CudaOnCpu()


def _patch_torch(torch: Any) -> None:
    """What no function mode sees: functions that torch calls below it, or before it asks for a mode."""
    # `with torch.device("cuda")` and set_default_device may add `device=` below this module's mode: it is done here.
    from torch.utils import _device

    original = _device.DeviceContext.__torch_function__

    def device_context(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.device.type != "cuda":
            return original(self, func, types, args, kwargs)
        kwargs = kwargs or {}
        if func in _device._device_constructors() and kwargs.get("device") is None:
            _notice()
            result = func(*args, **{**kwargs, "device": torch.device("cpu")})
            if isinstance(result, torch.Tensor):
                result.__dict__[MARK] = True
            return result
        return func(*args, **kwargs)

    _device.DeviceContext.__torch_function__ = device_context

    load = torch.load

    @functools.wraps(load)
    def load_on_cpu(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if map_location is None or (isinstance(map_location, (str, torch.device)) and _is_cuda(torch, map_location)):
            map_location = "cpu"
        return load(f, map_location, *args, **kwargs)

    torch.load = load_on_cpu

    # Modules are moved by tensors' own methods; the short cut `.cuda()` asks for a device first.
    torch.nn.Module.cuda = lambda self, device=None: self.to("cuda")
