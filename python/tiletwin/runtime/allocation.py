"""`triton.set_allocator`: GPU kernels with device-side descriptors need scratch memory; the interpreter needs none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_allocator: Callable[..., Any] | None = None


def set_allocator(allocator: Callable[..., Any] | None) -> None:
    """Remembers the allocator: `allocator(size, alignment, stream)`. Kernels run without it here."""
    global _allocator
    if allocator is not None and not callable(allocator):
        raise TypeError(f"an allocator is a function of (size, alignment, stream), not a {type(allocator).__name__}")
    _allocator = allocator


def get_allocator() -> Callable[..., Any] | None:
    return _allocator
