"""Streams, events, graphs and pools of memory where CUDA is emulated: what torch's own classes of them derive from.

Here:      the base classes that torch built without CUDA has as dummies, and `give`, which puts ours in their place.
Not here:  torch.cuda.Stream and its like, which are torch's; functions (bindings.py).
Invariant: every stream has always finished; an event is a point in time of the CPU's clock. The classes stay the
           objects that they were: who holds one from before sees the emulation too.
"""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any, NoReturn

from tiletwin.torch_cuda import devices

CUDA_DEVICE_TYPE = 1
GRAPH = "records work for a GPU"
_stream_ids = itertools.count(1)
_event_ids = itertools.count(1)
_current = threading.local()


def new_stream(device: int, priority: int) -> int:
    """What a new stream's number is. Where there is a driver, its own handle (virtual_gpu.py)."""
    return next(_stream_ids)


def refusal(name: str, why: str) -> NotImplementedError:
    return NotImplementedError(f"{name} {why}; CUDA is emulated on the CPU here")


def give(dummy: Any, own: type) -> None:
    """Makes the class `dummy` behave as `own`. Code compiled for `own` must not use zero-argument super()."""
    for name, value in vars(own).items():
        if name not in ("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__"):
            setattr(dummy, name, value)


def give_function(dummy: Any, function: Any) -> None:
    """Calling the class `dummy`, which torch has in place of a function, calls `function`."""
    dummy.__new__ = staticmethod(lambda cls, *args, **kwargs: function(*args, **kwargs))


def current_stream(index: int) -> tuple[int, int, int]:
    """(id, device, kind of device) of this thread's current stream of a device."""
    return (getattr(_current, "ids", {}).get(index, 0), index, CUDA_DEVICE_TYPE)


def set_stream(stream_id: int, device_index: int, device_type: int = CUDA_DEVICE_TYPE) -> None:
    """Makes a stream, and its device, the current ones of this thread."""
    devices.select(device_index)
    if not hasattr(_current, "ids"):
        _current.ids = {}
    _current.ids[device_index] = stream_id


class StreamBase:
    """A stream that has always finished."""

    def __new__(
        cls,
        device: Any = None,
        priority: int = 0,
        stream_id: int | None = None,
        device_index: int | None = None,
        device_type: int = CUDA_DEVICE_TYPE,
        stream_ptr: int | None = None,
        **kwargs: Any,
    ) -> Any:
        stream: Any = object.__new__(cls)
        stream.device_index = devices.current() if device_index is None else devices.check(device_index)
        stream.device_type, stream.priority = device_type, max(-1, min(0, priority))
        if stream_id is None:
            made = stream_ptr is None
            stream_id = new_stream(stream.device_index, stream.priority) if made else int(stream_ptr)
        stream.stream_id = stream.cuda_stream = stream_id
        return stream

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    @property
    def device(self: Any) -> Any:
        import torch

        return torch.device("cuda", self.device_index)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return (0, -1)

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def is_capturing(self) -> bool:
        return False

    def __eq__(self: Any, other: Any) -> bool:
        return (self.stream_id, self.device_index) == (other.stream_id, other.device_index)

    def __hash__(self: Any) -> int:
        return hash((self.stream_id, self.device_index))

    def __enter__(self: Any) -> Any:
        device = devices.current()
        self.__dict__.setdefault("_before", []).append((current_stream(self.device_index), device))
        set_stream(self.stream_id, self.device_index)
        return self

    def __exit__(self: Any, *error: Any) -> None:
        stream, device = self._before.pop()
        set_stream(*stream)
        devices.select(device)


class EventBase:
    """A point in time of the CPU's clock."""

    def __new__(
        cls,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
        **kwargs: Any,
    ) -> Any:
        event: Any = object.__new__(cls)
        event.enable_timing, event.cuda_event, event.device, event._time = enable_timing, 0, None, None
        return event

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: Any) -> NoReturn:
        raise refusal("torch.cuda.Event.from_ipc_handle", "opens an event of a GPU that another process made")

    def ipc_handle(self) -> NoReturn:
        raise refusal("torch.cuda.Event.ipc_handle", "shares an event of a GPU with another process")

    def record(self: Any, stream: Any = None) -> None:
        self.cuda_event = self.cuda_event or next(_event_ids)
        self.device = getattr(stream, "device", None)
        self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def elapsed_time(self: Any, end_event: Any) -> float:
        """Milliseconds from this event to `end_event`.

        Errors: ValueError, as on a GPU: one was made without enable_timing=True, or was not recorded.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("elapsed_time: both events must be created with argument 'enable_timing=True'")
        if self._time is None or end_event._time is None:
            raise ValueError("elapsed_time: both events must be recorded before their distance can be measured")
        return (end_event._time - self._time) * 1e3


class GraphBase:
    """Can be named, annotated with and derived from; not made."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise refusal("torch.cuda.CUDAGraph", GRAPH)

    @staticmethod
    def get_currently_capturing_graph() -> None:
        return None
