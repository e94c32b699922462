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

import torch

from tiletwin.torch_cuda.marks import CALLS, HOST, index_of_mark, mark, place_of, say_once, tensors_in
from tiletwin.torch_cuda.mode import in_mode

_COMPOSITE = "CompositeExplicitAutograd"
_FOR_ALL = (_COMPOSITE, "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
_HIDDEN = (
    "a library has kernels in Python for CUDA, of operators for which torch has a kernel for the CPU: torch's runs "
    "where CUDA is emulated; call the library's functions themselves to run theirs"
)
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
            else:
                say_once(_HIDDEN)
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
        key = _key_of(name, args, kwargs) or ("CUDA" if "CUDA" in kernels else "CPU")
        kernel = kernels.get(key) or kernels.get(_COMPOSITE) or (_in_cpp(name) if key == "CPU" else None)
        if kernel is None:
            there = ", ".join(sorted(kernels))
            raise NotImplementedError(
                f"Could not run '{name}' with arguments from the '{key}' backend: it has kernels for {there} only"
            )
        return kernel(keys, *args, **kwargs)

    return choose


def _key_of(name: str, args: tuple, kwargs: dict[str, Any]) -> str | None:
    """The key of the kernel for where the arguments are: as they say, or else the call of torch in which C++ code came
    to this operator. None: nobody knows. Arguments of a call on a device are on it afterwards."""
    given = tensors_in((*args, *kwargs.values()))
    if any(index_of_mark(t) is not None for t in given):
        return "CUDA"
    if any(place_of(t) is not None for t in given) or (not given and _is_of_number(name, args)):
        return "CPU"
    if CALLS.place is None or CALLS.place == HOST:
        return None if CALLS.place is None else "CPU"
    mark(given, CALLS.place)
    if kwargs.get("device") is not None:  # the mode has put the host in its place
        kwargs["device"] = torch.device("cuda", CALLS.place)
    return "CUDA"


def _is_of_number(name: str, args: tuple) -> bool:
    """Whether the operator's tensor is a Python number: torch makes a tensor of the host of it, and hands that to
    kernels in Python as the number."""
    return bool(args) and isinstance(args[0], (bool, int, float, complex)) and _takes_tensor(name)


def _overload(name: str) -> Any:
    """The operator of a name such as "aten::mean.dim"."""
    space, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, space), packet), overload or "default")


@functools.cache
def _takes_tensor(name: str) -> bool:
    arguments = _overload(name)._schema.arguments
    return bool(arguments) and str(arguments[0].type) == "Tensor"


@functools.cache
def _in_cpp(name: str) -> Callable[..., Any] | None:
    """The operator's own kernel in C++ for all devices, where it has one; the kernel in Python hides it for the CPU. It
    is what a device without kernels of its own has."""
    if not any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in _FOR_ALL):
        return None
    operator, other = _overload(name), torch._C.DispatchKeySet(torch._C.DispatchKey.MAIA)

    def call(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_of_number(name, args):
            args = (torch.scalar_tensor(args[0], dtype=_DTYPES[type(args[0])]), *args[1:])
        return operator.redispatch(other, *args, **kwargs)

    return call
