"""Memory pools that two processes use, as the driver's documentation of stream-ordered memory has them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import children
import numpy as np
import pytest
import virtual_gpu as gpu
from virtual_gpu import INVALID_VALUE, NOT_SUPPORTED, call, code_of, context, from_device, number

HERE = Path(__file__).parent
NOT_PERMITTED, FILE_DESCRIPTOR, USED_CURRENT = 800, 1, 7
X = np.arange(1000, dtype=np.float32)
OTHER = """
import ctypes, sys
import numpy as np
import virtual_gpu as gpu
from test_pool_ipc import *
with gpu.context():
    pool = number("cuMemPoolImportFromShareableHandle", int(sys.argv[1]), FILE_DESCRIPTOR, 0)
    words = (ctypes.c_uint8 * 64).from_buffer_copy(bytes.fromhex(sys.argv[2]))
    memory = number("cuMemPoolImportPointer", pool, words)
    assert used(pool) == 4000
    assert np.array_equal(from_device(memory, X), X)
    gpu.launch(gpu.function("add"), *[ctypes.c_uint64(memory)] * 3, ctypes.c_uint32(1000), grid=16, block=64)
    assert code_of("cuMemAllocFromPoolAsync", ctypes.byref(ctypes.c_uint64()), 16, pool, 0) == NOT_PERMITTED
    assert number("cuPointerGetAttribute", 17, memory) == pool
    call(sys.argv[3], memory, *[0][:sys.argv[3].endswith("Async")])
    assert used(pool) == 0
    assert code_of("cuMemFreeAsync", memory, 0) == gpu.INVALID_VALUE
    call("cuMemPoolDestroy", pool)
print("added")
"""


class Properties(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("handles", ctypes.c_int), ("place", ctypes.c_int), ("device", ctypes.c_int),
        ("security", ctypes.c_void_p), ("largest", ctypes.c_size_t), ("rest", ctypes.c_uint8 * 56),
    ]  # fmt: skip


def used(pool: int) -> int:
    value = ctypes.c_uint64()
    call("cuMemPoolGetAttribute", pool, USED_CURRENT, ctypes.byref(value))
    return value.value


def make_pool(handles: int = FILE_DESCRIPTOR) -> int:
    return number("cuMemPoolCreate", ctypes.byref(Properties(1, handles, 1, 0)))


def exported(pool: int) -> int:
    return number("cuMemPoolExportToShareableHandle", pool, FILE_DESCRIPTOR, 0, kind=ctypes.c_int)


def words_of(address: int) -> bytes:
    words = (ctypes.c_uint8 * 64)()
    call("cuMemPoolExportPointer", words, address)
    return bytes(words)


@contextmanager
def shared() -> Iterator[tuple[int, int, int]]:
    """A pool, its file, and memory of it that holds X."""
    with context():
        pool = make_pool()
        memory = number("cuMemAllocFromPoolAsync", X.nbytes, pool, 0)
        call("cuMemcpyHtoD_v2", memory, X.ctypes.data_as(ctypes.c_void_p), X.nbytes)
        file = exported(pool)
        yield pool, file, memory
        os.close(file)


@pytest.mark.parametrize("free", ["cuMemFreeAsync", "cuMemFree_v2"])
def test_another_process_reads_and_writes(free):
    with shared() as (pool, file, memory):
        ran = subprocess.run(
            [sys.executable, "-c", OTHER, str(file), words_of(memory).hex(), free],
            env=children.environment(HERE), pass_fds=[file], capture_output=True, text=True,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (0, "added\n"), ran.stderr
        assert np.array_equal(from_device(memory, X), 2 * X)
        assert used(pool) == 4000  # it has not been given back here
        call(free, memory, *[0][: free.endswith("Async")])
        assert used(pool) == 0


def test_the_same_process_may_import_it():
    with shared() as (_, file, memory):
        again = number("cuMemPoolImportFromShareableHandle", file, FILE_DESCRIPTOR, 0)
        words = (ctypes.c_uint8 * 64).from_buffer_copy(words_of(memory))
        twin = number("cuMemPoolImportPointer", again, words)
        assert twin != memory and np.array_equal(from_device(twin, X), X)
        call("cuMemsetD8_v2", memory, 0, X.nbytes)
        assert not from_device(twin, X).any()
        call("cuMemFreeAsync", memory, 0)
        assert not from_device(twin, X).any()  # the bytes stay as long as somebody has them
        assert code_of("cuMemPoolImportPointer", ctypes.byref(ctypes.c_uint64()), again, words) == INVALID_VALUE


def test_threads_that_send_need_no_context():
    with shared() as (_, file, memory), ThreadPoolExecutor(1) as other:
        words = other.submit(words_of, memory).result()
        assert words == words_of(memory)
        again = other.submit(number, "cuMemPoolImportFromShareableHandle", file, FILE_DESCRIPTOR, 0).result()
        twin = other.submit(number, "cuMemPoolImportPointer", again, (ctypes.c_uint8 * 64)(*words)).result()
        assert np.array_equal(from_device(twin, X), X)


def test_what_cannot_be_shared():
    with shared() as (pool, file, memory):
        out, words = ctypes.byref(ctypes.c_uint64()), (ctypes.c_uint8 * 64)()
        assert code_of("cuMemPoolCreate", out, ctypes.byref(Properties(1, 8, 1, 0))) == NOT_SUPPORTED
        assert code_of("cuMemPoolExportToShareableHandle", out, make_pool(0), FILE_DESCRIPTOR, 0) == INVALID_VALUE
        assert code_of("cuMemPoolExportToShareableHandle", out, pool, 2, 0) == INVALID_VALUE
        own = number("cuMemAllocFromPoolAsync", 16, make_pool(0), 0)
        assert code_of("cuMemPoolExportPointer", words, own) == INVALID_VALUE
        assert code_of("cuMemPoolExportPointer", words, memory + 4) == INVALID_VALUE
        assert code_of("cuMemPoolExportPointer", words, gpu.to_device(X)) == INVALID_VALUE
        with open("/dev/null") as other:  # a file that is no pool
            assert code_of("cuMemPoolImportFromShareableHandle", out, other.fileno(), 1, 0) == INVALID_VALUE
        imported = number("cuMemPoolImportFromShareableHandle", file, FILE_DESCRIPTOR, 0)
        second = make_pool()
        words = (ctypes.c_uint8 * 64).from_buffer_copy(words_of(number("cuMemAllocFromPoolAsync", 16, second, 0)))
        assert code_of("cuMemPoolImportPointer", out, imported, words) == INVALID_VALUE  # another pool's memory
        assert code_of("cuMemPoolImportPointer", out, second, words) == INVALID_VALUE  # it was not imported
        assert code_of("cuDeviceSetMemPool", 0, imported) == INVALID_VALUE


def test_attributes_tell():
    with shared() as (pool, _, memory):
        assert number("cuDeviceGetAttribute", 119, 0, kind=ctypes.c_int) == FILE_DESCRIPTOR
        assert number("cuPointerGetAttribute", 14, memory) == FILE_DESCRIPTOR
        assert number("cuPointerGetAttribute", 17, memory) == pool
        assert number("cuPointerGetAttribute", 14, gpu.to_device(X)) == 0
