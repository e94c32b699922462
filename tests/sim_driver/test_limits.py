"""cuCtxSetLimit and cuCtxGetLimit: malloc's heap, printf's memory, the stack.

Reference: the driver's documentation of cuCtxSetLimit; NVIDIA's "CUDA C++ Programming Guide" on malloc in kernels.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import virtual_gpu as gpu
from test_calls import SHARED
from virtual_gpu import INVALID_VALUE, OUT_OF_MEMORY, call, code_of, context, number

STACK, PRINTF, HEAP, SYNC_DEPTH, PENDING, FETCH, PERSISTING = range(7)
UNSUPPORTED_LIMIT = 215
MIB = 1 << 20
TEXT = (
    gpu.HEAD
    + """
.extern .func (.param .b64 at) malloc(.param .b64 bytes);
.extern .func free(.param .b64 at);
.extern .func (.param .b32 n) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 line[4] = {37, 100, 10, 0};
.visible .entry take(.param .u64 out, .param .u64 bytes)
{
  .reg .b64 %d<6>; .reg .b32 %r<2>; .reg .pred %p<2>;
  ld.param.u64 %d1, [bytes];
  { .param .b64 n; .param .b64 at; st.param.b64 [n], %d1; call (at), malloc, (n); ld.param.b64 %d2, [at]; }
  ld.param.u64 %d3, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 8; add.u64 %d3, %d3, %d4;
  st.global.u64 [%d3], %d2;
  setp.eq.u64 %p1, %d2, 0; @%p1 ret;
  st.global.u8 [%d2], 1; add.u64 %d5, %d2, %d1; st.global.u8 [%d5+-1], 2;
  ret;
}
.visible .entry give(.param .u64 at)
{
  .reg .b64 %d<2>; ld.param.u64 %d1, [at];
  { .param .b64 p; st.param.b64 [p], %d1; call free, (p); }
  ret;
}
.visible .entry reads(.param .u64 at, .param .u64 out)
{
  .reg .b64 %d<3>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [at]; ld.param.u64 %d2, [out]; ld.global.u8 %r1, [%d1]; st.global.u32 [%d2], %r1; ret;
}
.visible .entry says(.param .u32 times)
{
  .local .align 8 .b8 values[8]; .reg .b64 %d<3>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u32 %r1, [times]; mov.u64 %d1, values; cvta.local.u64 %d1, %d1; mov.u64 %d2, line; cvta.global.u64 %d2, %d2;
LOOP:
  st.u32 [%d1], %r1;
  { .param .b64 f; .param .b64 v; .param .b32 n; st.param.b64 [f], %d2; st.param.b64 [v], %d1;
    call (n), vprintf, (f, v); ld.param.b32 %r2, [n]; }
  sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;
  ret;
}
"""
)


def limit(which: int) -> int:
    return number("cuCtxGetLimit", which)


def take(of: int, size: int, threads: int = 1) -> np.ndarray:
    """What malloc gives to each thread of one block."""
    out = gpu.to_device(np.zeros(threads, np.uint64))
    gpu.launch(of, ctypes.c_uint64(out), ctypes.c_uint64(size), block=threads)
    addresses = gpu.from_device(out, np.zeros(threads, np.uint64))
    call("cuMemFree_v2", out)
    return addresses


@pytest.mark.parametrize("asked, size, given", [(None, MIB, 8), (3 * MIB, MIB, 3), (40 * MIB, 2 * MIB, 20)])
def test_malloc_gives_as_much_as_the_limit(asked, size, given):
    with context():
        assert limit(HEAP) == 8 * MIB
        if asked:
            call("cuCtxSetLimit", HEAP, asked)
            assert limit(HEAP) == asked
        of = gpu.module(TEXT)
        addresses = take(gpu.function("take", of), size, threads=32)
        got = addresses[addresses != 0]
        assert len(got) == given
        assert (np.diff(np.sort(got)) >= size).all() and (got % 16 == 0).all()
        assert not take(gpu.function("take", of), 16).any()  # the heap is full in the next launch as well
        gpu.launch(gpu.function("give", of), ctypes.c_uint64(int(got[0])))
        assert take(gpu.function("take", of), size).tolist() == [got[0]]


def test_a_heap_that_is_too_small_for_one():
    with context():
        call("cuCtxSetLimit", HEAP, 4096)
        of = gpu.module(TEXT)
        assert not take(gpu.function("take", of), 4097).any() and take(gpu.function("take", of), 4096).all()


def test_the_heap_is_set_before_kernels_use_it():
    with context():
        of = gpu.module(TEXT)
        out = gpu.to_device(np.zeros(1, np.uint32))
        gpu.launch(gpu.function("reads", of), ctypes.c_uint64(out), ctypes.c_uint64(out))  # a kernel without malloc
        call("cuCtxSetLimit", HEAP, 2 * MIB)
        take(gpu.function("take", of), 16)
        assert code_of("cuCtxSetLimit", HEAP, 4 * MIB) == INVALID_VALUE
        assert limit(HEAP) == 2 * MIB
        call("cuCtxSetLimit", PRINTF, 4 * MIB)  # nobody has printed


def test_a_heap_belongs_to_its_context():
    with context():
        of = gpu.module(TEXT)
        at = int(take(gpu.function("take", of), 8 * MIB)[0])
        out = gpu.to_device(np.zeros(1, np.uint32))
        gpu.launch(gpu.function("reads", of), ctypes.c_uint64(at), ctypes.c_uint64(out))  # it does not call malloc
        assert gpu.from_device(out, np.zeros(1, np.uint32)) == [1]
        with context():
            other = gpu.module(TEXT)
            assert limit(HEAP) == 8 * MIB
            assert take(gpu.function("take", other), 8 * MIB).all()
            gpu.launch(gpu.function("reads", other), ctypes.c_uint64(at), ctypes.c_uint64(out))
            assert code_of("cuCtxSynchronize") == gpu.ILLEGAL_ADDRESS


def test_limits_and_their_ranges():
    with context():
        assert [limit(i) for i in (STACK, PRINTF, HEAP)] == [1024, MIB, 8 * MIB]
        call("cuCtxSetLimit", STACK, 64 << 10)
        assert limit(STACK) == 64 << 10
        assert code_of("cuCtxSetLimit", STACK, (512 << 10) + 1) == INVALID_VALUE
        assert code_of("cuCtxSetLimit", HEAP, 1 << 50) == OUT_OF_MEMORY
        assert code_of("cuCtxSetLimit", SYNC_DEPTH, 4) == UNSUPPORTED_LIMIT  # from 9.0 on
        assert code_of("cuCtxSetLimit", 99, 4) == UNSUPPORTED_LIMIT
        call("cuCtxSetLimit", FETCH, 4096)
        assert limit(FETCH) == 128


def test_more_output_than_a_gpu_keeps(capfd):
    with context():
        call("cuCtxSetLimit", PRINTF, 4096)
        of = gpu.module(TEXT)
        gpu.launch(gpu.function("says", of), ctypes.c_uint32(256))  # a format's address and a value each: 4,096 bytes
        assert "loses" not in capfd.readouterr().err
        for _ in range(2):
            gpu.launch(gpu.function("says", of), ctypes.c_uint32(257))
        out, err = capfd.readouterr()
        assert out.split() == [str(i) for i in range(257, 0, -1)] * 2
        assert err.count("says: one launch prints at least 4112 bytes of records, the context's limit is 4096") == 1
        assert code_of("cuCtxSetLimit", PRINTF, MIB) == INVALID_VALUE


def test_shared_memory_that_so_many_blocks_leave():
    """What an H200 says (driver 580) of a kernel with 40 bytes of its own, whatever its threads."""
    asked = {1: 64, 2: 256, 3: 120, 4: 32, 8: 256, 16: 128, 32: 64}
    text = SHARED.format(dynamic="", size=40, store="")
    with gpu.context():
        kernel = gpu.function("k", gpu.module(text))
        room = lambda: [number("cuOccupancyAvailableDynamicSMemPerBlock", kernel, *of) for of in asked.items()]
        assert room() == [49112, 49112, 49112, 49112, 29144, 14552, 7256]
        call("cuFuncSetAttribute", kernel, 8, 100000)
        assert room() == [100000, 100000, 77784, 58328, 29144, 14552, 7256]
        call("cuFuncSetAttribute", kernel, 8, 200000)
        assert room() == [200000, 116696, 77784, 58328, 29144, 14552, 7256]
        assert code_of("cuOccupancyAvailableDynamicSMemPerBlock", ctypes.byref(ctypes.c_size_t()), kernel, 33, 64) == 1
