"""The memory that a launch of the simulator may touch.

Here:      array_facts: where an array lies; LaunchMemory: copies of a GPU's tensors, what has to live until the end.
Not here:  what becomes a pointer (arguments.py); how arrays of all kinds show their memory (array_info of _C).
Invariant: a launch reaches no memory that is not in `buffers`.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy as np

from tiletwin import _C, memory


def _without_torch_functions() -> contextlib.AbstractContextManager:
    """Keeps torch's function modes away: tensors show where their memory really is."""
    torch = sys.modules.get("torch")
    return torch._C.DisableTorchFunction() if torch else contextlib.nullcontext()


def _numpy_extent(array: np.ndarray) -> tuple[int, int]:
    """The first byte of an array's elements, and one past the last."""
    low = high = array.__array_interface__["data"][0]
    if array.size:
        high += array.itemsize
        for count, stride in zip(array.shape, array.strides):
            reach = (count - 1) * stride
            low, high = (low + reach, high) if reach < 0 else (low, high + reach)
    return low, high


def _numpy_info(array: np.ndarray) -> dict[str, Any]:
    """What array_info says, for element types that Triton's language does not have: structures, complex numbers."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    begin, end = _numpy_extent(root)
    low, high = _numpy_extent(array)
    if not begin <= low <= high <= end:  # as_strided may point elsewhere
        begin, end = low, high
    data, read_only = array.__array_interface__["data"]
    return {"type": "", "data": data, "begin": begin, "end": end, "read_only": read_only, "on_device": False}


def array_facts(what: str, array: Any) -> dict[str, Any]:
    """type (as Triton names it; "": it has no name for it), data, begin, end, read_only, on_device of an array.

    what: begins the text of errors. Errors: TypeError, no array; ValueError, one of unknown extent.
    """
    with _without_torch_functions():
        try:
            facts = _C.array_info(array)
        except TypeError as error:
            if not isinstance(array, np.ndarray) or not array.dtype.isnative or array.dtype.hasobject:
                raise TypeError(f"{what}: {error}") from None
            facts = _numpy_info(array)
    if not facts["end"] and facts["data"] and not facts["on_device"]:
        raise ValueError(f"{what}: a {type(array).__name__} does not say how long its memory is; pass a tensor")
    return facts


class LaunchMemory:
    """Buffers of one launch.

    buffers: (name, first byte, one past the last, read only) of each, as the extension takes them.
    """

    def __init__(self) -> None:
        self.buffers: list[tuple[str, int, int, bool]] = []
        self._alive: list[Any] = []
        self._copies: dict[int, tuple[Any, Any]] = {}

    def add(self, what: str, name: str, array: Any) -> int:
        """Lets the launch touch the memory of an array; the address of its first element.

        what: begins the text of errors. name: what errors of the kernel call it.
        Errors: TypeError, no array, or on a device and no torch tensor; ValueError, one of unknown extent.
        """
        facts = array_facts(what, array)
        if facts["on_device"]:
            with _without_torch_functions():
                array = self._host_copy(what, array)
            facts = array_facts(what, array)
        self._alive.append(array)
        self.buffers.append((name, facts["begin"], facts["end"], bool(facts["read_only"])))
        return int(facts["data"])

    def add_registered(self) -> None:
        """Lets the launch touch what `tiletwin.register` was given."""
        for array in memory.registered():
            self.add("tiletwin.register", f"registered {type(array).__name__}", array)

    def write_back(self) -> None:
        """Copies what the kernel has left in copies of GPU tensors to where they came from."""
        for device, host in self._copies.values():
            device.copy_(host)

    def _host_copy(self, what: str, tensor: Any) -> Any:
        """A tensor on the host like one on a GPU. Errors: TypeError, it is not torch's, or has no data."""
        if not hasattr(tensor, "untyped_storage"):
            raise TypeError(
                f"{what} is {type(tensor).__name__} memory on a device: pass a torch tensor (it is copied to the host "
                "and back) or host memory"
            )
        return memory.host_copy(what, tensor, self._copies)
