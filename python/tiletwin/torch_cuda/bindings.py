"""What torch._C has in a build with CUDA, where CUDA is emulated: torch.cuda's own Python code runs on it, unchanged.

Here:      the functions `torch._C._cuda_*` and their like, the runtime's and NVTX's modules; what is refused, and why.
Not here:  streams, events, graphs (objects.py), the devices (devices.py), tensors (mode.py).
Invariant: nothing pretends to measure a GPU: what would, and what records GPU work, raises NotImplementedError.
           No function, class or module of torch.cuda is replaced, so their kinds and signatures are torch's.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

from tiletwin.torch_cuda import devices, objects
from tiletwin.torch_cuda.devices import MEMORY
from tiletwin.torch_cuda.objects import refusal

SENSOR = "asks a sensor of a GPU"
ALLOCATOR = "allocates memory of a GPU"
POOL = "holds memory of a GPU"
_REFUSED = {
    **dict.fromkeys(("cudaCachingAllocator_raw_alloc", "customAllocator", "changeCurrentAllocator"), ALLOCATOR),
    **dict.fromkeys(("getAllocator", "cudaHostAllocator", "cudaCachingAllocator_raw_delete"), ALLOCATOR),
    **dict.fromkeys(("beginAllocateToPool", "beginAllocateCurrentThreadToPool", "endAllocateToPool"), POOL),
    **dict.fromkeys(("beginAllocateCurrentStreamToPool", "releasePool", "checkPoolLiveAllocations"), POOL),
    **dict.fromkeys(("getCheckpointState", "setCheckpointPoolState"), POOL),
    "getCurrentBlasHandle": "gives a handle of cuBLAS",
    "getCurrentSolverHandle": "gives a handle of cuSOLVER",
    "jiterator_compile_and_launch_kernel": "compiles CUDA C++",
    **dict.fromkeys(
        (
            "tunableop_enable tunableop_tuning_enable tunableop_set_max_tuning_duration "
            "tunableop_get_max_tuning_duration tunableop_set_max_tuning_iterations "
            "tunableop_get_max_tuning_iterations tunableop_set_filename tunableop_get_filename tunableop_read_file "
            "tunableop_get_results tunableop_get_validators tunableop_set_rotating_buffer_size "
            "tunableop_get_rotating_buffer_size tunableop_set_numerical_check_tolerances record_untuned_enable"
        ).split(),
        "tunes libraries of a GPU",
    ),
}
"""torch._C._cuda_...: what it would do."""

_STATISTICS = (
    "allocation segment active inactive_split allocated_bytes reserved_bytes active_bytes inactive_split_bytes "
    "requested_bytes"
).split()
_FIELDS = ("current", "peak", "allocated", "freed")
_COUNTERS = "num_alloc_retries num_ooms num_sync_all_streams num_device_alloc num_device_free max_split_size".split()


class CudaError(enum.IntEnum):
    """`torch.cuda.cudart().cudaError`: numbers of the CUDA runtime's errors."""

    success = 0
    invalidValue = 1
    notReady = 600


def _refusing(name: str, why: str) -> Callable[..., NoReturn]:
    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise refusal(name, why)

    return refused


def _nothing(*args: Any, **kwargs: Any) -> None:
    pass


def _success(*args: Any, **kwargs: Any) -> CudaError:
    return CudaError.success


def _giving(value: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: value


def _memory_stats(device: int) -> dict[str, Any]:
    """Every statistic of the caching allocator: zero, because no memory of a GPU is in use."""
    devices.check(device)
    zero = dict.fromkeys(_FIELDS, 0)
    pools = {name: {pool: dict(zero) for pool in ("all", "large_pool", "small_pool")} for name in _STATISTICS}
    oversize = {"oversize_allocations": dict(zero), "oversize_segments": dict(zero)}
    return {**pools, **oversize, **dict.fromkeys(_COUNTERS, 0)}


def _memory_info(device: int = 0) -> tuple[int, int]:
    devices.check(device)
    return (MEMORY, MEMORY)


def _current_stream(device: int) -> tuple[int, int, int]:
    return objects.current_stream(devices.check(device))


def functions() -> dict[str, Callable[..., Any]]:
    """torch._C._cuda_...: what it is."""
    # What can be set and read back, and changes nothing.
    settings = SimpleNamespace(sync_debug_mode=0, metadata="", caching=True, cudnn_benchmark_limit=10)
    fractions: dict[int, float] = {}

    def setting(name: str) -> Callable[[Any], None]:
        return lambda value: setattr(settings, name, value)

    def set_fraction(fraction: float, device: int) -> None:
        fractions[devices.check(device)] = fraction

    no_segments = {"segments": [], "device_traces": [], "allocator_settings": {}, "external_annotations": []}
    major, minor = (int(part) for part in devices.CUDA_VERSION.split("."))
    return {
        **{name: _refusing(f"torch._C._cuda_{name}", why) for name, why in _REFUSED.items()},
        **dict.fromkeys(
            (
                "init synchronize ipc_collect emptyCache sleep resetAccumulatedMemoryStats resetPeakMemoryStats "
                "resetAccumulatedHostMemoryStats resetPeakHostMemoryStats record_memory_history "
                "record_memory_history_legacy attach_out_of_memory_observer clearCublasWorkspaces "
                "setCublasWorkspaceSize setCublasLtWorkspaceSize resetCublasWorkspaceSize resetCublasLtWorkspaceSize"
            ).split(),
            _nothing,
        ),
        **dict.fromkeys(
            "isHistoryEnabled isInBadFork canDeviceAccessPeer tunableop_is_enabled tunableop_tuning_is_enabled "
            "record_untuned_is_enabled get_conv_benchmark_empty_cache isCurrentStreamCapturing".split(),
            _giving(False),
        ),
        "getCublasWorkspaceSize": _giving(0),
        "getCublasLtWorkspaceSize": _giving(0),
        "allocationTraceback": _giving(None),
        "getCompiledVersion": _giving(1000 * major + 10 * minor),
        "getArchFlags": _giving("sm_{}{}".format(*devices.CAPABILITY)),
        "getAllocatorBackend": _giving("native"),
        "getDeviceCount": devices.count,
        "getDevice": devices.current,
        "setDevice": devices.select,
        "exchangeDevice": devices.exchange,
        "maybeExchangeDevice": devices.exchange,
        "hasPrimaryContext": lambda device: device < devices.count(),
        "getCurrentStream": _current_stream,
        "getCurrentRawStream": lambda device: _current_stream(device)[0],
        "getDefaultStream": lambda device: (0, devices.check(device), objects.CUDA_DEVICE_TYPE),
        "getStreamFromExternal": lambda data_ptr, device: (data_ptr, device, objects.CUDA_DEVICE_TYPE),
        "setStream": objects.set_stream,
        "memoryStats": _memory_stats,
        "hostMemoryStats": dict,
        "memorySnapshot": lambda *args, **kwargs: {name: type(value)() for name, value in no_segments.items()},
        "set_sync_debug_mode": setting("sync_debug_mode"),
        "get_sync_debug_mode": lambda: settings.sync_debug_mode,
        "setMemoryFraction": set_fraction,
        "getMemoryFraction": lambda device: fractions.get(device, 1.0),
        "setMemoryMetadata": setting("metadata"),
        "getMemoryMetadata": lambda: settings.metadata,
        "cudaCachingAllocator_enable": setting("caching"),
        "cudaCachingAllocator_is_enabled": lambda: settings.caching,
        "set_cudnn_benchmark_limit": setting("cudnn_benchmark_limit"),
        "get_cudnn_benchmark_limit": lambda: settings.cudnn_benchmark_limit,
    }


def runtime_module() -> Any:
    """`torch.cuda.cudart()`: the functions of the CUDA runtime that torch hands out."""
    return SimpleNamespace(
        cudaError=CudaError,
        cudaGetErrorString=lambda error: CudaError(error).name,
        cudaMemGetInfo=_memory_info,
        **dict.fromkeys(
            "cudaProfilerStart cudaProfilerStop cudaDeviceSynchronize cudaHostRegister cudaHostUnregister "
            "cudaStreamCreate cudaStreamDestroy".split(),
            _success,
        ),
    )


def nvtx_module() -> Any:
    """`torch._C._nvtx`: ranges are counted, so that their depths are right, and go nowhere."""
    ranges = threading.local()

    def push(message: str) -> int:
        ranges.depth = getattr(ranges, "depth", 0) + 1
        return ranges.depth - 1

    def pop() -> int:
        ranges.depth = getattr(ranges, "depth", 0) - 1
        return ranges.depth

    return SimpleNamespace(
        rangePushA=push,
        rangePop=pop,
        markA=_nothing,
        rangeStartA=_giving(0),
        rangeEnd=_nothing,
        deviceRangeStart=_giving(None),
        deviceRangeEnd=_nothing,
    )


def copies_between_devices(torch: Any) -> dict[str, Callable[..., Any]]:
    """torch._C._...: what torch.nn.parallel moves tensors with."""

    def on(device: int) -> Any:
        return torch.device("cuda", device)

    def scatter(tensor: Any, devices: Any, sizes: Any = None, dim: int = 0, streams: Any = None) -> list[Any]:
        parts = tensor.split(sizes, dim) if sizes else tensor.chunk(len(devices), dim)
        return [part.to(on(device)) for part, device in zip(parts, devices)]

    def gather(tensors: Any, dim: int, destination: int | None = None) -> Any:
        where = torch.device("cpu") if destination == -1 else on(devices.index_of(destination))
        return torch.cat([tensor.to(where) for tensor in tensors], dim)

    def broadcast(tensor: Any, devices: Any) -> list[Any]:
        return [tensor.to(on(device)) for device in devices]

    return {
        "scatter": scatter,
        "gather": gather,
        "broadcast": broadcast,
        "broadcast_coalesced": lambda tensors, devices, buffer_size: [
            [tensor.to(on(device)) for tensor in tensors] for device in devices
        ],
    }
