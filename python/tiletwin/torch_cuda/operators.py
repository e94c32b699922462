"""Where CUDA is emulated: operators that libraries define in Python, with kernels of their own for CUDA.

Here:      torch.library.Library.impl, through which custom_op and its like register kernels, too; higher order
           operators.
Not here:  calling kernels of operators that torch has a kernel in C++ for on the CPU (overrides.py).
Invariant: a Python kernel runs with the function mode on. The kernel for CUDA runs for what is on an emulated device,
           the one for the CPU for what is on the host.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from tiletwin.torch_cuda import overrides
from tiletwin.torch_cuda.marks import tensors_in
from tiletwin.torch_cuda.mode import in_mode, is_faking, is_on, run
from tiletwin.torch_cuda.overrides import indices_moved, key_of
from tiletwin.torch_cuda.wrapped import is_making, operator_of, wrap_numbers

_COMPOSITE = "CompositeExplicitAutograd"
_FOR_ALL = (_COMPOSITE, "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_kernels: dict[str, dict[str, Callable[..., Any]]] = {}
"""Operator: {dispatch key: kernel, called with the keys of the call in front}."""


def patch(torch: Any) -> None:
    """Replaces the method for the rest of the process."""
    Library = torch.library.Library
    register, destroy = Library.impl, Library._destroy
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key

    @functools.wraps(register)
    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> None:
        key = dispatch_key or self.dispatch_key
        if not callable(fn) or fn is torch.library.fallthrough_kernel or key == "Meta":
            register(self, op_name, fn, dispatch_key, **options)
            return
        kernel = in_mode(fn)
        name = op_name if isinstance(op_name, str) else op_name.name()
        name = name if "::" in name else f"{self.ns}::{name}"
        if key not in ("CPU", "CUDA"):
            register(self, op_name, kernel, "AutogradCPU" if key == "AutogradCUDA" else key, **options)
            if key in overrides.KEYS:
                overrides.add(name, key, self, _with_keys(kernel, options))
            if key in ("", _COMPOSITE, "CompositeImplicitAutograd"):
                _kernels.setdefault(name, {})[_COMPOSITE] = _with_keys(kernel, options)
            return
        served = has_kernel(name, "CPU")
        if key == "CUDA":
            register(self, op_name, kernel, key, **options)  # what makes tensors may choose the key by a device
        if served and not {"CPU", "CUDA"} & _kernels.get(name, {}).keys():
            if key == "CPU":  # over a kernel in C++
                register(self, op_name, kernel, key, **options)
            else:
                overrides.add(name, key, self, _with_keys(kernel, options))
            return
        kernels = _kernels.setdefault(name, {})
        if not served:  # the first, or of a library in the place of one that is gone
            kernels.pop("CPU", None)
            kernels.pop("CUDA", None)
            register(self, op_name, _choosing(name, kernels), "CPU", **{**options, "with_keyset": True})
        kernels[key] = _with_keys(kernel, options)

    @functools.wraps(destroy)
    def destroy_kernels(self: Any) -> None:
        overrides.forget(id(self))
        destroy(self)

    Library.impl, Library._destroy = impl, destroy_kernels
    Overload = torch._ops.OpOverload
    Overload.redispatch = _seen_by_mode(Overload.redispatch)
    Higher = torch._ops.HigherOrderOperator  # written in Python: flex_attention and others that take functions
    Higher.dispatch = in_mode(Higher.dispatch)


def _seen_by_mode(redispatch: Callable[..., Any]) -> Callable[..., Any]:
    """By it a kernel in Python calls torch's own. No function mode sees the call, which may ask for a device."""

    @functools.wraps(redispatch)
    def call(self: Any, /, keyset: Any, *args: Any, **kwargs: Any) -> Any:
        kinds = [type(t) for t in tensors_in((*args, *kwargs.values()))]
        if self.namespace in ("aten", "prims") and is_on() and not is_faking(kinds):
            return run(functools.partial(redispatch, self, keyset), args, kwargs)
        return redispatch(self, keyset, *args, **kwargs)

    return call


def _with_keys(kernel: Callable, options: dict[str, Any]) -> Callable[..., Any]:
    return kernel if options.get("with_keyset") else lambda keys, *args, **kwargs: kernel(*args, **kwargs)


def _choosing(name: str, kernels: dict[str, Callable]) -> Callable[..., Any]:
    """The kernel that calls the one for where the arguments are."""

    def choose(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if is_making() and (in_cpp := _in_cpp(name)) is not None:
            return in_cpp(keys, *args, **kwargs)
        key = key_of(operator_of(name), args, kwargs) or ("CUDA" if "CUDA" in kernels else "CPU")
        kernel = kernels.get(key) or kernels.get(_COMPOSITE) or (_in_cpp(name) if key == "CPU" else None)
        if kernel is None:
            there = ", ".join(sorted(kernels))
            raise NotImplementedError(
                f"Could not run '{name}' with arguments from the '{key}' backend: it has kernels for {there} only"
            )
        return kernel(keys, *(indices_moved(name, args) if key == "CUDA" else args), **kwargs)

    return choose


@functools.cache
def _in_cpp(name: str) -> Callable[..., Any] | None:
    """The operator's own kernel in C++ for all devices, where it has one; the kernel in Python hides it for the CPU. It
    is what a device without kernels of its own has."""
    if not any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in _FOR_ALL):
        return None
    operator, other = operator_of(name), torch._C.DispatchKeySet(torch._C.DispatchKey.MAIA)

    def call(keys: Any, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = wrap_numbers(operator, args, kwargs)
        return operator._handle.redispatch_boxed(other, *args, **kwargs)

    return call
