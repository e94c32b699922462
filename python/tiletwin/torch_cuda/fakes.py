"""Where CUDA is emulated: torch's fake tensors, with which programs are traced without data.

Here:      fake tensors of tensors on a device, what torch's C++ knows of fake tensors there.
Not here:  operations on them: the function mode leaves them alone (mode.py).
Invariant: a fake tensor is on a CUDA device by torch's own means, and has no mark: only real tensors have one. Torch's
           C++ was built without CUDA, and its autograd engine would look for streams: it is told that such a fake
           tensor is on STAND_IN, a kind of device without streams. What it then makes there is on CUDA.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tiletwin.torch_cuda.marks import index_of_mark, say_once

STAND_IN = "xla"  # the one that takes part in autocasting for CUDA
_CUDA, _STAND_IN, _PRIVATE = 1, 9, 20
"""Numbers of kinds of devices in torch's C++."""
_REGISTER = "register_python_privateuseone_device_guard"
_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
_NO_GUARD = (
    "torch.compile and fake tensors on the emulated CUDA need PyTorch 2.13: {} does not let Python say which device is "
    "current, and may fail"
)
_ASK_FOR_TYPES = ("meta_histc",)
"""Meta functions that ask for the device because the CPU takes fewer types: cuda_only.py has the others."""
_kept: list[Any] = []
"""Objects that torch's C++ points to."""
_asking = threading.local()
"""`of_kernel` is set while C++ asks which of its kernels an operator takes: it is one of the CPU's that will run."""


def patch(torch: Any) -> None:
    """Replaces what makes fake tensors of real ones, and what C++ hears of them, for the rest of the process."""
    from torch import _meta_registrations
    from torch._subclasses import fake_tensor, functional_tensor, meta_utils
    from torch.fx.experimental import proxy_tensor

    is_registered = _register_guard(torch)
    hint = _meta_registrations.device_hint

    def hint_there(tensor: Any) -> str:
        """Which strides an operator's result has: it is the CPU's operator that will run."""
        kind = hint(tensor)
        return "cpu" if kind == "cuda" and sys._getframe(1).f_code.co_name not in _ASK_FOR_TYPES else kind

    _meta_registrations.device_hint = hint_there
    _patch_conversion(torch, fake_tensor.FakeTensorConverter, meta_utils.MetaTensorDescriber, is_registered)
    Mode: Any = fake_tensor.FakeTensorMode
    # What torch does where there is no GPU: nothing is initialized on it.
    Mode.avoid_device_init = property(lambda self: True)
    _patch_devices(torch, fake_tensor.FakeTensor, Mode)
    _patch_convolution(torch)
    _patch_changes_of_size(torch)
    _patch_backward(torch, fake_tensor.FakeTensor)
    _patch_properties(torch, functional_tensor.FunctionalTensor, torch.Tensor.device.__get__)
    _patch_properties(torch, fake_tensor.FakeTensor, fake_tensor.FakeTensor.device.fget)  # type: ignore[attr-defined]
    _patch_autocast(torch, functional_tensor.FunctionalTensor)
    for Tracing in (functional_tensor.FunctionalTensorMode, proxy_tensor.ProxyTorchDispatchMode):
        Tracing.__torch_dispatch__ = _on_cuda(torch, Tracing.__torch_dispatch__)
    _patch_constants(proxy_tensor)


def _patch_constants(proxy_tensor: Any) -> None:
    """Tracing computes what constants become, with real tensors."""
    without_fakes = proxy_tensor.unset_fake_temporarily

    @contextlib.contextmanager
    def unset_fake_temporarily() -> Iterator[Any]:
        from tiletwin.torch_cuda.mode import CudaOnCpu

        with without_fakes() as before, CudaOnCpu():
            yield before

    proxy_tensor.unset_fake_temporarily = unset_fake_temporarily


def _register_guard(torch: Any) -> bool:
    """C++ asks the guard of a kind of device which one is current, also for fake tensors. Torch can be given one in
    Python for a kind that others bring along: it serves CUDA. False: this torch cannot be given one."""
    library = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    binding = getattr(torch._C, "_acc", None)
    if binding is None or not hasattr(binding, _REGISTER) or not os.path.exists(library):
        return False
    try:
        registry = (ctypes.c_void_p * (_PRIVATE + 1)).in_dll(ctypes.CDLL(library), _REGISTRY)
    except ValueError:  # no such symbol
        return False
    if registry[_CUDA] is not None:
        torch._C._ensureCUDADeviceGuardSet()
        return True

    class Guard(binding.DeviceGuard):  # type: ignore[misc]
        def type_(self) -> Any:
            return torch._C._autograd.DeviceType.CUDA

    before = registry[_PRIVATE]
    _kept.append(Guard())
    getattr(binding, _REGISTER)(_kept[-1])
    registry[_CUDA] = registry[_STAND_IN] = registry[_PRIVATE]
    registry[_PRIVATE] = before
    return True


def _patch_conversion(torch: Any, Converter: Any, Describer: Any, is_registered: bool) -> None:
    """Fake tensors of real ones are where these are for the script."""
    describe, convert = Describer.describe_tensor, Converter.from_real_tensor

    @functools.wraps(describe)
    def describe_placed(self: Any, t: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            described = describe(self, t, **kwargs)
        index = index_of_mark(t)
        if index is not None and not is_registered:
            say_once(_NO_GUARD.format(torch.__version__))
        return described if index is None else placed(described, torch.device("cuda", index))

    @functools.wraps(convert)
    def convert_unseen(self: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            return convert(self, *args, **kwargs)

    Describer.describe_tensor = describe_placed
    Converter.from_real_tensor = convert_unseen


def placed(described: Any, device: Any) -> Any:
    """The description of a tensor, its base and its gradient, where these are on the CPU for torch, on `device`."""
    if described is None or described.device.type != "cpu":
        return described
    parts = {name: placed(getattr(described, name), device) for name in ("base", "grad", "unwrapped")}
    return dataclasses.replace(described, device=device, **parts)


def _patch_devices(torch: Any, Fake: Any, Mode: Any) -> None:
    """C++ asks where a fake tensor is by an operator."""
    asked = torch.ops.prim.device.default
    of_tensor, of_mode = Fake.__torch_dispatch__.__func__, _on_cuda(torch, Mode.dispatch)

    def stand_in(tensor: Any) -> Any:
        device = tensor.fake_device
        if device.type != "cuda":
            return device
        return torch.device("cpu" if getattr(_asking, "of_kernel", False) else STAND_IN, device.index)

    def dispatch_tensor(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = {}) -> Any:  # noqa: B006
        if func is asked and not args[0].fake_mode.in_kernel_invocation:
            return stand_in(args[0])
        return of_tensor(cls, func, types, args, kwargs)

    @functools.wraps(Mode.dispatch)
    def dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = {}) -> Any:  # noqa: B006
        if func is asked and not self.in_kernel_invocation:
            return stand_in(args[0])
        with torch._C.DisableTorchFunction():  # autograd calls operations while the function mode is on
            return of_mode(self, func, types, args, kwargs)

    Fake.__torch_dispatch__ = classmethod(dispatch_tensor)
    Mode.dispatch = dispatch


def _patch_convolution(torch: Any) -> None:
    """The strides of a convolution's result are those that the kernel gives which C++ chooses for its arguments."""

    def for_host(choose: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(choose)
        def choose_for_host(*args: Any, **kwargs: Any) -> Any:
            _asking.of_kernel = True
            try:
                return choose(*args, **kwargs)
            finally:
                _asking.of_kernel = False

        return choose_for_host

    for name in ("_select_conv_backend", "_conv_determine_backend_memory_format"):
        setattr(torch._C, name, for_host(getattr(torch._C, name)))


def _patch_changes_of_size(torch: Any) -> None:
    """`unsqueeze_`, `resize_` and their like change the sizes of a tensor that wraps a fake one. Torch looks in Python
    for their kernel, and has none for STAND_IN; the CPU's is for all."""
    resolve, keys, changes_size = torch._ops.resolve_key, torch._C.DispatchKey, torch.Tag.inplace_view

    @functools.wraps(resolve)
    def resolve_there(op: Any, key: Any) -> Any:
        is_there = key == keys.XLA and changes_size in getattr(op, "tags", ())
        return resolve(op, keys.CPU if is_there else key)

    torch._ops.resolve_key = resolve_there


def _patch_backward(torch: Any, Fake: Any) -> None:
    """The engine has no threads for STAND_IN: this thread does all."""
    run, mode_of, key = torch.autograd._engine_run_backward, torch._C._get_dispatch_mode, torch._C._TorchDispatchModeKey

    @functools.wraps(run)
    def run_here(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        if mode_of(key.FAKE) is None and not any(isinstance(tensor, Fake) for tensor in outputs):
            return run(outputs, *args, **kwargs)
        with torch.autograd.set_multithreading_enabled(False):
            return run(outputs, *args, **kwargs)

    torch.autograd._engine_run_backward = run_here


def _on_cuda(torch: Any, dispatch: Callable[..., Any]) -> Callable[..., Any]:
    """`dispatch`, in whose arguments the device is a CUDA device that C++ knows as STAND_IN."""

    def real(value: Any) -> Any:
        if isinstance(value, torch.device) and value.type == STAND_IN:
            return torch.device("cuda", value.index or 0)
        return value

    @functools.wraps(dispatch)
    def dispatch_real(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = {}) -> Any:  # noqa: B006
        return dispatch(self, func, types, tuple(map(real, args)), {name: real(kwargs[name]) for name in kwargs})

    return dispatch_real


def _patch_autocast(torch: Any, Functional: Any) -> None:
    """Autocasting for CUDA is what wrappers take part in, not that for STAND_IN."""
    make = torch.Tensor._make_wrapper_subclass

    @functools.wraps(make)
    def make_casting(cls: Any, *args: Any, **kwargs: Any) -> Any:
        device = next((value for value in args if isinstance(value, torch.device)), None)
        if cls is Functional and device is not None and device.type == STAND_IN:
            args = (*args[:-1], args[-1].add(torch._C.DispatchKey.AutocastCUDA))
        return make(cls, *args, **kwargs)

    torch.Tensor._make_wrapper_subclass = staticmethod(make_casting)


def _patch_properties(torch: Any, Kind: Any, place: Callable[[Any], Any]) -> None:
    """What Python asks of a subclass that C++ takes for one of STAND_IN."""

    def device(self: Any) -> Any:
        there = place(self)
        return torch.device("cuda", there.index or 0) if there.type == STAND_IN else there

    Kind.device = property(device, getattr(Kind.device, "fset", None))
    Kind.is_cuda = property(lambda self: device(self).type == "cuda")
    Kind.get_device = lambda self: -1 if (index := device(self).index) is None else index
