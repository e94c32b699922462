"""Launches with tensors that live on a GPU, while kernels are interpreted: they are copied to the host and back.

Here:      replacement of the arguments, one copy per storage so that aliases stay aliases.
Not here:  the launch (`JITFunction.run`).
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from tiletwin import _C, memory
from tiletwin.kernels.tensors import TensorWrapper
from tiletwin.tools.tensor_descriptor import TensorDescriptor

_WAYS = ("data_ptr", "__cuda_array_interface__", "__dlpack__")
"""How objects that are no tensors of torch say where their memory is."""


def launch(fn: Any, arguments: dict[str, Any], options: dict[str, Any], grid: tuple, session: Any = None) -> Any:
    """Runs the launch on host copies and writes what changed back.

    Errors: TypeError, memory out of this process's reach that is no torch tensor's.
    """
    storages: dict[int, tuple[Any, Any]] = {}
    torch = sys.modules.get("torch")

    def host(name: str, value: Any) -> Any:
        if isinstance(value, TensorWrapper):
            return TensorWrapper(host(name, value.base), value.dtype)
        if isinstance(value, (tuple, list)):
            items = [host(f"{name}[{i}]", item) for i, item in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, TensorDescriptor):
            return dataclasses.replace(value, base=host(f"{name}.base", value.base))
        if torch is not None and isinstance(value, torch.Tensor):
            if value.device.type == "cpu":
                return value
            return memory.host_copy(f"{fn.__name__}(): argument {name!r}", value, storages)
        if any(hasattr(value, way) for way in _WAYS) and _C.array_info(value)["on_device"]:
            raise TypeError(
                f"{fn.__name__}(): argument {name!r} is {type(value).__name__} memory that this process cannot read, "
                "on a device or freed; while kernels are interpreted, pass a torch tensor (it is copied to the host "
                "and back) or host memory"
            )
        return value

    arguments = {name: host(name, value) for name, value in arguments.items()}
    args, kwargs = fn.as_call(arguments)
    kernel = fn.run(*args, **kwargs, grid=grid, warmup=False, **options)
    for device, copy in storages.values():
        device.copy_(copy)
    return kernel
