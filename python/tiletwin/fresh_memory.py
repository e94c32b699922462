"""Tells TILETWIN_CHECK=uninitialized which memory nobody has written: what torch.empty and numpy.empty make.

Here:      wrappers around the functions of torch and NumPy that make memory without a value, the line that called them.
Not here:  what counts as unwritten, and reads of it (interp/check/FreshMemory.h).
Invariant: nothing is wrapped unless the check is wanted; wrapped functions return what the originals return.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tiletwin import variables

_TORCH = ("empty", "empty_like", "empty_strided", "empty_permuted")
_TENSOR = ("new_empty", "new_empty_strided")
_NUMPY = ("empty", "empty_like")
_MARK = "_tiletwin_fresh"

_text: str | None = None
_is_wanted = False


def is_wanted() -> bool:
    """Whether TILETWIN_CHECK, as it stands now, has the check."""
    global _text, _is_wanted
    text = variables.get("TILETWIN_CHECK")
    if text != _text:
        from tiletwin import _C

        try:
            _is_wanted = "uninitialized" in _C.parse_checks(text)[0]
        except ValueError:  # the next launch says so
            _is_wanted = False
        _text = text
    return _is_wanted


def _caller() -> tuple[str, int]:
    """File and line of the code outside of torch, NumPy and this package that is running."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "").partition(".")[0]
        if name not in ("torch", "numpy", "tiletwin"):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


def _note(array: Any, owner: Any, maker: str) -> None:
    from tiletwin import _C

    try:
        address = _C.add_fresh_memory(array, maker, *_caller())
    except (TypeError, ValueError):  # elements that no kernel takes
        return
    if address:
        weakref.finalize(owner, _C.remove_fresh_memory, address).atexit = False


def _note_tensor(tensor: Any, maker: str) -> None:
    import torch

    with torch._C.DisableTorchFunction():
        # Subclasses may have no memory of their own (fake tensors).
        known = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
        if known and tensor.device.type == "cpu" and not tensor.is_quantized and not tensor.is_complex():
            try:
                storage = tensor.untyped_storage()
            except (RuntimeError, NotImplementedError):  # a stand-in inside of a transform
                return
            _note(tensor.detach(), storage, maker)


def _note_array(array: Any, maker: str) -> None:
    # Elements that are no numbers (objects, records, text) are none of a kernel's.
    if type(array).__name__ == "ndarray" and array.dtype.kind in "biuf" and array.nbytes:
        _note(array, array, maker)


def _wrapped(original: Callable, maker: str, note: Callable[[Any, str], None]) -> Callable:
    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if is_wanted() and kwargs.get("out") is None:
            note(result, maker)
        return result

    setattr(make, _MARK, True)
    return make


def _patch(owner: Any, names: tuple[str, ...], prefix: str, note: Callable[[Any, str], None]) -> None:
    for name in names:
        original = getattr(owner, name, None)
        if original is not None and not hasattr(original, _MARK):
            setattr(owner, name, _wrapped(original, f"{prefix}.{name}", note))


def watch_torch(torch: ModuleType) -> None:
    """Wraps torch's functions. Called when torch has been imported."""
    from torch.utils import _device

    # What `with torch.device(...)` is for is listed when it is first asked for. It has to list the originals.
    _device._device_constructors()
    _patch(torch, _TORCH, "torch", _note_tensor)
    _patch(torch.Tensor, _TENSOR, "Tensor", _note_tensor)


def watch_numpy(numpy: ModuleType) -> None:
    """Wraps NumPy's functions. Called when NumPy has been imported."""
    _patch(numpy, _NUMPY, "numpy", _note_array)


def watch() -> None:
    """Wraps the functions of what is imported already; from now on TILETWIN_CHECK decides at each call."""
    for name, patch in (("torch", watch_torch), ("numpy", watch_numpy)):
        if name in sys.modules:
            patch(sys.modules[name])
