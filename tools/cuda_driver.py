"""The CUDA driver as far as recording needs it: modules of PTX or machine code, memory, launches, tensor maps.

Here:      libcuda through ctypes.
Not here:  what is launched (record_cuda.py).
Invariant: a call that fails is a GpuError with the driver's own words.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

GUARD = 256
"""Bytes behind each array that a launch must leave alone."""
MAX_DYNAMIC_SHARED, STACK_SIZE = 8, 0
COOPERATIVE, CLUSTER = 2, 4
ERROR_LOG, ERROR_LOG_BYTES = 5, 6
TYPES = (
    "uint8 uint16 uint32 int32 uint64 int64 float16 float32 float64 bfloat16 float32_ftz tfloat32 tfloat32_ftz".split()
)
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


class GpuError(RuntimeError):
    pass


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint),
    ]


class Gpu:
    def __init__(self, stack: int = 16384, library: ctypes.CDLL | None = None) -> None:
        self.cuda = library or ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.name, self.version = name.value.decode(), version.value
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)
        self.call("cuCtxSetLimit", STACK_SIZE, ctypes.c_size_t(stack))

    def call(self, function: str, *arguments: Any) -> None:
        code = getattr(self.cuda, function)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, ctypes.byref(text))
            raise GpuError(f"{function}: {(text.value or b'?').decode()} ({code})")

    def function(self, image: bytes, entry: str, shared: int) -> ctypes.c_void_p:
        """An entry of a module of PTX text or of machine code, with room for its dynamic shared memory."""
        log = ctypes.create_string_buffer(1 << 16)
        options = (ctypes.c_int * 2)(ERROR_LOG, ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), image + b"\0", 2, options, values)
        except GpuError as error:
            raise GpuError(f"{error}\n{log.value.decode(errors='replace')}") from None
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        if shared > 0:
            self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared)
        return function

    def upload(self, array: np.ndarray) -> int:
        """Address of a copy in the GPU's memory, with GUARD bytes behind it."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes + GUARD))
        data = array.tobytes() + b"\xa5" * GUARD
        self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address.value

    def free(self, address: int) -> None:
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def download(self, address: int, like: np.ndarray) -> np.ndarray:
        data = ctypes.create_string_buffer(like.nbytes + GUARD)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(len(data)))
        if data.raw[like.nbytes :] != b"\xa5" * GUARD:
            raise GpuError("something was written behind the end of an array")
        return np.frombuffer(data.raw[: like.nbytes], like.dtype).reshape(like.shape)

    def launch(
        self,
        function: ctypes.c_void_p,
        grid: tuple,
        block: tuple,
        cluster: tuple,
        shared: int,
        cooperative: bool,
        parameters: list[bytes],
    ) -> None:
        """Runs a kernel to its end. parameters: the bytes of each."""
        attributes = (Attribute * 2)()
        count = 0
        if cluster != (1, 1, 1):
            attributes[count].id = CLUSTER
            attributes[count].value[:3] = cluster
            count += 1
        if cooperative:
            attributes[count].id = COOPERATIVE
            attributes[count].value[0] = 1
            count += 1
        config = Config(tuple(grid), tuple(block), shared, None, attributes, count)
        kept = []  # 64 bytes of alignment: tensor maps want them
        for parameter in parameters:
            room = ctypes.create_string_buffer(len(parameter) + 64)
            start = -ctypes.addressof(room) % 64
            ctypes.memmove(ctypes.addressof(room) + start, parameter, len(parameter))
            kept.append((room, ctypes.addressof(room) + start))
        pointers = (ctypes.c_void_p * max(1, len(kept)))(*(address for _, address in kept))
        self.call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)
        self.call("cuCtxSynchronize")

    def tensor_map(
        self,
        address: int,
        kind: str,
        sizes: tuple,
        strides: tuple,
        box: tuple,
        swizzle: int,
        steps: tuple = (),
        interleave: int = 0,
        promotion: int = 0,
        fill: int = 0,
    ) -> bytes:
        room = ctypes.create_string_buffer(192)
        start = ctypes.addressof(room) + -ctypes.addressof(room) % 64
        rank = len(sizes)
        self.call(
            "cuTensorMapEncodeTiled",
            ctypes.c_void_p(start),
            TYPES.index(kind),
            rank,
            ctypes.c_void_p(address),
            (ctypes.c_uint64 * rank)(*sizes),
            (ctypes.c_uint64 * max(1, rank - 1))(*strides),
            (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*(steps or (1,) * rank)),
            interleave,
            SWIZZLES[swizzle],
            promotion,
            fill,
        )
        return ctypes.string_at(start, 128)


def captured(work: Callable[[], None]) -> str:
    """What the process, the driver included, writes to its standard output during work()."""
    libc = ctypes.CDLL(None)
    sys.stdout.flush()
    libc.fflush(None)
    saved = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            work()
        finally:
            libc.fflush(None)
            os.dup2(saved, 1)
            os.close(saved)
        file.seek(0)
        return file.read().decode()
