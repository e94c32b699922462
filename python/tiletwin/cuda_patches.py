"""Where CUDA is emulated on the CPU: what no torch function mode sees, replaced one by one.

Here:      device contexts, loading, modules, parameters, generators, autograd functions, function transforms, threads.
Not here:  torch.cuda (torch_cuda.py), functions of tensors (cuda_mode.py).
Invariant: a replacement does what the original does, and moves the mark along.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from tiletwin import cuda_devices
from tiletwin.cuda_generator import default_generator
from tiletwin.cuda_marks import (
    any_mark,
    asked_index,
    index_of_mark,
    is_marked,
    mark,
    mark_as,
    notice,
    set_marks,
)

_ON_CUDA = "_tiletwin_on_cuda"
_SAVED = "_tiletwin_saved"


def patch(torch: Any, mode: Callable[[], Any]) -> None:
    """Replaces the functions for the rest of the process. `mode` makes the function mode of a new thread."""
    _patch_device_context(torch)
    _patch_load(torch)
    _patch_parameters(torch)
    _patch_generator(torch)
    _patch_autograd(torch)
    _patch_backward(torch, mode)
    _patch_transforms(torch)
    _patch_threads(mode)
    # Modules are moved by tensors' own methods; the short cut `.cuda()` asks for a device first.
    torch.nn.Module.cuda = lambda self, device=None: self.to(torch.device("cuda", cuda_devices.index_of(device)))
    # The stream is checked before any mode sees the call.
    torch.Tensor.record_stream = lambda self, stream: None


def _patch_device_context(torch: Any) -> None:
    """`with torch.device("cuda")` and set_default_device may add `device=` below the mode: it is done here."""
    from torch.utils import _device

    original = _device.DeviceContext.__torch_function__

    def device_context(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.device.type != "cuda":
            return original(self, func, types, args, kwargs)
        kwargs = kwargs or {}
        if func in _device._device_constructors() and kwargs.get("device") is None:
            notice()
            made = func(*args, **{**kwargs, "device": torch.device("cpu")})
            return mark(made, cuda_devices.index_of(self.device))
        return func(*args, **kwargs)

    _device.DeviceContext.__torch_function__ = device_context


def _patch_load(torch: Any) -> None:
    """`torch.load` reads to the CPU; what was on CUDA when it was saved, or is mapped there, is marked."""
    load = torch.load

    @functools.wraps(load)
    def load_on_cpu(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if map_location is None or callable(map_location) or isinstance(map_location, dict):
            where = "cpu" if map_location is None else map_location
            return load(f, where, *args, **kwargs)
        index = asked_index(map_location)
        loaded = load(f, map_location if index is None else "cpu", *args, **kwargs)
        set_marks(loaded, index)
        return loaded

    torch.load = load_on_cpu


def _patch_parameters(torch: Any) -> None:
    """Parameters, buffers and other subclasses are made of a tensor below the mode."""
    as_subclass = torch.Tensor.as_subclass

    def as_marked(self: Any, cls: Any) -> Any:
        return mark_as(as_subclass(self, cls), self)

    def new_marked(new: Callable) -> Callable:
        @functools.wraps(new)
        def make(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
            return mark_as(new(cls, data, *args, **kwargs), data)

        return make

    make_wrapper = torch.Tensor._make_wrapper_subclass

    def wrapper_marked(cls: Any, *args: Any, **kwargs: Any) -> Any:
        """Of a subclass that holds other tensors and says where it is itself."""
        index = asked_index(kwargs.get("device"))
        if index is None:
            return make_wrapper(cls, *args, **kwargs)
        return mark(make_wrapper(cls, *args, **{**kwargs, "device": torch.device("cpu")}), index)

    torch.Tensor.as_subclass = as_marked
    torch.Tensor._make_wrapper_subclass = staticmethod(wrapper_marked)
    for kind in (torch.nn.Parameter, torch.nn.Buffer):
        kind.__new__ = new_marked(kind.__new__)


def _patch_generator(torch: Any) -> None:
    """`torch.Generator("cuda")` is one of the CPU that says otherwise."""
    original = torch.Generator

    class AnyGenerator(type(original)):
        def __instancecheck__(self, value: Any) -> bool:
            return isinstance(value, original)

    class Generator(original, metaclass=AnyGenerator):  # type: ignore[misc, valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            index = asked_index(device)
            made = original.__new__(cls, device if index is None else "cpu")
            made.cuda_index = index
            return made

        @property
        def device(self) -> Any:
            index = self.cuda_index
            return original.device.__get__(self) if index is None else torch.device("cuda", index)

    Generator.__qualname__ = "Generator"
    Generator.__module__ = "torch"
    torch.Generator = Generator
    torch.cuda.default_generators = tuple(
        default_generator(torch, Generator, index) for index in range(cuda_devices.count())
    )


def _patch_autograd(torch: Any) -> None:
    """In `backward`, gradients and saved tensors are made in C++: they are marked as those of `forward` were."""
    function = torch.autograd.function
    Function, Backward, base = torch.autograd.Function, function.BackwardCFunction, torch._C._FunctionBase
    apply, save, backward = Function.apply.__func__, function.FunctionCtx.save_for_backward, Backward.apply

    def apply_marked(cls: Any, *args: Any, **kwargs: Any) -> Any:
        result = apply(cls, *args, **kwargs)
        for output in result if isinstance(result, (tuple, list)) else (result,):
            if is_marked(output) and isinstance(output.grad_fn, Backward):
                setattr(output.grad_fn, _ON_CUDA, index_of_mark(output))
        return result

    def save_marks(self: Any, *tensors: Any) -> None:
        setattr(self, _SAVED, [index_of_mark(t) for t in tensors])
        save(self, *tensors)

    def saved_marked(self: Any) -> tuple:
        saved = base.saved_tensors.__get__(self)
        for tensor, index in zip(saved, getattr(self, _SAVED, ())):
            if index is not None:
                mark(tensor, index)
        return saved

    def backward_marked(self: Any, *gradients: Any) -> Any:
        index = getattr(self, _ON_CUDA, None)
        if index is not None:
            mark(gradients, index)
        return backward(self, *gradients)

    Function.apply = classmethod(apply_marked)
    function.FunctionCtx.save_for_backward = save_marks
    Backward.saved_tensors = property(saved_marked)
    Backward.apply = backward_marked


def _patch_backward(torch: Any, mode: Callable[[], Any]) -> None:
    """`tensor.backward()` is a torch function itself: while it runs, and calls Python, the mode would be off."""
    run = torch.autograd._engine_run_backward

    def run_in_mode(*args: Any, **kwargs: Any) -> Any:
        if torch._C._len_torch_function_stack() > 0:
            return run(*args, **kwargs)
        with mode():
            return run(*args, **kwargs)

    torch.autograd._engine_run_backward = run_in_mode


def _patch_transforms(torch: Any) -> None:
    """What `torch.func.grad(f)` and the like return is as the arguments are."""
    for name in "vmap grad grad_and_value vjp jvp jacrev jacfwd hessian".split():
        transform = getattr(torch.func, name)
        setattr(torch.func, name, _marking_result(transform, at_once=name in ("vjp", "jvp")))


def _marking_result(transform: Callable, at_once: bool) -> Callable:
    """`transform`, whose result (at_once) or whose result's result is marked if a tensor among the arguments is."""

    def marking(function: Callable) -> Callable:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            index = any_mark(args)
            return result if index is None else mark(result, index)

        return call

    if at_once:
        return marking(transform)
    return functools.wraps(transform)(lambda *args, **kwargs: marking(transform(*args, **kwargs)))


def _patch_threads(mode: Callable[[], Any]) -> None:
    """A function mode holds in one thread only."""
    bootstrap = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def bootstrap_in_mode(self: threading.Thread) -> None:
        with mode():
            bootstrap(self)

    threading.Thread._bootstrap_inner = bootstrap_in_mode  # type: ignore[attr-defined]
