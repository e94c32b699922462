"""Where CUDA is emulated on the CPU: what no torch function mode sees, replaced one by one.

Here:      device contexts, data of other libraries, modules, parameters, generators, autograd functions, function
           transforms, scripted functions, threads.
Not here:  torch.cuda (__init__.py), functions of tensors (mode.py).
Invariant: a replacement does what the original does, and moves the mark along.
"""

from __future__ import annotations

import _thread
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

from tiletwin.torch_cuda import devices
from tiletwin.torch_cuda.generator import default_generator
from tiletwin.torch_cuda.marks import (
    HOST,
    any_mark,
    asked_index,
    index_of_mark,
    is_marked,
    mark,
    mark_as,
    mark_new,
    notice,
    place_of,
    tensors_in,
)
from tiletwin.torch_cuda.mode import CudaOnCpu, from_data, in_mode, is_faking
from tiletwin.torch_cuda.overrides import seeing

_ON_CUDA = "_tiletwin_on_cuda"
_SAVED = "_tiletwin_saved"
_own = threading.local()


def patch(torch: Any) -> None:
    """Replaces the functions for the rest of the process."""
    _patch_device_context(torch)
    _patch_data(torch)
    _patch_parameters(torch)
    _patch_generator(torch)
    _patch_autograd(torch)
    _patch_transforms(torch)
    _patch_scripts(torch)
    _patch_threads(torch)
    # `tensor.backward()` is a torch function itself: while it runs, and calls Python, the mode would be off.
    torch.autograd._engine_run_backward = in_mode(seeing(torch.autograd._engine_run_backward))
    # The stream is checked before any mode sees the call.
    torch.Tensor.record_stream = lambda self, stream: None


def _patch_device_context(torch: Any) -> None:
    """`with torch.device("cuda")` and set_default_device may add `device=` below the mode: it is done here."""
    from torch.utils import _device

    original = _device.DeviceContext.__torch_function__

    @functools.wraps(original)
    def device_context(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.device.type != "cuda" or is_faking(types):
            return original(self, func, types, args, kwargs)
        kwargs = kwargs or {}
        if func in _device._device_constructors() and kwargs.get("device") is None:
            notice()
            if func in (torch.tensor, torch.as_tensor, torch.asarray):
                with torch._C.DisableTorchFunction():
                    return from_data(func, *args, **{**kwargs, "device": self.device})
            made = func(*args, **{**kwargs, "device": torch.device("cpu")})
            return mark(made, devices.index_of(self.device))
        return func(*args, **kwargs)

    _device.DeviceContext.__torch_function__ = device_context


def _patch_data(torch: Any) -> None:
    """Tensors of other libraries' memory: the host's, unless they were a tensor before."""
    for name in ("from_numpy", "frombuffer", "from_file"):
        setattr(torch, name, _on_host(getattr(torch, name)))
    torch.from_dlpack = torch.utils.dlpack.from_dlpack = _marked_as(torch.utils.dlpack.from_dlpack, 0, "ext_tensor")
    nested = torch.nested
    for name in ("nested_tensor", "as_nested_tensor"):
        setattr(nested, name, _nested(getattr(nested, name), torch.device("cpu")))


def _marked_as(make: Callable, position: int, name: str) -> Callable:
    """`make`, whose result is where its argument is that stands at `position` or goes by that name."""

    @functools.wraps(make)
    def make_marked(*args: Any, **kwargs: Any) -> Any:
        like = args[position] if len(args) > position else kwargs.get(name)
        return mark_as(make(*args, **kwargs), like)

    return make_marked


def _on_host(make: Callable) -> Callable:
    return functools.wraps(make)(lambda *args, **kwargs: mark(make(*args, **kwargs), HOST))


def _nested(make: Callable, cpu: Any) -> Callable:
    """Nested tensors are made in C++, which would look for a GPU."""

    @functools.wraps(make)
    def make_marked(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        index = any_mark((tensors,))
        if kwargs.get("device") is not None:
            index = asked_index(kwargs["device"])
            kwargs["device"] = kwargs["device"] if index is None else cpu
        made = make(tensors, *args, **kwargs)
        return made if index is None else mark(made, index)

    return make_marked


def _patch_parameters(torch: Any) -> None:
    """Parameters, buffers and other subclasses are made of a tensor below the mode."""
    make_wrapper = torch.Tensor._make_wrapper_subclass

    @functools.wraps(make_wrapper)
    def wrapper_marked(cls: Any, *args: Any, **kwargs: Any) -> Any:
        """Of a subclass that holds other tensors and says where it is itself."""
        index = asked_index(kwargs.get("device"))
        if index is None:
            return make_wrapper(cls, *args, **kwargs)
        return mark(make_wrapper(cls, *args, **{**kwargs, "device": torch.device("cpu")}), index)

    torch.Tensor.__new__ = _marked_as(torch._C.TensorBase.__new__, 1, "data")
    torch.Tensor._make_subclass = staticmethod(_marked_as(torch.Tensor._make_subclass, 1, "data"))
    torch.Tensor.as_subclass = _marked_as(torch.Tensor.as_subclass, 0, "self")
    torch.Tensor._make_wrapper_subclass = staticmethod(wrapper_marked)
    for kind in (torch.nn.Parameter, torch.nn.Buffer):
        kind.__new__ = _marked_as(kind.__new__, 1, "data")


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
        default_generator(torch, Generator, index) for index in range(devices.count())
    )


def _patch_autograd(torch: Any) -> None:
    """In `backward`, gradients and saved tensors are made in C++: they are marked as those of `forward` were."""
    function = torch.autograd.function
    Function, Backward, base = torch.autograd.Function, function.BackwardCFunction, torch._C._FunctionBase
    apply = Function.__dict__["apply"]  # a class method of Python, or from torch 2.14 on of C++
    save, backward = function.FunctionCtx.save_for_backward, Backward.apply

    def apply_marked(cls: Any, *args: Any, **kwargs: Any) -> Any:
        result = apply.__get__(None, cls)(*args, **kwargs)
        for output in result if isinstance(result, (tuple, list)) else (result,):
            if is_marked(output) and isinstance(output.grad_fn, Backward):
                setattr(output.grad_fn, _ON_CUDA, index_of_mark(output))
        return result

    def save_marks(self: Any, *tensors: Any) -> None:
        setattr(self, _SAVED, [place_of(t) for t in tensors])
        save(self, *tensors)

    def saved_marked(self: Any) -> tuple:
        saved = base.saved_tensors.__get__(self)
        for tensor, place in zip(saved, getattr(self, _SAVED, ())):
            if place is not None:
                mark_new(tensor, place)
        return saved

    def backward_marked(self: Any, *gradients: Any) -> Any:
        index = getattr(self, _ON_CUDA, None)
        if index is not None:
            mark_new(gradients, index)
        return backward(self, *gradients)

    Function.apply = classmethod(apply_marked)
    function.FunctionCtx.save_for_backward = save_marks
    Backward.saved_tensors = property(saved_marked)
    Backward.apply = backward_marked


def _patch_transforms(torch: Any) -> None:
    """What `torch.func.grad(f)` and the like return is as the arguments are."""
    for name in "vmap grad grad_and_value vjp jvp linearize jacrev jacfwd hessian".split():
        transform = getattr(torch.func, name)
        marking = _marking_result(transform, at_once=name in ("vjp", "jvp", "linearize"))
        for module in (torch, torch.func):
            if getattr(module, name, None) is transform:
                setattr(module, name, marking)


def _marking_result(transform: Callable, at_once: bool) -> Callable:
    """`transform`, whose result (at_once) or whose result's result is marked if a tensor among the arguments is."""

    def marking(function: Callable) -> Callable:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = seeing(function)(*args, **kwargs)
            index = any_mark(args)
            return result if index is None else mark_new(result, index, tensors_in(args))

        return call

    if at_once:
        return marking(transform)
    return functools.wraps(transform)(lambda *args, **kwargs: marking(transform(*args, **kwargs)))


def _patch_scripts(torch: Any) -> None:
    """torch.jit.script and torch.jit.trace: a function in C++, whose results are where its arguments are."""

    def marked(call: Callable) -> Callable:
        @functools.wraps(call)
        def call_marked(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = seeing(call)(self, *args, **kwargs)
            given = tensors_in((*args, *kwargs.values()))
            if not given and hasattr(self, "owner"):
                given = list(self.owner.parameters())
            index = any_mark(given)
            return result if index is None else mark_new(result, index, given)

        return call_marked

    for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        kind.__call__ = marked(kind.__call__)


class _UntilThreadEnds:
    """The emulation in a thread that has begun without. Thread-local values die before the thread does; a mode that was
    left on would be given back by C++ code behind them, which aborts if the interpreter has ended meanwhile."""

    def __init__(self) -> None:
        self._mode = CudaOnCpu()
        self._mode.__enter__()

    def __del__(self) -> None:
        self._mode.__exit__(None, None, None)


def _patch_threads(torch: Any) -> None:
    """A function mode holds in one thread only. Threads that are older than torch get it when they ask for CUDA."""
    bootstrap, start = threading.Thread._bootstrap_inner, _thread.start_new_thread  # type: ignore[attr-defined]
    ask, select = torch.cuda._lazy_init, torch._C._cuda_setDevice
    _own.has_mode = True

    def beginning(run: Callable) -> Callable:
        run_in_mode = in_mode(run)

        @functools.wraps(run)
        def begin(*args: Any, **kwargs: Any) -> Any:
            _own.has_mode = True
            return run_in_mode(*args, **kwargs)

        return begin

    @functools.wraps(start)
    def start_in_mode(function: Callable, *args: Any) -> int:
        return start(beginning(function), *args)

    def turn_on() -> bool:
        """Whether it was off."""
        was_off = not getattr(_own, "has_mode", False)
        if was_off:
            _own.has_mode = True
            _own.mode = _UntilThreadEnds()
        return was_off

    @functools.wraps(ask)
    def ask_in_mode() -> None:
        if turn_on() and not sys._getframe(1).f_globals.get("__name__", "").startswith("torch.cuda"):
            raise RuntimeError(
                "CUDA is emulated on the CPU here, and this thread began before torch was imported: C++ code of torch "
                "got its request for a CUDA device. Start the thread after `import torch`, or let it call "
                "torch.cuda.current_device() first"
            )
        ask()

    def select_in_mode(index: int) -> None:
        turn_on()
        select(index)

    threading.Thread._bootstrap_inner = beginning(bootstrap)  # type: ignore[attr-defined]
    _thread.start_new_thread = start_in_mode
    torch.cuda._lazy_init, torch._C._cuda_setDevice = ask_in_mode, select_in_mode
