"""Memory is read where it is known and where the mask is set, whole elements or not."""

import numpy as np
import pytest
from tiletwin.trace.accesses import Memory, Touched


def raw(type_name, array):
    return type_name, array.shape, np.ascontiguousarray(array).tobytes()


def read(memory, addresses, mask=None, element="fp32"):
    touched = Touched(
        raw(f"pointer<{element}>", np.asarray(addresses, np.uint64)),
        None if mask is None else raw("int1", np.asarray(mask, np.uint8)), element, None, True,
    )  # fmt: skip
    found = memory.read(touched)
    return None if found is None else np.frombuffer(found[2], np.uint8).reshape(*found[1], -1)


@pytest.fixture
def data():
    return np.random.default_rng(0).integers(0, 256, 400, dtype=np.uint8)


@pytest.fixture
def memory(data):
    begin = data.ctypes.data
    return Memory([("first", begin, begin + 100, begin, begin + 100), ("empty", 0, 0, 0, 0),
                   ("second", begin + 200, begin + 330, begin + 200, begin + 330)])  # fmt: skip


@pytest.mark.parametrize("element, size", [("int8", 1), ("fp16", 2), ("fp32", 4), ("fp64", 8)])
@pytest.mark.parametrize("shift", [0, 1, 3])
def test_elements_anywhere(data, memory, element, size, shift):
    offsets = np.array([[0, 5, 3], [7, 2, 1]]) * size + shift
    found = read(memory, data.ctypes.data + offsets, element=element)
    expected = data[offsets[..., None] + np.arange(size)]
    assert np.array_equal(found, expected)


def test_only_known_memory_is_read(data, memory):
    offsets = np.array([0, 96, 97, 98, 150, 196, 199, 200, 326, 327, 400])
    found = read(memory, data.ctypes.data + offsets)
    inside = np.array([1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0], bool)
    assert np.array_equal(found[inside], data[offsets[inside][:, None] + np.arange(4)])
    assert not found[~inside].any()


def test_masked_off_elements_are_not_read(data, memory):
    found = read(memory, [data.ctypes.data, 8, 2**63, data.ctypes.data + 200], [1, 0, 0, 1])
    assert np.array_equal(found[[0, 3]], [data[:4], data[200:204]]) and not found[1:3].any()
    assert read(memory, [data.ctypes.data], [0]) is None
    assert read(memory, [16]) is None
