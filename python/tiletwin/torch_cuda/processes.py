"""Where CUDA is emulated: tensors that go to other processes, and process groups.

Here:      the device of tensors that torch.multiprocessing hands over; gloo in place of NCCL.
Not here:  plain pickles and files, which keep a tensor's attributes; threads (patches.py).
Invariant: a tensor is in the other process on the device that it was on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from multiprocessing import reduction
from typing import Any

from tiletwin.torch_cuda.marks import index_of_mark, mark, say_once


def patch(torch: Any) -> None:
    """Replaces the functions for the rest of the process."""
    _patch_reductions(torch)
    if torch.distributed.is_available():
        from torch.distributed import distributed_c10d

        _patch_process_groups(distributed_c10d, torch.device("cpu"))


def rebuild_marked(index: int, rebuild: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The tensor that `rebuild` makes in the receiving process, on device `index`."""
    return mark(rebuild(*arguments), index)


def _patch_reductions(torch: Any) -> None:
    """Storages travel through shared memory, and the tensor around them is made anew."""
    plain = torch.multiprocessing.reductions.reduce_tensor

    @functools.wraps(plain)
    def reduce_tensor(tensor: Any) -> Any:
        with torch._C.DisableTorchFunction():  # it asks where the tensor really is
            rebuild, arguments = plain(tensor)
        index = index_of_mark(tensor)
        return (rebuild, arguments) if index is None else (rebuild_marked, (index, rebuild, arguments))

    torch.multiprocessing.reductions.reduce_tensor = reduce_tensor
    for kind in (torch.Tensor, torch.nn.Parameter, *torch._tensor_classes):
        reduction.register(kind, reduce_tensor)


def _patch_process_groups(c10d: Any, cpu: Any) -> None:
    """NCCL's collectives are gloo's, for which all tensors are ones of the CPU."""
    Backend, BackendConfig = c10d.Backend, c10d.BackendConfig
    new, configure = Backend.__new__, BackendConfig.__init__

    def new_backend(cls: Any, name: Any) -> Any:
        asked = str(new(cls, name))
        served = asked.replace(Backend.NCCL, Backend.GLOO)
        if served != asked:
            say_once("process groups of backend 'nccl' are served by gloo: CUDA is emulated here")
        return served

    def configure_both(self: Any, backend: Any) -> None:
        configure(self, new_backend(Backend, backend))
        devices = self.device_backend_map
        if devices.get("cuda") == Backend.GLOO:
            devices.setdefault("cpu", Backend.GLOO)

    Options = c10d.BarrierOptions

    class BarrierOptions(Options):
        """Where barriers exchange their tensors: gloo has them on the CPU, whatever device the caller names."""

        device = property(Options.device.fget, lambda self, device: Options.device.fset(self, cpu))
        device_ids = property(Options.device_ids.fget, lambda self, device_ids: None)

    c10d.BarrierOptions = BarrierOptions
    Backend.__new__ = new_backend
    BackendConfig.__init__ = configure_both
    Backend.default_device_backend_map["cuda"] = Backend.GLOO
