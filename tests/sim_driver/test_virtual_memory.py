"""Memory that a client places itself: ranges of addresses, memory without one, mappings, access."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import children
import numpy as np
import pytest
import virtual_gpu as gpu
from virtual_gpu import call, code_of, number

UNIT = 2 << 20
PINNED, DEVICE, READ, READ_WRITE = 1, 1, 1, 3
STORE = (
    gpu.HEAD
    + """
.visible .entry store(.param .u64 at)
{ .reg .b64 %d<2>; .reg .b32 %r<2>; ld.param.u64 %d1, [at]; mov.u32 %r1, 7; st.global.u32 [%d1], %r1; ret; }
.visible .entry load(.param .u64 at)
{ .reg .b64 %d<2>; .reg .b32 %r<2>; ld.param.u64 %d1, [at]; ld.global.u32 %r1, [%d1]; st.global.u32 [%d1+4], %r1; ret; }
.visible .entry read(.param .u64 at)
{ .reg .b64 %d<2>; .reg .b32 %r<2>; ld.param.u64 %d1, [at]; ld.global.u32 %r1, [%d1]; ret; }
"""
)


def properties(device: int = 0, handles: int = 0) -> ctypes.Array:
    return ctypes.create_string_buffer(struct.pack("<iiiiQBBH4x", PINNED, handles, DEVICE, device, 0, 0, 0, 0))


def access(flags: int, device: int = 0) -> ctypes.Array:
    return ctypes.create_string_buffer(struct.pack("<iii", DEVICE, device, flags))


def create(size: int = UNIT) -> int:
    return number("cuMemCreate", size, properties(), 0)


@contextlib.contextmanager
def reserved(size: int, alignment: int = 0) -> Iterator[int]:
    address = number("cuMemAddressReserve", size, alignment, 0, 0)
    try:
        yield address
    finally:
        call("cuMemAddressFree", address, size)


def free_bytes() -> int:
    free = ctypes.c_size_t()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(ctypes.c_size_t()))
    return free.value


def test_memory_keeps_its_content_where_it_goes():
    with gpu.context():
        assert number("cuMemGetAllocationGranularity", properties(), 0) == UNIT
        before, memory = free_bytes(), create()
        assert free_bytes() == before - UNIT
        with reserved(4 * UNIT, 8 * UNIT) as range_:
            assert range_ % (8 * UNIT) == 0
            call("cuMemMap", range_, UNIT, 0, memory, 0)
            call("cuMemSetAccess", range_, UNIT, access(READ_WRITE), 1)
            gpu.launch(gpu.function("store", gpu.module(STORE)), ctypes.c_uint64(range_))
            assert gpu.from_device(range_, np.zeros(1, np.uint32)) == 7
            call("cuMemUnmap", range_, UNIT)
            call("cuMemMap", range_ + 2 * UNIT, UNIT, 0, memory, 0)
            call("cuMemMap", range_ + 3 * UNIT, UNIT, 0, memory, 0)  # the same bytes twice
            call("cuMemRelease", memory)
            call("cuMemSetAccess", range_ + 2 * UNIT, 2 * UNIT, access(READ_WRITE), 1)
            assert gpu.from_device(range_ + 3 * UNIT, np.zeros(1, np.uint32)) == 7
            handle = number("cuMemRetainAllocationHandle", ctypes.c_void_p(range_ + 2 * UNIT + 5))
            given = ctypes.create_string_buffer(32)
            call("cuMemGetAllocationPropertiesFromHandle", given, handle)
            assert given.raw == properties().raw[:32]
            call("cuMemRelease", handle)
            assert free_bytes() == before - UNIT
            call("cuMemUnmap", range_ + 2 * UNIT, 2 * UNIT)
            assert free_bytes() == before


def test_mappings_that_touch_are_one_allocation():
    with gpu.context(), reserved(3 * UNIT) as range_:
        memory = [create(), create()]
        for i, one in enumerate(memory):
            call("cuMemMap", range_ + i * UNIT, UNIT, 0, one, 0)
            call("cuMemSetAccess", range_ + i * UNIT, UNIT, access(READ_WRITE), 1)
        values = np.arange(2 * UNIT // 4, dtype=np.uint32)
        call("cuMemcpyHtoD_v2", range_, values.ctypes.data_as(ctypes.c_void_p), values.nbytes)
        assert np.array_equal(gpu.from_device(range_, values), values)
        begin, size = ctypes.c_uint64(), ctypes.c_size_t()
        call("cuMemGetAddressRange_v2", ctypes.byref(begin), ctypes.byref(size), range_ + UNIT)
        assert (begin.value, size.value) == (range_, 2 * UNIT)
        call("cuMemUnmap", range_, UNIT)
        assert code_of("cuMemcpyHtoD_v2", range_, values.ctypes.data_as(ctypes.c_void_p), 4) == gpu.INVALID_VALUE
        assert gpu.from_device(range_ + UNIT, values[:1]) == UNIT // 4
        call("cuMemUnmap", range_ + UNIT, UNIT)
        for one in memory:
            call("cuMemRelease", one)


@pytest.mark.parametrize("flags, kernel, code", [
    (None, "read", gpu.ILLEGAL_ADDRESS), (0, "read", gpu.ILLEGAL_ADDRESS), (READ, "read", 0),
    (READ, "store", gpu.ILLEGAL_ADDRESS), (READ_WRITE, "load", 0),
])  # fmt: skip
def test_kernels_have_the_access_that_was_given(flags, kernel, code):
    with gpu.context(), reserved(UNIT) as range_:
        memory = create()
        call("cuMemMap", range_, UNIT, 0, memory, 0)
        if flags is not None:
            call("cuMemSetAccess", range_, UNIT, access(flags), 1)
        place = ctypes.create_string_buffer(struct.pack("<ii", DEVICE, 0))
        assert number("cuMemGetAccess", place, range_) == (flags or 0)
        gpu.launch(gpu.function(kernel, gpu.module(STORE)), ctypes.c_uint64(range_))
        assert code_of("cuCtxSynchronize") == code
        call("cuMemUnmap", range_, UNIT)
        call("cuMemRelease", memory)


def test_what_makes_no_sense_is_refused():
    with gpu.context(), reserved(2 * UNIT) as range_:
        memory, out = create(), ctypes.byref(ctypes.c_uint64())
        for wrong in (
            ("cuMemAddressReserve", out, UNIT + 1, 0, 0, 0),
            ("cuMemAddressReserve", out, UNIT, 3, 0, 0),
            ("cuMemCreate", out, UNIT // 2, properties(), 0),
            ("cuMemCreate", out, UNIT, properties(device=9), 0),
            ("cuMemMap", range_ + 2 * UNIT, UNIT, 0, memory, 0),
            ("cuMemMap", range_ + 4096, UNIT, 0, memory, 0),
            ("cuMemMap", range_, 2 * UNIT, 0, memory, 0),
            ("cuMemMap", range_, UNIT, 0, memory + 16, 0),
            ("cuMemUnmap", range_, UNIT),
            ("cuMemSetAccess", range_, UNIT, access(READ_WRITE), 1),
            ("cuMemAddressFree", range_, UNIT),
            ("cuMemRelease", memory + 16),
        ):
            assert code_of(*wrong) == gpu.INVALID_VALUE, wrong[0]
        assert code_of("cuMemCreate", out, UNIT, properties(handles=8), 0) == gpu.NOT_SUPPORTED
        assert code_of("cuMemCreate", out, 1 << 50, properties(), 0) == gpu.OUT_OF_MEMORY
        call("cuMemMap", range_, UNIT, 0, memory, 0)
        assert code_of("cuMemMap", range_, UNIT, 0, memory, 0) == gpu.INVALID_VALUE
        assert code_of("cuMemSetAccess", range_, 2 * UNIT, access(READ_WRITE), 1) == gpu.INVALID_VALUE
        assert code_of("cuMemSetAccess", range_, UNIT, access(2), 1) == gpu.INVALID_VALUE
        assert code_of("cuMemAddressFree", range_, 2 * UNIT) == gpu.INVALID_VALUE
        call("cuMemUnmap", range_, UNIT)
        call("cuMemRelease", memory)


OTHER = """
import sys
from test_virtual_memory import *
with gpu.context():
    memory = number("cuMemImportFromShareableHandle", int(sys.argv[1]), 1)
    with reserved(UNIT) as range_:
        call("cuMemMap", range_, UNIT, 0, memory, 0)
        call("cuMemSetAccess", range_, UNIT, access(READ_WRITE), 1)
        assert gpu.from_device(range_, np.zeros(1, np.uint32)) == 5
        gpu.launch(gpu.function("store", gpu.module(STORE)), ctypes.c_uint64(range_))
        call("cuMemUnmap", range_, UNIT)
    call("cuMemRelease", memory)
"""


def test_another_process_has_the_same_memory():
    with gpu.context(), reserved(UNIT) as range_:
        assert number("cuDeviceGetAttribute", 103, 0, kind=ctypes.c_int) == 1
        memory = number("cuMemCreate", UNIT, properties(handles=1), 0)
        call("cuMemMap", range_, UNIT, 0, memory, 0)
        call("cuMemSetAccess", range_, UNIT, access(READ_WRITE), 1)
        call("cuMemsetD32_v2", range_, 5, 1)
        file = number("cuMemExportToShareableHandle", memory, 1, 0, kind=ctypes.c_int)
        words = [sys.executable, "-c", OTHER, str(file)]
        folder = Path(__file__).parent
        ran = subprocess.run(words, env=children.environment(folder), pass_fds=[file], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert gpu.from_device(range_, np.zeros(1, np.uint32)) == 7
        before = free_bytes()
        again = number("cuMemImportFromShareableHandle", file, 1)
        os.close(file)
        given = ctypes.create_string_buffer(32)
        call("cuMemGetAllocationPropertiesFromHandle", given, again)
        assert given.raw[:32] == properties(handles=1).raw[:32]
        call("cuMemRelease", again)
        assert free_bytes() == before
        call("cuMemUnmap", range_, UNIT)
        out = ctypes.byref(ctypes.c_uint64())
        assert code_of("cuMemExportToShareableHandle", out, memory, 2, 0) == gpu.INVALID_VALUE
        call("cuMemRelease", memory)
        assert code_of("cuMemExportToShareableHandle", out, create(), 1, 0) == gpu.INVALID_VALUE
        with open("/dev/null") as other:
            assert code_of("cuMemImportFromShareableHandle", out, other.fileno(), 1) == gpu.INVALID_VALUE
