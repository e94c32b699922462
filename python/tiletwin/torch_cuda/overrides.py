"""Where CUDA is emulated: kernels in Python for CUDA, of operators that torch has kernels in C++ for on the CPU.

Here:      which operators have such a kernel, the torch dispatch mode that calls it, where the arguments of a call are.
Not here:  registering (operators.py), which calls are the emulated device's (mode.py, patches.py).
Invariant: the mode is on only while a call computes on the emulated device and a library with such a kernel is alive.
           What the mode does not hand to a kernel runs as it would without the mode: in C++, to the bit.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from operator import or_
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tiletwin.torch_cuda.marks import (
    CALLS,
    HOST,
    any_mark,
    calling,
    index_of_mark,
    mark_as,
    mark_new,
    place_of,
    tensors_in,
)
from tiletwin.torch_cuda.wrapped import is_of_number, wrap_numbers

KERNELS: dict[tuple[str, str], dict[int, Callable[..., Any]]] = {}
"""(operator, dispatch key): {id of a library: its kernel}, the newest last. A kernel gets the call's keys in front."""
_libraries: set[int] = set()

_BINDING: Any = torch._C
_KEYS = _BINDING.DispatchKey
_KINDS = ("NestedTensor", "SparseCsr", "Sparse", "Quantized")
"""Of tensors that are not dense, the dispatcher's favourite first; dense is the empty string."""
KEYS = ("CUDA", *(f"{kind}CUDA" for kind in _KINDS))
_KEY_OF_KIND = {kind: getattr(_KEYS, f"{kind}CPU") for kind in _KINDS}
_BELOW_AUTOGRAD = functools.reduce(
    lambda keys, key: keys.add(key),
    (_KEYS.AutogradCPU, _KEYS.AutogradOther, _KEYS.AutogradNestedTensor, _KEYS.ADInplaceOrView),
    _BINDING.DispatchKeySet(_KEYS.Undefined),
)
_INDEXING = {"aten::index.Tensor", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}
_OF_TENSORS = (_KEYS.Conjugate, _KEYS.Negative, _KEYS.ZeroTensor)
_COMPOSITES = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd")
_DISABLED = _BINDING._disabled_torch_dispatch_impl
_has_kernel = _BINDING._dispatch_has_kernel_for_dispatch_key
_excluded, _included = _BINDING._dispatch_tls_local_exclude_set, _BINDING._dispatch_tls_local_include_set
_modes, _mode_at = _BINDING._len_torch_dispatch_stack, _BINDING._get_dispatch_stack_at


class _Entries(threading.local):
    def __init__(self) -> None:
        self.excluded: list[Any] = []
        """Of each time that the mode was switched on in this thread: the keys that were excluded then. None: functions
        are being transformed (torch.func), and what is excluded changes from level to level."""
        self.made: list[str] = []
        """The operators that are being made of others."""


_entries = _Entries()


def add(name: str, key: str, library: Any, kernel: Callable[..., Any]) -> None:
    """The operator's kernel of a torch.library.Library for one of KEYS; it hides those of others as long as the library
    is alive."""
    if id(library) not in _libraries:
        _libraries.add(id(library))
        weakref.finalize(library, forget, id(library)).atexit = False
    kernels = KERNELS.setdefault((name, key), {})
    kernels.pop(id(library), None)
    kernels[id(library)] = kernel


def forget(library: int) -> None:
    """The library of this id is gone, and its kernels with it."""
    if library in _libraries:
        _libraries.remove(library)
        for which in [which for which, kernels in KERNELS.items() if library in kernels]:
            del KERNELS[which][library]
            if not KERNELS[which]:
                del KERNELS[which]


def begin() -> bool:
    """Switches the mode on in this thread; `end` switches it off. False: it is on."""
    count = _modes()
    if count and _mode_at(count - 1) is _MODE:
        return False
    transforms = _BINDING._functorch.maybe_current_level() is not None
    _entries.excluded.append(None if transforms else _excluded())
    _BINDING._push_on_torch_dispatch_stack(_MODE)
    return True


def end() -> None:
    _BINDING._pop_torch_dispatch_stack(None)
    _entries.excluded.pop()


def call(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function that computes on an emulated device, with the mode on."""
    begun = begin()
    try:
        return func(*args, **kwargs)
    finally:
        if begun:
            end()


def seeing(run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, which is no torch function and computes where its arguments are, with the mode on."""

    @functools.wraps(run)
    def run_seen(*args: Any, **kwargs: Any) -> Any:
        index = any_mark((*args, *kwargs.values())) if KERNELS else None
        return run(*args, **kwargs) if index is None else calling(index, call, run, *args, **kwargs)

    return run_seen


class _Kernels(TorchDispatchMode):
    """Sees each operator that a call comes to, those that C++ code calls included, below autograd and autocast."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # Dynamo leaves this folder's functions alone anyway, and would be imported for it

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        subclasses = any(kind.__torch_dispatch__ is not _DISABLED for kind in types)
        if not isinstance(func, torch._ops.OpOverload) or (subclasses and _modes()):
            return _in_cpp(func, *args, **kwargs)
        if subclasses:
            return NotImplemented  # they first; the mode sees what they call
        name, kind = func.name(), _kind(args, kwargs)
        with _BINDING._ForceDispatchKeyGuard(_included(), _keys_to_exclude(name)):
            kernels = KERNELS.get((name, f"{kind}CUDA"))
            if kernels and key_of(func, args, kwargs) == "CUDA":
                keys = _BINDING.DispatchKeySet(getattr(_KEYS, f"{kind}CUDA"))
                return next(reversed(kernels.values()))(keys, *indices_moved(name, args), **kwargs)
            args, kwargs = wrap_numbers(func, args, kwargs)
            if kind or _has_kernel(name, "CPU"):
                return _in_cpp(func, *args, **kwargs)
            composite = next((key for key in _COMPOSITES if _has_kernel(name, key)), None)
            if composite is None or name in _entries.made:  # aten::detach comes to itself where a mode is on
                return _in_cpp(func, *args, **kwargs)
            _entries.made.append(name)
            try:  # made of other operators, which may have kernels in Python
                return call(_in_cpp, func._op_dk, getattr(_KEYS, composite), *args, **kwargs)
            finally:
                _entries.made.pop()


_MODE = _Kernels()


def _in_cpp(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls an operator to which C++ code came. While autograd's engine runs, function modes are on: they see none."""
    modes = [_BINDING._pop_torch_function_stack() for _ in range(_BINDING._len_torch_function_stack())]
    try:
        return func(*args, **kwargs)
    finally:
        for mode in reversed(modes):
            _BINDING._push_on_torch_function_stack(mode)


def _keys_to_exclude(name: str) -> Any:
    """Those that the operator's kernel runs without where no mode is on. For a mode, torch excludes all that are above
    modes, and what is called from there takes conjugated tensors for what they are views of."""
    keys = _entries.excluded[-1] if _entries.excluded else None  # none in a thread that autograd started
    if keys is None:
        keys = _excluded()
        for key in _OF_TENSORS:
            keys = keys.remove(key)
        return keys
    keys = keys | _BELOW_AUTOGRAD
    if not keys.has(_KEYS.AutocastCPU) and _has_kernel(name, "AutocastCPU"):  # it has cast the arguments
        keys = keys.add(_KEYS.AutocastCPU)
    return keys


def indices_moved(name: str, args: tuple) -> tuple:
    """`x[i] = y` takes indices and a number of the host, too: torch moves them before it calls the operator."""
    if name not in _INDEXING:
        return args
    x, indices, *values = args
    moved = [i if place_of(i) != HOST else mark_as(i.detach(), x) for i in indices]
    if values and place_of(values[0]) == HOST and values[0].dim() == 0:
        values[0] = mark_as(values[0].detach(), x)
    return (x, moved, *values)


def _kind(args: tuple, kwargs: dict[str, Any]) -> str:
    """Which tensors the kernel is for: one of _KINDS, the empty string, or "other" for those that no GPU has."""
    keys, given = _BINDING.DispatchKeySet(_KEYS.CPU), tensors_in((*args, *kwargs.values()))
    if given:
        keys = functools.reduce(or_, map(_BINDING._dispatch_keys, given))
    return next((kind for kind, key in _KEY_OF_KIND.items() if keys.has(key)), "" if keys.has(_KEYS.CPU) else "other")


def key_of(operator: Any, args: tuple, kwargs: dict[str, Any]) -> str | None:
    """The key of the kernel for where the arguments are: as they say, or else the call of torch in which C++ code came
    to this operator. None: nobody knows. Arguments of a call on a device are on it afterwards."""
    given = tensors_in((*args, *kwargs.values()))
    index = next((t for t in map(index_of_mark, given) if t is not None), None)
    if index is None:
        if any(place_of(t) is not None for t in given) or (not given and is_of_number(operator, args)):
            return "CPU"
        index = CALLS.place
        if index is None or index == HOST:
            return None if index is None else "CPU"
    mark_new(given, index)
    if kwargs.get("device") is not None and CALLS.place not in (None, HOST):  # the mode has put the host in its place
        kwargs["device"] = torch.device("cuda", CALLS.place)
    return "CUDA"
