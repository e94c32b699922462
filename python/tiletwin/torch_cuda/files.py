"""Where CUDA is emulated: torch.save writes what a build with CUDA writes, and torch.load puts tensors where it would.

Here:      the location of storages in files, storages that are moved, the attributes that files leave out.
Not here:  plain pickles and copies, which keep a tensor's attributes; other processes (processes.py).
Invariant: no file of torch.save has a word of tiletwin in it. Locations go through torch's own registry of them, so
           every form of `map_location` means what it means on a GPU.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from tiletwin.torch_cuda import devices
from tiletwin.torch_cuda.marks import MARK, asked_index, index_of_mark, mark_as, names_cuda, notice
from tiletwin.torch_cuda.mode import PINNED

_BEFORE_THE_CPU = 5
"""Torch asks those that know locations in order of such numbers; the CPU, which all storages here are on, has 10."""

_thread = threading.local()


def patch(torch: Any) -> None:
    """Replaces the functions for the rest of the process."""
    _patch_save(torch)
    torch.serialization.register_package(_BEFORE_THE_CPU, _location_of, _place)
    rebuild = torch._utils._rebuild_tensor

    @functools.wraps(rebuild)
    def rebuild_marked(storage: Any, *args: Any) -> Any:
        return mark_as(rebuild(storage, *args), storage._untyped_storage)

    torch._utils._rebuild_tensor = rebuild_marked
    move = torch.UntypedStorage.to

    @functools.wraps(move)
    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        index = asked_index(device)
        if index is None and index_of_mark(self) is None:
            return move(self, device=device, non_blocking=non_blocking)
        if index_of_mark(self) == index:
            return self
        return self.clone() if index is None else _on(self.clone(), index)

    torch.UntypedStorage.to = to


def _on(storage: Any, index: int) -> Any:
    vars(storage)[MARK] = index
    return storage


def _location_of(storage: Any) -> str | None:
    index = index_of_mark(storage)
    return None if index is None else f"cuda:{index}"


def _place(storage: Any, location: str) -> Any:
    """The storage that was just read, on the device that `location` names; None: it names no emulated one."""
    if not names_cuda(location):
        return None
    import torch

    notice()
    number, count = torch.device(location).index, devices.count()
    if number is not None and number >= count > 0:
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {number} but torch.cuda.device_count() is {count}: "
            f"map_location says where tensors go instead, and TILETWIN_CUDA_DEVICES={number + 1} emulates {number + 1}"
        )
    return _on(storage, devices.index_of(location))


def _patch_save(torch: Any) -> None:
    save, state_of = torch.save, torch._utils._get_obj_state

    @functools.wraps(save)
    def save_with_locations(*args: Any, **kwargs: Any) -> None:
        before = getattr(_thread, "saving", False)
        _thread.saving = True
        try:
            save(*args, **kwargs)
        finally:
            _thread.saving = before

    @functools.wraps(state_of)
    def state_without_marks(obj: Any) -> Any:
        """The attributes of a tensor or parameter. In a file its storage says where it is."""
        state = state_of(obj)
        if not getattr(_thread, "saving", False) or not isinstance(obj, torch.Tensor):
            return state
        index = index_of_mark(obj)
        if index is not None and torch._C._has_storage(obj):
            _on(obj.untyped_storage(), index)
        if isinstance(state, tuple):
            return (_without_marks(state[0]), *state[1:])
        return _without_marks(state)

    torch.save = torch.serialization.save = save_with_locations
    torch._utils._get_obj_state = state_without_marks


def _without_marks(attributes: Any) -> Any:
    if not isinstance(attributes, dict):
        return attributes
    return {name: value for name, value in attributes.items() if name not in (MARK, PINNED)}
