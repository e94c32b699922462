"""The functions of torch.cuda, torch.accelerator and their like where CUDA is emulated on the CPU.

Here:      their replacements: one device, number 0, with an H200's numbers; streams and events that have finished.
Not here:  tensors that claim to live on the device (cuda_mode.py).
Invariant: nothing pretends to measure a GPU: what would, and what records GPU work, raises NotImplementedError.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NoReturn

NAME = "NVIDIA H200 (emulated on the CPU)"
MEMORY = 141 * 10**9
CUDA_VERSION = "12.8"
"""What torch.version.cuda says: scripts parse it."""


class Event:
    """A point in time; what torch.cuda.Event is for code that times itself."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._time: float | None = None

    def record(self, stream: Any = None) -> None:
        self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to `end`. Errors: RuntimeError, one was not recorded."""
        if self._time is None or end._time is None:
            raise RuntimeError("both events must be recorded before their distance can be measured")
        return (end._time - self._time) * 1e3


class Stream:
    """A stream that has always finished."""

    cuda_stream = 0
    stream_id = 0
    device_index = 0
    device_type = 1

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        check_device(device)
        self.priority = priority

    @property
    def device(self) -> Any:
        import torch

        return torch.device("cuda", 0)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return (0, -1)

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def wait_stream(self, stream: Any) -> None:
        pass

    def wait_event(self, event: Any) -> None:
        pass

    def record_event(self, event: Any = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


class DeviceScope:
    """`with torch.cuda.device(0):` changes nothing."""

    def __init__(self, device: Any = None) -> None:
        check_device(device)
        self.idx = 0

    def __enter__(self) -> DeviceScope:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


class DeviceOfScope(DeviceScope):
    """`with torch.cuda.device_of(tensor):` changes nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__()


class StreamScope:
    """`with torch.cuda.stream(s):` changes nothing."""

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream

    def __enter__(self) -> Any:
        return self.stream

    def __exit__(self, *error: Any) -> None:
        pass


def check_device(device: Any) -> None:
    """RuntimeError unless `device` (an int, a string, a torch.device, None) is the one device there is."""
    index = getattr(device, "index", device)
    if isinstance(device, str):
        number = device.partition(":")[2]
        index = int(number) if number.isdigit() else 0
    if isinstance(index, int) and index > 0:
        raise RuntimeError(f"invalid device ordinal {index}: one device, cuda:0, is emulated")


def _properties() -> SimpleNamespace:
    """An H200's numbers."""
    return SimpleNamespace(
        name=NAME,
        major=9,
        minor=0,
        total_memory=MEMORY,
        multi_processor_count=132,
        is_integrated=False,
        is_multi_gpu_board=False,
        max_threads_per_multi_processor=2048,
        max_threads_per_block=1024,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=232448,
        shared_memory_per_multiprocessor=233472,
        warp_size=32,
        L2_cache_size=62914560,
        clock_rate=1980000,
        memory_clock_rate=3201000,
        memory_bus_width=6144,
        gcnArchName="",
        uuid="00000000-0000-0000-0000-000000000000",
        pci_bus_id=0,
        pci_device_id=0,
        pci_domain_id=0,
    )


def _refusing(name: str, why: str) -> Callable[..., NoReturn]:
    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name} {why}; CUDA is emulated on the CPU here")

    return refused


def _on_device_0(function: Callable[[], Any]) -> Callable[..., Any]:
    """`function`, with a device as an argument that is checked."""

    def checked(device: Any = None) -> Any:
        check_device(device)
        return function()

    return checked


def _nothing(*args: Any, **kwargs: Any) -> None:
    pass


def _zero(*args: Any, **kwargs: Any) -> int:
    return 0


GRAPH = "records work for a GPU"
SENSOR = "asks a sensor of a GPU"


def _replacements(torch: Any) -> dict[str, Any]:
    """Attributes of torch.cuda."""
    stream = Stream()
    refused = {
        **dict.fromkeys(("graph", "CUDAGraph", "make_graphed_callables", "graph_pool_handle"), GRAPH),
        **dict.fromkeys(("utilization", "temperature", "power_draw", "clock_rate", "memory_usage"), SENSOR),
        **dict.fromkeys(("device_memory_used", "list_gpu_processes"), SENSOR),
        "current_blas_handle": "gives a handle of cuBLAS",
        "caching_allocator_alloc": "allocates device memory",
    }
    return {
        **{name: _refusing(f"torch.cuda.{name}", why) for name, why in refused.items()},
        **dict.fromkeys(
            (
                "init _lazy_init synchronize empty_cache ipc_collect reset_peak_memory_stats "
                "reset_max_memory_allocated reset_max_memory_cached reset_accumulated_memory_stats set_stream "
                "set_per_process_memory_fraction set_sync_debug_mode caching_allocator_enable"
            ).split(),
            _nothing,
        ),
        **dict.fromkeys(
            (
                "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached "
                "max_memory_cached get_sync_debug_mode"
            ).split(),
            _zero,
        ),
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": check_device,
        "get_device_name": _on_device_0(lambda: NAME),
        "get_device_capability": _on_device_0(lambda: (9, 0)),
        "get_device_properties": _on_device_0(_properties),
        "get_arch_list": lambda: ["sm_90"],
        "get_gencode_flags": lambda: "",
        "can_device_access_peer": lambda device, peer_device: False,
        "is_bf16_supported": lambda *args, **kwargs: True,
        "is_tf32_supported": lambda: True,
        "is_current_stream_capturing": lambda: False,
        "memory_stats": lambda *args, **kwargs: defaultdict(int),
        "memory_stats_as_nested_dict": lambda *args, **kwargs: {},
        "memory_snapshot": lambda *args, **kwargs: [],
        "memory_summary": lambda *args, **kwargs: "no memory of a GPU is in use: CUDA is emulated on the CPU\n",
        "mem_get_info": lambda *args, **kwargs: (MEMORY, MEMORY),
        "get_per_process_memory_fraction": lambda *args, **kwargs: 1.0,
        "manual_seed": lambda seed: torch.cuda.default_generators[0].manual_seed(seed) and None,
        "manual_seed_all": lambda seed: torch.cuda.default_generators[0].manual_seed(seed) and None,
        "seed": lambda: torch.cuda.default_generators[0].seed() and None,
        "seed_all": lambda: torch.cuda.default_generators[0].seed() and None,
        "initial_seed": lambda: torch.initial_seed(),
        "get_rng_state": lambda *args, **kwargs: torch.get_rng_state(),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "set_rng_state": lambda state, *args, **kwargs: torch.set_rng_state(state),
        "set_rng_state_all": lambda states: torch.set_rng_state(states[0]),
        "Event": Event,
        "Stream": Stream,
        "ExternalStream": lambda stream_ptr, device=None, **kwargs: Stream(device),
        "StreamContext": StreamScope,
        "stream": StreamScope,
        "device": DeviceScope,
        "device_of": DeviceOfScope,
        "current_stream": _on_device_0(lambda: stream),
        "default_stream": _on_device_0(lambda: stream),
        "cudart": lambda: SimpleNamespace(cudaProfilerStart=_zero, cudaProfilerStop=_zero, cudaDeviceSynchronize=_zero),
    }


def _accelerator(torch: Any) -> dict[str, Any]:
    """Attributes of torch.accelerator."""
    return {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_device_index": lambda: 0,
        "current_device_idx": lambda: 0,
        "set_device_index": check_device,
        "set_device_idx": check_device,
        "current_stream": torch.cuda.current_stream,
        "set_stream": _nothing,
        "synchronize": _nothing,
        "empty_cache": _nothing,
    }


@contextlib.contextmanager
def _scope(*args: Any, **kwargs: Any) -> Iterator[None]:
    yield


def _patch_autocast(torch: Any) -> None:
    """`torch.autocast("cuda")` also casts what runs on the CPU, which is where such tensors are."""
    autocast = torch.amp.autocast_mode.autocast
    enter, leave = autocast.__enter__, autocast.__exit__

    def enter_both(self: Any) -> Any:
        result = enter(self)
        self._on_cpu = None
        if self.device == "cuda" and self.fast_dtype in (torch.float16, torch.bfloat16):
            self._on_cpu = autocast("cpu", dtype=self.fast_dtype, enabled=self._enabled)
            enter(self._on_cpu)
        return result

    def leave_both(self: Any, *error: Any) -> Any:
        if self._on_cpu is not None:
            leave(self._on_cpu, *error)
        return leave(self, *error)

    autocast.__enter__, autocast.__exit__ = enter_both, leave_both


def patch(torch: Any) -> None:
    """Replaces the functions for the rest of the process."""
    cuda = torch.cuda
    for name, value in _replacements(torch).items():
        setattr(cuda, name, value)
    for name, value in _accelerator(torch).items():
        if hasattr(torch, "accelerator"):
            setattr(torch.accelerator, name, value)
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        setattr(cuda.nvtx, name, _zero)
    cuda.nvtx.range = _scope
    for name in ("start", "stop", "init"):
        setattr(cuda.profiler, name, _nothing)
    cuda.profiler.profile = _scope
    torch.version.cuda = CUDA_VERSION
    torch.backends.cuda.is_built = lambda: True
    torch._C._cuda_getCurrentRawStream = _zero
    torch._C._cuda_getDevice = _zero
    torch._C._cuda_setDevice = _nothing
    # torch._dynamo.reset() imports these two where torch says that it was built with CUDA.
    torch._C._cuda_CUDAAllocator_AllocatorState = type("AllocatorState", (), {})
    torch._C._set_cached_tensors_enabled = _nothing
    _patch_autocast(torch)
