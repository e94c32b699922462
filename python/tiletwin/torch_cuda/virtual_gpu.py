"""torch.cuda in a process of `tiletwin gpu`: tensors are the host's memory, lent to the virtual GPU's driver.

Here:      what the emulation adds there: storages that the driver knows, streams of the driver, the GPU's numbers.
Not here:  the emulation (emulation.py), the driver (sim/driver), the command (gpu.py).
Invariant: the driver knows a storage from the first time that somebody takes a tensor's address until a later such
           call finds the storage gone. It never gets what is not on a device: clients tell by its answer that a tensor
           is the host's.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from tiletwin import variables
from tiletwin.torch_cuda import devices, emulation, hidden, objects
from tiletwin.torch_cuda.marks import HOST, place_of

_ALREADY_REGISTERED = 712
_A100 = {
    "name": "NVIDIA A100-SXM4-80GB (tiletwin)", "major": 8, "minor": 0, "total_memory": 84987740160,
    "multi_processor_count": 108, "shared_memory_per_block_optin": 166912,
    "shared_memory_per_multiprocessor": 167936, "L2_cache_size": 41943040, "clock_rate": 1410000,
    "memory_clock_rate": 1593000, "memory_bus_width": 5120,
}  # fmt: skip


class Driver:
    """The few functions of the driver that PyTorch's part needs. Each call is made in a device's primary context.

    Errors: as PyTorch has them, torch.AcceleratorError (a RuntimeError) with the driver's words for what it returned.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self._contexts: dict[int, ctypes.c_void_p] = {}
        self._call("cuInit", 0)  # as torch.cuda does before anyone can ask it for a device

    def _check(self, code: int) -> None:
        if code:
            import torch

            words = ctypes.c_char_p()
            self._library.cuGetErrorString(code, ctypes.byref(words))
            raise getattr(torch, "AcceleratorError", RuntimeError)(f"CUDA error: {(words.value or b'').decode()}")

    def _call(self, name: str, *arguments: Any) -> None:
        self._check(getattr(self._library, name)(*arguments))

    def _enter(self, index: int) -> None:
        context = self._contexts.get(index)
        if context is None:
            context = ctypes.c_void_p()
            self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), index)
            self._contexts[index] = context
        self._call("cuCtxPushCurrent_v2", context)

    def register(self, index: int, address: int, size: int) -> bool:
        """False: a part of it is known already."""
        self._enter(index)
        code = self._library.cuMemHostRegister_v2(ctypes.c_uint64(address), ctypes.c_size_t(size), 0)
        self._leave()
        if code != _ALREADY_REGISTERED:
            self._check(code)
        return code == 0

    def unregister(self, index: int, address: int) -> None:
        self._enter(index)
        self._library.cuMemHostUnregister(ctypes.c_uint64(address))
        self._leave()

    def synchronize(self) -> None:
        """Errors: what a kernel on the current device has done wrong."""
        self._enter(devices.current())
        code = self._library.cuCtxSynchronize()
        self._leave()
        self._check(code)

    def align_allocations(self) -> None:
        """Tensors begin where a GPU's allocations do."""
        self._call("cuTiletwinAlignAllocations", b"libc10.so")

    def stream(self, index: int, priority: int) -> int:
        """A stream that lives as long as the process."""
        made = ctypes.c_void_p()
        self._enter(index)
        non_blocking = 1  # as PyTorch makes its own
        self._call("cuStreamCreateWithPriority", ctypes.byref(made), non_blocking, priority)
        self._leave()
        return made.value or 0

    def _leave(self) -> None:
        self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


class Lent:
    """The storages that the driver knows. Thread-safe."""

    def __init__(self, driver: Driver, weak: Any) -> None:
        """weak: torch's class of weak references to storages."""
        self._driver, self._weak = driver, weak
        self._mutex = threading.Lock()
        self._known: dict[int, tuple[int, int, int, Any]] = {}
        """By the storage's number: begin, bytes, device, weak reference."""

    def lend(self, storage: Any, index: int) -> None:
        begin, size, key = storage.data_ptr(), storage.nbytes(), storage._cdata
        if not begin or not size:
            return
        known = self._known.get(key)
        if known is not None and known[:2] == (begin, size):
            return
        with self._mutex:
            for other, (at, _, device, weak) in list(self._known.items()):
                if other == key or weak.expired():
                    self._forget(other, device, at)
            while not self._driver.register(index, begin, size):
                begin, size = self._joined(begin, size)
            self._known[key] = (begin, size, index, self._weak(storage))

    def _forget(self, key: int, index: int, begin: int) -> None:
        self._driver.unregister(index, begin)
        del self._known[key]

    def _joined(self, begin: int, size: int) -> tuple[int, int]:
        """A range and those that it meets, which storages of the same memory have, as one. They are no longer known."""
        end, first = begin + size, begin
        met = [(k, v) for k, v in self._known.items() if v[0] < end and begin < v[0] + v[1]]
        if not met:
            raise RuntimeError(f"somebody else has registered a part of the tensor of {size} bytes at {begin:#x}")
        for key, (at, bytes_, index, _) in met:
            first, end = min(first, at), max(end, at + bytes_)
            self._forget(key, index, at)
        return first, end - first


def prepare(module: Any) -> None:
    """Called with torch._C before torch.cuda is imported, and with torch when it has been imported."""
    if module.__name__ == "torch._C":
        hidden.hide(module)
        return
    if not module.cuda.is_available():
        _take_numbers()
        emulation.prepare(module, compiles=True)
        _install(module)


def _take_numbers() -> None:
    """What PyTorch says of a device is what the driver says."""
    if variables.text("TILETWIN_GPU_ARCH") == "sm_80":
        devices.CAPABILITY = (8, 0)
        for name, value in _A100.items():
            setattr(devices.DeviceProperties, name, value)
    else:
        devices.DeviceProperties.name = "NVIDIA H200 (tiletwin)"


def _install(torch: Any) -> None:
    from torch.multiprocessing.reductions import StorageWeakRef

    from tiletwin.torch_cuda import mode

    driver = Driver()
    lent = Lent(driver, StorageWeakRef)

    def data_ptr(func: Any, x: Any) -> int:
        place = place_of(x)
        if place != HOST and type(x).__name__ != "FakeTensor":
            lent.lend(x.untyped_storage(), place or 0)
        return func(x)

    mode._PLAIN.discard(torch.Tensor.data_ptr)
    mode._HANDLERS[torch.Tensor.data_ptr] = data_ptr
    objects.new_stream = driver.stream
    torch._C._cuda_synchronize = driver.synchronize
    driver.align_allocations()
