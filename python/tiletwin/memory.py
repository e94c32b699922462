"""`tiletwin.register`: memory that kernels may reach although no argument of the launch names it.

Kernels that load pointers from memory (arrays of pointers), or compute addresses, reach buffers the launch does not
know. Registered ones count as known, and so does the memory of every torch tensor on the CPU that is alive; everything
else is an out-of-bounds access.
"""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

from tiletwin import _C

_registered: dict[int, tuple[Any, int]] = {}
_found: list[tuple[weakref.ref, int, int]] = []
"""Tensors that earlier launches reached by address: (tensor, first byte, one past the last)."""


def register(array: Any, name: str | None = None) -> Any:
    """Makes the memory of `array` (a tensor, a NumPy array, ...) known to all launches from now on; returns `array`.

    The array is kept alive until `unregister`.

    Args:
        name: what errors call it.

    Raises:
        TypeError: not an array.
        ValueError: memory that is not the host's or of unknown extent.
    """
    address = _C.register_memory(array, name or f"registered {type(array).__name__}")
    _registered[id(array)] = (array, address)
    return array


def unregister(array: Any) -> None:
    """Takes back `register(array)`.

    Raises:
        KeyError: it is not registered.
    """
    if id(array) not in _registered:
        raise KeyError("this array is not registered")
    _, address = _registered.pop(id(array))
    if all(address != other for _, other in _registered.values()):
        _C.unregister_memory(address)


def registered() -> list[Any]:
    """The arrays that are registered now."""
    return [array for array, _ in _registered.values()]


def host_copy(what: str, tensor: Any, copies: dict[int, tuple[Any, Any]]) -> Any:
    """A tensor on the host like one on a GPU. copies: the storages and their copies by address, so that aliases stay
    aliases. what: begins the text of errors. Errors: TypeError, a tensor without data."""
    if tensor.device.type == "meta":
        raise TypeError(f"{what} is a meta tensor, which has no data")
    storage = tensor.untyped_storage()
    known = copies.get(storage.data_ptr())
    if known is None:
        known = copies[storage.data_ptr()] = (storage, storage.cpu())
    return tensor.new_empty(0, device="cpu").set_(known[1], tensor.storage_offset(), tensor.shape, tensor.stride())


def _live_tensors(torch: Any) -> list[Any]:
    """All torch tensors that are alive. A look at every object that the garbage collector knows: milliseconds."""
    objects = gc.get_objects()
    kinds = {kind for kind in set(map(type, objects)) if issubclass(kind, torch.Tensor)}
    return [candidate for candidate in objects if type(candidate) in kinds]


def _storage_of(tensor: Any) -> tuple[int, int]:
    """First byte and one past the last of a tensor's memory; an empty range where it has none in the host's memory."""
    try:
        if tensor.device.type != "cpu":
            return 0, 0
        storage = tensor.untyped_storage()
        begin = storage.data_ptr()
        return begin, begin + storage.nbytes()
    except (RuntimeError, NotImplementedError, TypeError, AttributeError):  # tensors without storage
        return 0, 0


def buffer_at(address: int) -> tuple[int, int, str, Any] | None:
    """The memory of a live torch tensor that holds the byte at `address`: (first byte, one past the last, name, owner).

    Launches ask for addresses that are in no argument and no registered buffer. Looking through all live objects takes
    milliseconds, so what was found is remembered while the tensor lives.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    with torch._C.DisableTorchFunction():
        for reference, begin, end in _found:
            if begin <= address < end and (tensor := reference()) is not None and _storage_of(tensor) == (begin, end):
                return begin, end, "a torch tensor", tensor
        _found[:] = [entry for entry in _found if entry[0]() is not None and _storage_of(entry[0]()) == entry[1:]]
        for candidate in _live_tensors(torch):
            begin, end = _storage_of(candidate)
            if begin <= address < end:
                _found.append((weakref.ref(candidate), begin, end))
                return begin, end, "a torch tensor", candidate
    return None


def live_storages() -> list[tuple[int, int, Any]]:
    """The memory of all live torch tensors, each storage once, in order: (first byte, one past the last, a tensor)."""
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    with torch._C.DisableTorchFunction():
        owners = {_storage_of(tensor): tensor for tensor in _live_tensors(torch)}
    return [(begin, end, owners[begin, end]) for begin, end in sorted(owners) if begin < end]


def tensor_buffers() -> list[tuple[str, int, int, bool]]:
    """The memory of all live torch tensors, each storage once: (name, first byte, one past the last, read only)."""
    return [("a torch tensor", begin, end, False) for begin, end, _ in live_storages()]
