"""`triton.set_allocator`: GPU kernels may need scratch memory in the launch; the interpreter needs none.

Here:      the allocators that scripts set, kept per context so that code which reads them back finds them.
Invariant: no launch calls an allocator.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol


class Buffer(Protocol):
    """What an allocator returns: memory with an address."""

    def data_ptr(self) -> int: ...


class Allocator(Protocol):
    """`allocator(size, alignment, stream)` gives `size` bytes of device memory."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer: ...


class NullAllocator:
    """Stands for "no allocator was set"."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        raise RuntimeError("no allocator was set; triton.set_allocator(allocator) sets one")


_NULL = NullAllocator()
_allocator: ContextVar[Allocator] = ContextVar("_allocator", default=_NULL)
_profile_allocator: ContextVar[Allocator] = ContextVar("_profile_allocator", default=_NULL)


def _checked(allocator: Any) -> Any:
    if not callable(allocator):
        raise TypeError(f"an allocator is a function of (size, alignment, stream), not a {type(allocator).__name__}")
    return allocator


def set_allocator(allocator: Allocator) -> None:
    """Remembers the allocator: `allocator(size, alignment, stream)`. Kernels run without it here."""
    _allocator.set(_NULL if allocator is None else _checked(allocator))


def get_allocator() -> Allocator | None:
    """The allocator that was set, or None."""
    found = _allocator.get()
    return None if found is _NULL else found


def set_profile_allocator(allocator: Allocator | None) -> None:
    """As `set_allocator`, for the buffers of GPU profilers."""
    _profile_allocator.set(_NULL if allocator is None else _checked(allocator))


def has_profile_allocator() -> bool:
    return _profile_allocator.get() is not _NULL
