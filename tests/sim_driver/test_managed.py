"""Advice on managed memory and what cuMemRangeGetAttribute says of it, as the driver's documentation has both."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import virtual_gpu as gpu
from virtual_gpu import INVALID_DEVICE, INVALID_VALUE, call, code_of, context, number

HOST, NONE = -1, -2
READ_MOSTLY, PREFERRED, ACCESSED_BY, PREFETCHED = 1, 2, 3, 4
PREFERRED_TYPE, PREFERRED_ID, PREFETCHED_TYPE = 5, 6, 7
PAGE = 4096


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


@contextmanager
def managed() -> Iterator[int]:
    with context():
        yield number("cuMemAllocManaged", 4 * PAGE, 1)


def ask(query: int, address: int, size: int = 4 * PAGE, count: int = 1) -> list[int]:
    answer = (ctypes.c_int * count)(*[77] * count)
    call("cuMemRangeGetAttribute", answer, 4 * count, query, address, size)
    return list(answer)


def test_nothing_was_said():
    with managed() as at:
        got = [ask(query, at)[0] for query in range(1, 9)]
        assert got[:5] == [0, NONE, NONE, NONE, 0] and got[6] == 0


def test_what_was_said_comes_back_and_is_undone():
    with managed() as at:
        call("cuMemAdvise", at, 4 * PAGE, 1, 0)
        assert ask(READ_MOSTLY, at) == [1]
        call("cuMemAdvise", at, 4 * PAGE, 2, 0)
        assert ask(READ_MOSTLY, at) == [0]
        call("cuMemAdvise", at, 4 * PAGE, 3, 0)
        assert [ask(q, at)[0] for q in (PREFERRED, PREFERRED_TYPE, PREFERRED_ID)] == [0, 1, 0]
        call("cuMemAdvise", at, 4 * PAGE, 3, HOST)
        assert [ask(q, at)[0] for q in (PREFERRED, PREFERRED_TYPE)] == [HOST, 2]
        call("cuMemAdvise_v2", at, 4 * PAGE, 3, Location(3, 0))
        assert [ask(q, at)[0] for q in (PREFERRED, PREFERRED_TYPE, PREFERRED_ID)] == [HOST, 3, 0]
        call("cuMemAdvise", at, 4 * PAGE, 4, 0)
        assert [ask(q, at)[0] for q in (PREFERRED, PREFERRED_TYPE)] == [NONE, 0]
        call("cuMemAdvise", at, 4 * PAGE, 5, 0)
        call("cuMemAdvise", at, 4 * PAGE, 5, HOST)
        assert ask(ACCESSED_BY, at, count=3) == [HOST, 0, NONE]
        call("cuMemAdvise", at, 4 * PAGE, 6, HOST)
        assert ask(ACCESSED_BY, at, count=3) == [0, NONE, NONE]
        call("cuMemPrefetchAsync", at, 4 * PAGE, HOST, 0)
        assert [ask(q, at)[0] for q in (PREFETCHED, PREFETCHED_TYPE)] == [HOST, 2]


def test_a_range_has_what_all_of_it_has():
    with managed() as at:
        call("cuMemAdvise", at + PAGE, 2 * PAGE, 1, 0)
        call("cuMemAdvise", at, 2 * PAGE, 3, 0)
        call("cuMemAdvise", at + 2 * PAGE, 2 * PAGE, 3, HOST)
        call("cuMemPrefetchAsync", at + 3 * PAGE, PAGE, 0, 0)
        assert [ask(READ_MOSTLY, at + PAGE * i, PAGE)[0] for i in range(4)] == [0, 1, 1, 0]
        assert ask(READ_MOSTLY, at + PAGE, 2 * PAGE) == [1] and ask(READ_MOSTLY, at) == [0]
        assert ask(PREFERRED, at) == [NONE]
        assert ask(PREFERRED, at, 2 * PAGE) == [0] and ask(PREFERRED, at + 2 * PAGE, 2 * PAGE) == [HOST]
        assert ask(PREFETCHED, at + 3 * PAGE, PAGE) == [0] and ask(PREFETCHED, at) == [NONE]


def test_several_at_once():
    with managed() as at:
        call("cuMemAdvise", at, 4 * PAGE, 1, 0)
        call("cuMemAdvise", at, 4 * PAGE, 5, 0)
        one, two = ctypes.c_int(77), (ctypes.c_int * 2)(77, 77)
        data = (ctypes.c_void_p * 2)(ctypes.addressof(one), ctypes.addressof(two))
        call("cuMemRangeGetAttributes", data, (ctypes.c_size_t * 2)(4, 8), (ctypes.c_int * 2)(1, 3), 2, at, 4 * PAGE)
        assert one.value == 1 and list(two) == [0, NONE]


def test_what_makes_no_sense_is_refused():
    with managed() as at:
        answer = (ctypes.c_int * 2)()
        for words in ((answer, 8, READ_MOSTLY), (answer, 3, ACCESSED_BY), (answer, 4, 9), (None, 4, READ_MOSTLY)):
            assert code_of("cuMemRangeGetAttribute", *words, at, PAGE) == INVALID_VALUE
        assert code_of("cuMemRangeGetAttribute", answer, 4, READ_MOSTLY, at, 4 * PAGE + 1) == INVALID_VALUE
        plain = number("cuMemAlloc_v2", 16)
        assert code_of("cuMemRangeGetAttribute", answer, 4, READ_MOSTLY, plain, 16) == INVALID_VALUE
        assert code_of("cuMemAdvise", at, PAGE, 7, 0) == INVALID_VALUE
        assert code_of("cuMemAdvise", at, PAGE, 3, 5) == INVALID_DEVICE
        assert code_of("cuMemPrefetchAsync", at, PAGE, 5, 0) == INVALID_DEVICE


def test_advice_ends_with_its_memory():
    with context():
        for _ in range(3):
            at = number("cuMemAllocManaged", PAGE, 1)
            assert ask(READ_MOSTLY, at, PAGE) == [0]
            call("cuMemAdvise", at, PAGE, 1, 0)
            call("cuMemFree_v2", at)
            assert code_of("cuMemRangeGetAttribute", (ctypes.c_int * 1)(), 4, 1, at, PAGE) == gpu.INVALID_VALUE


class PoolProperties(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location),
                ("rest", ctypes.c_uint64 * 9)]  # fmt: skip


PINNED, MANAGED = 1, 2
NOWHERE, ON_DEVICE, ON_HOST, ON_A_NODE = range(4)
FILE_DESCRIPTOR = 1


@pytest.mark.parametrize("kind, where, is_managed, memory_type",
                         [(MANAGED, NOWHERE, 1, 2), (MANAGED, ON_DEVICE, 1, 2), (PINNED, ON_HOST, 0, 1)])  # fmt: skip
def test_pools_that_the_host_reaches(kind, where, is_managed, memory_type):
    """Types of memory: 1 is the host's, 2 a device's."""
    x = np.arange(1000, dtype=np.float32)
    with context():
        pool = number("cuMemPoolCreate", ctypes.byref(PoolProperties(kind, 0, Location(where, 0))))
        at = number("cuMemAllocFromPoolAsync", x.nbytes, pool, 0)
        words = (ctypes.c_float * x.size).from_address(at)
        words[:] = x.tolist()  # by the host
        y = gpu.to_device(x)
        gpu.launch(gpu.function("add"), *map(ctypes.c_uint64, (at, y, at)), ctypes.c_uint32(x.size), grid=8, block=128)
        call("cuCtxSynchronize")
        assert np.array_equal(np.array(words), 2 * x)
        asked = lambda what: number("cuPointerGetAttribute", what, at, kind=ctypes.c_uint)
        assert (asked(8), asked(2)) == (is_managed, memory_type)
        call("cuMemFreeAsync", at, 0)
        assert code_of("cuMemFreeAsync", at, 0) != 0
        call("cuMemPoolDestroy", pool)


def test_pools_that_cannot_be():
    with context():
        make = lambda *of: code_of(
            "cuMemPoolCreate", ctypes.byref(ctypes.c_uint64()), ctypes.byref(PoolProperties(*of))
        )
        assert make(PINNED, 0, Location(NOWHERE, 0)) == INVALID_VALUE
        assert make(3, 0, Location(ON_DEVICE, 0)) == INVALID_VALUE
        assert make(PINNED, 0, Location(ON_A_NODE, 0)) == gpu.NOT_SUPPORTED
        assert make(MANAGED, FILE_DESCRIPTOR, Location(ON_DEVICE, 0)) == gpu.NOT_SUPPORTED
        assert make(PINNED, FILE_DESCRIPTOR, Location(ON_HOST, 0)) == gpu.NOT_SUPPORTED
        assert make(MANAGED, 0, Location(ON_DEVICE, 5)) == INVALID_DEVICE


def test_a_place_has_a_pool_of_its_own_and_a_current_one():
    place, other = Location(ON_HOST, 0), Location(ON_DEVICE, 0)
    with context():
        get = lambda name, of, kind: number(name, ctypes.byref(of), kind)
        own = get("cuMemGetDefaultMemPool", place, PINNED)
        pools = {own, get("cuMemGetMemPool", place, MANAGED), get("cuMemGetMemPool", other, PINNED)}
        assert len(pools) == 3 and number("cuDeviceGetMemPool", 0) in pools
        assert get("cuMemGetMemPool", place, PINNED) == own
        pool = number("cuMemPoolCreate", ctypes.byref(PoolProperties(PINNED, 0, place)))
        assert code_of("cuMemSetMemPool", ctypes.byref(other), PINNED, pool) == INVALID_VALUE
        call("cuMemSetMemPool", ctypes.byref(place), PINNED, pool)
        assert get("cuMemGetMemPool", place, PINNED) == pool != get("cuMemGetDefaultMemPool", place, PINNED)
        assert code_of("cuMemPoolDestroy", own) == INVALID_VALUE  # it stays
        call("cuMemPoolDestroy", pool)
        assert get("cuMemGetMemPool", place, PINNED) == own


def test_batches():
    """Of four ranges the first three go to the host, the last one to the device."""
    with managed() as at:
        ranges = (ctypes.c_uint64 * 4)(*(at + PAGE * i for i in range(4)))
        sizes, places = (ctypes.c_size_t * 4)(*[PAGE] * 4), (Location * 2)(Location(ON_HOST, 0), Location(ON_DEVICE, 0))
        batch = lambda firsts, count=4: (ranges, sizes, count, places, (ctypes.c_size_t * 2)(*firsts), 2, 0, 0)
        call("cuMemPrefetchBatchAsync", *batch((0, 3)))
        assert [ask(PREFETCHED, at + PAGE * i, PAGE)[0] for i in range(4)] == [HOST, HOST, HOST, 0]
        call("cuMemDiscardAndPrefetchBatchAsync", *batch((0, 1)))
        assert [ask(PREFETCHED, at + PAGE * i, PAGE)[0] for i in range(4)] == [HOST, 0, 0, 0]
        call("cuMemDiscardBatchAsync", ranges, sizes, 4, 0, 0)
        assert code_of("cuMemPrefetchBatchAsync", *batch((1, 3))) == INVALID_VALUE
        assert code_of("cuMemPrefetchBatchAsync", *batch((0, 1), count=1)) == INVALID_VALUE
        ranges[3] = gpu.to_device(np.zeros(PAGE, np.uint8))
        assert code_of("cuMemDiscardBatchAsync", ranges, sizes, 4, 0, 0) == INVALID_VALUE
