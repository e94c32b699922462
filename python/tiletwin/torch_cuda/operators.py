"""Where CUDA is emulated: operators that libraries define in Python, with kernels of their own for CUDA.

Here:      torch.library.Library.impl, through which custom_op and its like register kernels, too; higher order
           operators.
Not here:  operators whose kernels are in C++: theirs for the CPU run.
Invariant: a Python kernel runs with the function mode on. The kernel for CUDA runs for what is on an emulated device,
           the one for the CPU for what is on the host.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tiletwin.torch_cuda.marks import index_of_mark, place_of, tensors_in
from tiletwin.torch_cuda.mode import in_mode

_COMPOSITE = "CompositeExplicitAutograd"
_kernels: dict[str, dict[str, Callable[..., Any]]] = {}
"""Operator: {dispatch key: kernel, called with the keys of the call in front}."""


def patch(torch: Any) -> None:
    """Replaces the method for the rest of the process."""
    Library = torch.library.Library
    register = Library.impl
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
            key = "AutogradCPU" if key == "AutogradCUDA" else key
            register(self, op_name, kernel, key, **options)
            if key in ("", _COMPOSITE, "CompositeImplicitAutograd"):
                _kernels.setdefault(name, {})[_COMPOSITE] = _with_keys(kernel, options)
            return
        served = has_kernel(name, "CPU")
        if key == "CUDA":
            register(self, op_name, kernel, key, **options)  # what makes tensors may choose the key by a device
        if served and not {"CPU", "CUDA"} & _kernels.get(name, {}).keys():
            if key == "CPU":  # over a kernel in C++
                register(self, op_name, kernel, key, **options)
            return
        kernels = _kernels.setdefault(name, {})
        if not served:  # the first, or of a library in the place of one that is gone
            kernels.pop("CPU", None)
            kernels.pop("CUDA", None)
            register(self, op_name, _choosing(name, kernels), "CPU", **{**options, "with_keyset": True})
        kernels[key] = _with_keys(kernel, options)

    Library.impl = impl
    Higher = torch._ops.HigherOrderOperator  # written in Python: flex_attention and others that take functions
    Higher.dispatch = in_mode(Higher.dispatch)


def _with_keys(kernel: Callable, options: dict[str, Any]) -> Callable[..., Any]:
    return kernel if options.get("with_keyset") else lambda keys, *args, **kwargs: kernel(*args, **kwargs)


def _choosing(name: str, kernels: dict[str, Callable]) -> Callable[..., Any]:
    """The kernel that calls the one for where the arguments are."""

    def choose(keys: Any, *args: Any, **kwargs: Any) -> Any:
        given = tensors_in((*args, *kwargs.values()))
        if any(index_of_mark(t) is not None for t in given):
            key = "CUDA"
        elif any(place_of(t) is not None for t in given):
            key = "CPU"
        else:
            key = "CUDA" if "CUDA" in kernels else "CPU"
        kernel = kernels.get(key) or kernels.get(_COMPOSITE)
        if kernel is None:
            there = ", ".join(sorted(kernels))
            raise NotImplementedError(
                f"Could not run '{name}' with arguments from the '{key}' backend: it has kernels for {there} only"
            )
        return kernel(keys, *args, **kwargs)

    return choose
