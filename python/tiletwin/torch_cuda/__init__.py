"""Puts the emulated CUDA under torch.cuda, torch.accelerator and their like.

Here:      which names of torch get what; what torch's Python code cannot do on emulated bindings alone.
Not here:  the bindings (bindings.py, objects.py), tensors on the device (mode.py).
Invariant: what is public in torch.cuda stays torch's own object, or has its signature.
"""

from __future__ import annotations

import functools
from typing import Any

from tiletwin.torch_cuda import bindings, devices, objects
from tiletwin.torch_cuda.bindings import SENSOR

_BASES = {
    "_CudaStreamBase": objects.StreamBase,
    "_CudaEventBase": objects.EventBase,
    "_CUDAGraph": objects.GraphBase,
    # Can be named, annotated with and derived from; not made.
    "_MemPool": type("PoolBase", (), {"__new__": bindings._refusing("torch.cuda.MemPool", bindings.POOL)}),
    "_cuda_CUDAAllocator": type(
        "AllocatorBase", (), {"__new__": bindings._refusing("An allocator of torch.cuda.memory", bindings.ALLOCATOR)}
    ),
}


def _patch_bindings(torch: Any) -> None:
    """torch._C: classes that are dummies there get their members, functions that are missing are added."""
    binding = torch._C
    for name, own in _BASES.items():
        if hasattr(binding, name):
            objects.give(getattr(binding, name), own)
    for name, function in bindings.functions().items():
        full = "_cuda_" + name
        if isinstance(getattr(binding, full, None), type):
            objects.give_function(getattr(binding, full), function)
        else:
            setattr(binding, full, function)
    pool = bindings._refusing("torch.cuda.graph_pool_handle", objects.GRAPH)
    objects.give_function(binding._graph_pool_handle, pool)
    for name, function in bindings.copies_between_devices(torch).items():
        setattr(binding, "_" + name, function)
    binding._has_cuda = True
    binding._nccl_version = bindings._refusing("torch.cuda.nccl.version", "asks NCCL, which needs a GPU")
    # torch._dynamo.reset() imports these two where torch says that it was built with CUDA.
    binding._cuda_CUDAAllocator_AllocatorState = type("AllocatorState", (), {})
    binding._set_cached_tensors_enabled = bindings._nothing


def _patch_module(torch: Any) -> None:
    """torch.cuda: what it took from torch._C when it was imported."""
    cuda = torch.cuda
    objects.give(cuda._CudaDeviceProperties, devices.DeviceProperties)
    torch._C._CudaDeviceProperties = cuda._CudaDeviceProperties
    cuda._get_device_properties = lambda device: cuda._CudaDeviceProperties()
    cuda._exchange_device = devices.exchange
    cuda._maybe_exchange_device = lambda index: devices.exchange(index)  # Dynamo tells the two apart
    cuda._cudart = bindings.runtime_module()
    torch._C._nvtx = cuda.nvtx._nvtx = bindings.nvtx_module()
    cuda._is_in_bad_fork = torch._C._cuda_isInBadFork
    # Sensors are asked through NVML. `nvidia-smi`'s list of processes would be a text about a missing module.
    cuda._get_pynvml_handler = bindings._refusing("torch.cuda, for this function,", SENSOR)
    cuda.list_gpu_processes = cuda.memory.list_gpu_processes = functools.wraps(cuda.memory.list_gpu_processes)(
        bindings._refusing("torch.cuda.list_gpu_processes", SENSOR)
    )
    # Nothing is left to initialize, and what libraries queued must not seed generators later.
    cuda._queued_calls.clear()
    cuda._initialized = True


def _accelerator(torch: Any) -> dict[str, Any]:
    """torch._C._accelerator_...: what it is."""
    cuda, binding = torch.cuda, torch._C
    return {
        "getAccelerator": lambda: torch.device("cuda"),
        "getDeviceIndex": devices.current,
        "setDeviceIndex": devices.select,
        "exchangeDevice": devices.exchange,
        "maybeExchangeDevice": devices.exchange,
        "hooks_device_count": devices.count,
        "getStream": cuda.current_stream,
        "setStream": cuda.set_stream,
        "synchronizeDevice": bindings._nothing,
        "isAllocatorInitialized": lambda: True,
        "emptyCache": bindings._nothing,
        "emptyHostCache": bindings._nothing,
        "getDeviceStats": binding._cuda_memoryStats,
        "resetAccumulatedStats": bindings._nothing,
        "resetPeakStats": bindings._nothing,
        "getMemoryInfo": cuda._cudart.cudaMemGetInfo,
    }


def patch(torch: Any) -> None:
    """Emulates CUDA for the rest of the process."""
    torch.version.cuda = devices.CUDA_VERSION
    _patch_bindings(torch)
    _patch_module(torch)
    for name, function in _accelerator(torch).items():
        if hasattr(torch._C, "_accelerator_" + name):
            setattr(torch._C, "_accelerator_" + name, function)
    torch._C._get_accelerator = lambda: torch.device("cuda")
