"""The driver's functions: devices, contexts, memory, modules, launches, streams, graphs; codes of what is wrong."""

from __future__ import annotations

import ctypes
import struct
import threading

import numpy as np
import pytest
import virtual_gpu as gpu
from virtual_gpu import call, code_of, number

X = np.arange(1000, dtype=np.float32)


def text_of(name: str, code: int) -> bytes | None:
    text = ctypes.c_char_p()
    call(name, code, ctypes.byref(text))
    return text.value


def test_the_device_is_an_h200():
    call("cuInit", 0)
    assert number("cuDeviceGetCount", kind=ctypes.c_int) == 1
    name = ctypes.create_string_buffer(64)
    call("cuDeviceGetName", name, 64, 0)
    assert name.value == b"NVIDIA H200 (tiletwin)"
    attributes = {16: 132, 75: 9, 76: 0, 97: 232448, 10: 32, 95: 1, 120: 1, 41: 1}
    assert {a: number("cuDeviceGetAttribute", a, 0, kind=ctypes.c_int) for a in attributes} == attributes
    assert code_of("cuDeviceGetAttribute", ctypes.byref(ctypes.c_int()), 9999, 0) == gpu.INVALID_VALUE
    assert code_of("cuDeviceGet", ctypes.byref(ctypes.c_int()), 1) == gpu.INVALID_DEVICE
    assert text_of("cuGetErrorName", 700) == b"CUDA_ERROR_ILLEGAL_ADDRESS"
    assert text_of("cuGetErrorString", 700) == b"an illegal memory access was encountered"
    assert code_of("cuGetErrorName", 12345, ctypes.byref(ctypes.c_char_p())) == gpu.INVALID_VALUE


def test_functions_by_name_and_version():
    call("cuInit", 0)
    address = lambda name: ctypes.cast(getattr(gpu.LIBRARY, name), ctypes.c_void_p).value
    status = ctypes.c_int()

    def found(name: str, version: int) -> int:
        function = ctypes.c_void_p()
        call("cuGetProcAddress_v2", name, ctypes.byref(function), version, 0, ctypes.byref(status))
        return function.value or 0

    assert found(b"cuCtxCreate", 12000) == address("cuCtxCreate_v3")
    assert found(b"cuCtxCreate", 4000) == address("cuCtxCreate_v2")
    assert found(b"cuCtxCreate", 13000) == address("cuCtxCreate_v4")
    assert found(b"cuMemAlloc", 3020) == address("cuMemAlloc_v2") and status.value == 0
    with pytest.raises(gpu.DriverError, match="500"):
        found(b"cuLibraryLoadData", 11000)
    assert status.value == 2  # there is one, in a later version
    with pytest.raises(gpu.DriverError, match="500"):
        found(b"cuNoSuchFunction", 13000)
    assert status.value == 1


def test_what_is_not_there_says_its_name_once(capfd):
    with gpu.context():
        for _ in range(2):
            assert code_of("cuMulticastCreate", None, None) == gpu.NOT_SUPPORTED
    assert capfd.readouterr().err.count("cuMulticastCreate is not there: it returns CUDA_ERROR_NOT_SUPPORTED") == 1


def test_a_kernel_adds_and_counts_in_a_global():
    with gpu.context():
        module = gpu.module()
        add = gpu.function("add", module)
        for _ in range(3):
            np.testing.assert_array_equal(gpu.launch_add(add, X), 3 * X)
        size = ctypes.c_size_t()
        address = number("cuModuleGetGlobal_v2", ctypes.byref(size), module, b"launches")
        assert size.value == 4 and gpu.from_device(address, np.zeros(1, np.uint32)) == [10]
        assert code_of("cuModuleGetGlobal_v2", None, None, module, b"none") == gpu.NOT_FOUND


def test_parameters_in_one_block():
    with gpu.context():
        add = gpu.function("add")
        addresses = [gpu.to_device(a) for a in (X, X, np.zeros_like(X))]
        block = struct.pack("<QQQI", *addresses, X.size)
        buffer, size = ctypes.create_string_buffer(block, len(block)), ctypes.c_size_t(len(block))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), None)
        call("cuLaunchKernel", add, 16, 1, 1, 64, 1, 1, 0, 0, None, extra)
        np.testing.assert_array_equal(gpu.from_device(addresses[2], X), 2 * X)
        size.value = 8  # three parameters have no value
        assert code_of("cuLaunchKernel", add, 16, 1, 1, 64, 1, 1, 0, 0, None, extra) == gpu.INVALID_VALUE


@pytest.mark.parametrize("grid, block, shared, code", [
    (1, 1025, 0, gpu.INVALID_VALUE), (0, 1, 0, gpu.INVALID_VALUE), (1, 0, 0, gpu.INVALID_VALUE),
    (1, 1, 50000, gpu.INVALID_VALUE), (1, 64, 49152, 0), (1, 65, 0, gpu.INVALID_VALUE),
])  # fmt: skip
def test_launches_that_do_not_fit(grid, block, shared, code):
    with gpu.context():
        narrow = gpu.function("narrow")
        assert code_of("cuLaunchKernel", narrow, grid, 1, 1, block, 1, 1, shared, 0, None, None) == code
        assert code_of("cuCtxSynchronize") == 0  # nothing of that stays


def test_more_shared_memory_is_asked_for():
    with gpu.context():
        narrow = gpu.function("narrow")
        call("cuFuncSetAttribute", narrow, 8, 100000)
        gpu.launch(narrow, block=64, shared=100000)
        assert code_of("cuFuncSetAttribute", narrow, 8, 232449) == gpu.INVALID_VALUE


@pytest.mark.parametrize("kernel, code, text", [
    ("wild", gpu.ILLEGAL_ADDRESS, "writes 4 bytes at"), ("odd", gpu.MISALIGNED, "no multiple of 4"),
    ("fails", gpu.LAUNCH_FAILED, "the kernel ended itself with trap"),
])  # fmt: skip
def test_a_fault_stays_in_its_context(kernel, code, text, capfd):
    with gpu.context() as outer:
        x = gpu.to_device(X)
        with gpu.context():
            of = gpu.function(kernel)
            own = gpu.to_device(X)
            gpu.launch(of, ctypes.c_uint64(own))  # a launch itself succeeds, as on a GPU
            for name in ("cuCtxSynchronize", "cuMemAlloc_v2", "cuStreamSynchronize"):
                assert code_of(name, ctypes.byref(ctypes.c_uint64()), 4) == code
        assert number("cuCtxGetCurrent") == outer
        np.testing.assert_array_equal(gpu.from_device(x, X), X)
    said = capfd.readouterr().err
    assert text in said and f"{kernel}: kernel.ptx:" in said and "the client gets CUDA_ERROR_" in said


def test_out_of_bounds_by_one_element():
    with gpu.context():
        add = gpu.function("add")
        short = gpu.to_device(X[:-1])
        full = gpu.to_device(X)
        gpu.launch(add, ctypes.c_uint64(short), ctypes.c_uint64(full), ctypes.c_uint64(full), ctypes.c_uint32(X.size),
                   grid=16, block=64)  # fmt: skip
        assert code_of("cuCtxSynchronize") == gpu.ILLEGAL_ADDRESS


def test_a_reset_ends_a_primary_contexts_fault():
    call("cuInit", 0)
    primary = number("cuDevicePrimaryCtxRetain", 0)
    try:
        call("cuCtxSetCurrent", primary)
        kept = gpu.to_device(X)
        gpu.launch(gpu.function("wild"))
        assert code_of("cuCtxSynchronize") == gpu.ILLEGAL_ADDRESS
        call("cuDevicePrimaryCtxReset_v2", 0)
        assert code_of("cuCtxSynchronize") == 0
        assert code_of("cuMemFree_v2", kept) == gpu.INVALID_VALUE  # it went with the reset
        np.testing.assert_array_equal(gpu.launch_add(gpu.function("add"), X), 3 * X)
    finally:
        call("cuDevicePrimaryCtxRelease_v2", 0)
        assert code_of("cuCtxSynchronize") == gpu.IS_DESTROYED
        call("cuCtxSetCurrent", 0)
    assert code_of("cuDevicePrimaryCtxRelease_v2", 0) == gpu.INVALID_CONTEXT


def test_contexts_are_a_stack():
    with gpu.context() as first, gpu.context() as second:
        assert number("cuCtxGetCurrent") == second
        assert number("cuCtxPopCurrent_v2") == second and number("cuCtxGetCurrent") == first
        call("cuCtxPushCurrent_v2", second)
        module = gpu.module()
        call("cuCtxDestroy_v2", second)
        assert number("cuCtxGetCurrent") == first
        assert code_of("cuCtxPushCurrent_v2", second) == gpu.IS_DESTROYED
        assert code_of("cuCtxDestroy_v2", second) == gpu.IS_DESTROYED
        assert code_of("cuCtxSetCurrent", 12345) == gpu.INVALID_CONTEXT
        assert code_of("cuModuleUnload", module) == gpu.INVALID_HANDLE
    assert number("cuCtxGetCurrent") == 0
    assert code_of("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), 4) == gpu.INVALID_CONTEXT


def test_contexts_that_count_who_is_attached():
    """The driver's guide: a context ends when each attachment and its making have been detached, in the thread that has
    it."""
    with gpu.context() as outer:
        inner = number("cuCtxCreate_v2", 0, 0)
        assert number("cuCtxAttach", 0) == inner
        assert code_of("cuCtxAttach", ctypes.byref(ctypes.c_uint64()), 1) == gpu.INVALID_VALUE
        assert code_of("cuCtxDetach", outer) == gpu.INVALID_CONTEXT, "it is not the thread's now"
        call("cuCtxDetach", inner)
        assert number("cuCtxGetCurrent") == inner and number("cuMemAlloc_v2", 4)
        with pytest.raises(gpu.DriverError):
            gpu.launch(gpu.function("fails"))
            call("cuCtxSynchronize")
        call("cuCtxDetach", inner)
        assert number("cuCtxGetCurrent") == outer
        assert code_of("cuCtxPushCurrent_v2", inner) == gpu.IS_DESTROYED
    assert code_of("cuCtxDetach", outer) == gpu.INVALID_CONTEXT
    primary = number("cuDevicePrimaryCtxRetain", 0)
    call("cuCtxSetCurrent", primary)
    assert code_of("cuCtxDetach", primary) == gpu.INVALID_CONTEXT, "it is released"
    call("cuCtxSetCurrent", 0)
    call("cuDevicePrimaryCtxRelease_v2", 0)


def test_memory_and_what_is_no_memory():
    with gpu.context():
        free = lambda: number("cuMemGetInfo_v2", ctypes.byref(ctypes.c_size_t()))
        before = free()
        address = number("cuMemAlloc_v2", 1000)
        assert before - free() == 1000
        begin, size = ctypes.c_uint64(), ctypes.c_size_t()
        call("cuMemGetAddressRange_v2", ctypes.byref(begin), ctypes.byref(size), address + 999)
        assert (begin.value, size.value) == (address, 1000)
        data = np.zeros(1001, np.uint8)
        at = data.ctypes.data_as(ctypes.c_void_p)
        assert code_of("cuMemcpyHtoD_v2", address, at, 1001) == gpu.INVALID_VALUE
        assert code_of("cuMemcpyHtoD_v2", 4096, at, 4) == gpu.INVALID_VALUE
        assert code_of("cuMemsetD8_v2", address, 1, 1001) == gpu.INVALID_VALUE
        assert code_of("cuMemsetD32_v2", address + 1, 1, 1) == gpu.INVALID_VALUE
        call("cuMemFree_v2", address)
        assert free() == before
        assert code_of("cuMemFree_v2", address) == gpu.INVALID_VALUE
        assert code_of("cuMemcpyHtoD_v2", address, at, 4) == gpu.INVALID_VALUE
        assert number("cuMemAlloc_v2", 1000) != address  # a freed address is not given again at once
        assert code_of("cuMemAlloc_v2", ctypes.byref(begin), 0) == gpu.INVALID_VALUE
        assert code_of("cuMemAlloc_v2", ctypes.byref(begin), 1 << 60) == gpu.OUT_OF_MEMORY
        assert code_of("cuMemFree_v2", 0) == 0


def test_fills_and_copies_of_rows():
    with gpu.context():
        pitch = ctypes.c_size_t()
        address = number("cuMemAllocPitch_v2", ctypes.byref(pitch), 12, 5, 4)
        assert pitch.value == 512
        call("cuMemsetD2D32_v2", address, pitch.value, 0x01020304, 3, 5)
        rows = np.zeros((5, 4), np.uint32)
        fields = [0, 0, 2, 0, address, 0, pitch.value, 4, 0, 1, rows.ctypes.data, 0, 0, 16, 12, 5]
        call("cuMemcpy2D_v2", struct.pack("<16Q", *fields))
        expected = np.zeros((5, 4), np.uint32)
        expected[:, 1:] = 0x01020304
        np.testing.assert_array_equal(rows, expected)
        call("cuMemsetD16_v2", address, 0xABCD, 2)
        assert gpu.from_device(address, np.zeros(1, np.uint32)) == [0xABCDABCD]


def test_pinned_managed_and_pool_memory():
    with gpu.context():
        attribute = lambda which, at, kind: number("cuPointerGetAttribute", which, at, kind=kind)
        pinned = number("cuMemHostAlloc", 64, 2)
        managed = number("cuMemAllocManaged", 64, 1)
        pooled = number("cuMemAllocAsync", 64, 0)
        own = np.zeros(16, np.float32)
        call("cuMemHostRegister_v2", own.ctypes.data, own.nbytes, 0)
        assert code_of("cuMemHostRegister_v2", own.ctypes.data, 4, 0) == 712
        kinds = {pinned: 1, managed: 2, pooled: 2, own.ctypes.data: 1}
        assert {at: attribute(2, at, ctypes.c_uint) for at in kinds} == kinds
        assert attribute(8, managed, ctypes.c_uint) == 1 and attribute(8, pooled, ctypes.c_uint) == 0
        assert code_of("cuPointerGetAttribute", ctypes.byref(ctypes.c_uint()), 2, 4096) == gpu.INVALID_VALUE
        # A kernel reads and writes all of them; the host sees managed and pinned memory without a copy.
        (ctypes.c_float * 16).from_address(managed)[:] = [3.0] * 16
        gpu.call("cuMemsetD32_v2", pooled, 0x3F800000, 16)
        x, y, z, n = (*map(ctypes.c_uint64, (managed, pooled, own.ctypes.data)), ctypes.c_uint32(16))
        gpu.launch(gpu.function("add"), x, y, z, n, block=16)
        call("cuCtxSynchronize")
        np.testing.assert_array_equal(own, np.full(16, 4.0, np.float32))
        call("cuMemHostUnregister", own.ctypes.data)
        assert code_of("cuMemHostUnregister", own.ctypes.data) == 713
        assert code_of("cuMemFreeHost", managed) == gpu.INVALID_VALUE
        for name, *arguments in (("cuMemFreeHost", pinned), ("cuMemFree_v2", managed), ("cuMemFreeAsync", pooled, 0)):
            call(name, *arguments)
            assert code_of(name, *arguments) == gpu.INVALID_VALUE


def test_streams_events_and_host_functions_are_in_order():
    with gpu.context():
        stream, other = number("cuStreamCreate", 0), number("cuStreamCreate", 1)
        begin, end = number("cuEventCreate", 0), number("cuEventCreate", 0)
        address = gpu.to_device(np.zeros(1, np.uint32))
        seen = []
        look = lambda _: seen.append(ctypes.c_uint32.from_address(address).value)
        host = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(look)
        elapsed = ctypes.c_float()
        assert code_of("cuEventElapsedTime", ctypes.byref(elapsed), begin, end) == gpu.INVALID_HANDLE
        call("cuEventRecord", begin, stream)
        for value in (1, 2, 3):
            call("cuMemsetD32Async", address, value, 1, stream)
            call("cuLaunchHostFunc", stream, host, None)
        call("cuEventRecord", end, stream)
        call("cuStreamWaitEvent", other, end, 0)
        call("cuStreamSynchronize", other)
        assert seen == [1, 2, 3]
        call("cuEventElapsedTime", ctypes.byref(elapsed), begin, end)
        assert elapsed.value >= 0
        inside = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: seen.append(code_of("cuStreamSynchronize", stream)))
        call("cuLaunchHostFunc", stream, inside, None)
        assert seen[-1] == 800  # not permitted there
        call("cuStreamDestroy_v2", other)
        assert code_of("cuStreamSynchronize", other) == gpu.INVALID_HANDLE
        call("cuEventDestroy_v2", end)
        assert code_of("cuEventRecord", end, stream) == gpu.INVALID_HANDLE


def test_a_captured_stream_becomes_a_graph():
    with gpu.context():
        stream, side = number("cuStreamCreate", 0), number("cuStreamCreate", 0)
        event = number("cuEventCreate", 2)
        add = gpu.function("add")
        x, z = gpu.to_device(X), gpu.to_device(np.zeros_like(X))
        n, values = ctypes.c_uint32(X.size), (ctypes.c_uint64(x), ctypes.c_uint64(z), ctypes.c_uint64(z))
        call("cuStreamBeginCapture_v2", stream, 2)
        assert code_of("cuStreamBeginCapture_v2", stream, 2) == gpu.ILLEGAL_STATE
        gpu.launch(add, *values, n, grid=16, block=64, stream=stream)
        call("cuEventRecord", event, stream)
        call("cuStreamWaitEvent", side, event, 0)
        gpu.launch(add, *values, n, grid=16, block=64, stream=side)
        call("cuEventRecord", event, side)
        call("cuStreamWaitEvent", stream, event, 0)
        graph = _end(stream)
        assert not gpu.from_device(z, X).any()  # nothing has run
        count = ctypes.c_size_t()
        call("cuGraphGetNodes", graph, None, ctypes.byref(count))
        assert count.value == 2
        exec_ = number("cuGraphInstantiateWithFlags", graph, 0)
        for _ in range(3):
            call("cuGraphLaunch", exec_, stream)
        np.testing.assert_array_equal(gpu.from_device(z, X), 6 * X)
        call("cuGraphExecDestroy", exec_)
        assert code_of("cuGraphLaunch", exec_, stream) == gpu.INVALID_VALUE
        # A stream that takes part and does not come back is an error.
        call("cuStreamBeginCapture_v2", stream, 2)
        call("cuEventRecord", event, stream)
        call("cuStreamWaitEvent", side, event, 0)
        call("cuMemsetD32Async", z, 0, 1, side)
        assert code_of("cuStreamEndCapture", stream, ctypes.byref(ctypes.c_uint64())) == gpu.UNJOINED


def _end(stream: int) -> int:
    graph = ctypes.c_uint64()
    call("cuStreamEndCapture", stream, ctypes.byref(graph))
    return graph.value


def test_threads_share_a_context():
    with gpu.context() as handle:
        add, wrong = gpu.function("add"), []

        def work(seed: int) -> None:
            call("cuCtxPushCurrent_v2", handle)
            stream = number("cuStreamCreate", 0)
            for i in range(20):
                x = X + seed * 100 + i
                if not np.array_equal(gpu.launch_add(add, x, stream=stream if i % 2 else 0), 3 * x):
                    wrong.append((seed, i))
            call("cuStreamDestroy_v2", stream)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


SHARED = """
.version 8.0
.target sm_90
.address_size 64
{dynamic}
.visible .entry k(.param .u64 p)
{{
  .shared .align 4 .b8 fixed[{size}];
  .reg .b64 %p;
  .reg .b32 %a, %b;
  mov.u32 %b, %tid.x;
  st.shared.u32 [fixed], %b;
  {store}
  ld.param.u64 %p, [p];
  ld.shared.u32 %a, [fixed+16];
  st.global.u32 [%p], %a;
  ret;
}}
"""


@pytest.mark.parametrize("alignment, size, expected",
                         [(0, 40, 40), (0, 42, 42), (4, 42, 48), (16, 48, 48), (128, 40, 128)])  # fmt: skip
def test_static_shared_memory_is_as_large_as_ptxas_says(alignment, size, expected):
    """`expected` is what ptxas 13.0 -v prints for sm_90; an alignment of 0: there is no dynamic shared memory."""
    dynamic = f".extern .shared .align {alignment} .b8 dynamic[];" if alignment else ""
    store = "st.shared.u32 [dynamic], %b;" if alignment else ""
    with gpu.context():
        kernel = gpu.function("k", gpu.module(SHARED.format(dynamic=dynamic, size=size, store=store)))
        assert number("cuFuncGetAttribute", 1, kernel, kind=ctypes.c_int) == expected
