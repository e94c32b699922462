"""`tiletwin.register`: memory that kernels may reach although no argument of the launch names it.

Kernels that load pointers from memory (arrays of pointers), or compute addresses, reach buffers the launch does not
know. Registered ones count as known; everything else is an out-of-bounds access.
"""

from __future__ import annotations

from typing import Any

from tiletwin import _C

_registered: dict[int, tuple[Any, int]] = {}


def register(array: Any, name: str | None = None) -> Any:
    """Makes the memory of `array` (a tensor, a NumPy array, ...) known to all launches from now on; returns `array`.

    The array is kept alive until `unregister`. name: what errors call it.
    Errors: TypeError, not an array; ValueError, memory that is not the host's or of unknown extent.
    """
    address = _C.register_memory(array, name or f"registered {type(array).__name__}")
    _registered[id(array)] = (array, address)
    return array


def unregister(array: Any) -> None:
    """Takes back `register(array)`. Errors: KeyError, it is not registered."""
    if id(array) not in _registered:
        raise KeyError("this array is not registered")
    _, address = _registered.pop(id(array))
    if all(address != other for _, other in _registered.values()):
        _C.unregister_memory(address)
